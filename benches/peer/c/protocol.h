/* What all peers in C have in common: which priorities they work at, and their clock. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stdint.h>

/* Priority of the anchors that are held, so that one more needs no firmware command. */
#define HELD_PRIORITY 3
/* Priority at which no anchor is held, so that each one is the first. */
#define FREE_PRIORITY 5
/* With fewer handles held, the kernel allocates a node of its handle table in each call. */
#define HELD_HANDLES 4
/* Pairs of create and destroy of each of several threads. */
#define PAIRS_OF_A_THREAD 200

/* One tick is one instruction where the machine counts them. Nothing before it is still under way. */
static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

#endif
