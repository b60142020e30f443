/* Counts calls of the heap, in a static program that is linked with --wrap for each of them. */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef COUNT_HEAP
static uint64_t calls;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void __wrap_free(void *);

void *__wrap_malloc(size_t size)
{
	calls++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size)
{
	calls++;
	return __real_calloc(number, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	calls++;
	return __real_realloc(memory, size);
}

void __wrap_free(void *memory)
{
	calls++;
	__real_free(memory);
}
#endif

static inline bool counts_heap_calls(void)
{
#ifdef COUNT_HEAP
	return true;
#else
	return false;
#endif
}

static inline uint64_t heap_calls(void)
{
#ifdef COUNT_HEAP
	return calls;
#else
	return 0;
#endif
}

#endif
