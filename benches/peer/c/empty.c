/* What a dynamic program in C costs that only prints a line. */
#include <stdio.h>

int main(void)
{
	puts("nothing");
	return 0;
}
