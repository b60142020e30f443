/* A peer on top of a C library: what it is asked on standard input, and how it answers. */
#ifndef SERVE_H
#define SERVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"

/* One kind of work: fills at most `count` + 1 samples, and says how many; -1 is an error, in errno. */
struct scenario {
	const char *name;
	int (*run)(uint64_t *samples, int count);
};

/* Answers `SCENARIO COUNT` lines with `ok SAMPLE…`, `none` for work that the peer has not, or `error WHY`. */
static inline int serve(const struct scenario *scenarios, size_t number)
{
	char line[128], name[64];
	int count;

	while (fgets(line, sizeof(line), stdin)) {
		const struct scenario *found = NULL;
		uint64_t *samples;
		int filled;

		if (sscanf(line, "%63s %d", name, &count) != 2 || count < 1) {
			puts("error a line of SCENARIO COUNT expected");
			return EXIT_FAILURE;
		}
		for (size_t i = 0; i < number; i++)
			if (!strcmp(scenarios[i].name, name))
				found = &scenarios[i];
		if (!found) {
			puts("none");
			fflush(stdout);
			continue;
		}
		samples = calloc(count + 1, sizeof(*samples));
		filled = samples ? found->run(samples, count) : -1;
		if (filled < 0) {
			printf("error %m\n");
		} else {
			fputs("ok", stdout);
			for (int i = 0; i < filled; i++)
				printf(" %llu", (unsigned long long)samples[i]);
			putchar('\n');
		}
		fflush(stdout);
		free(samples);
	}
	return EXIT_SUCCESS;
}

#endif
