/* What a program without a C library needs: system calls, a start, text in and out. */
#ifndef BARE_H
#define BARE_H

#include <stddef.h>
#include <stdint.h>

#define SYS_READ 0
#define SYS_WRITE 1
#define SYS_OPEN 2
#define SYS_CLOSE 3
#define SYS_IOCTL 16
#define SYS_EXIT 60
#define SYS_PRCTL 157

static inline long call3(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

static inline long call5(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

int run(int argc, char **argv);

/* The stack as the kernel leaves it: the number of arguments, then the arguments. */
__attribute__((used, noreturn)) void enter(long *stack)
{
	call3(SYS_EXIT, run((int)stack[0], (char **)(stack + 1)), 0, 0);
	__builtin_unreachable();
}

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall enter\n");

static inline int equal(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

/* A line that is being written. */
static char text[16384];
static size_t text_length;

static inline void put(const char *string)
{
	while (*string && text_length < sizeof(text))
		text[text_length++] = *string++;
}

static inline void put_number(uint64_t number)
{
	char digits[21];
	char *at = digits + sizeof(digits) - 1;

	*at = 0;
	do {
		*--at = '0' + (char)(number % 10);
		number /= 10;
	} while (number);
	put(at);
}

static inline void flush(int to)
{
	call3(SYS_WRITE, to, (long)text, (long)text_length);
	text_length = 0;
}

/* Reads a line of at most `size` - 1 bytes; its length without the end, or -1. */
static inline int read_line(char *line, int size)
{
	for (int length = 0; length < size; length++) {
		if (call3(SYS_READ, 0, (long)(line + length), 1) != 1)
			return -1;
		if (line[length] == '\n') {
			line[length] = 0;
			return length;
		}
	}
	return -1;
}

#endif
