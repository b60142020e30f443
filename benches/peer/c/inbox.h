/* The firmware command that sets a flow table entry, as a program on top of libmlx5 has to lay it out itself. */
#ifndef INBOX_H
#define INBOX_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Up to the destination list, and one destination. */
#define SET_ENTRY_HEAD 832
#define SET_ENTRY_IN (SET_ENTRY_HEAD + 8)
#define SET_ENTRY_OUT 16

#define OPCODE_SET_FLOW_TABLE_ENTRY 0x936
#define ACTION_FORWARD 4
#define DESTINATION_FLOW_TABLE 1
#define PROTOCOL_UDP 17
#define UDP_PORT 5000

/* Offsets in bits: of the context in the command, and of the match value in the context. */
#define CONTEXT 0x200
#define VALUE (CONTEXT + 0x200)

/* Sets a field of 1 to 32 bits within one word, which is zero there. Offset and width are constants everywhere. */
static inline void set(uint32_t *in, unsigned offset, unsigned width, uint32_t value)
{
	in[offset / 32] |= htobe32(value << (32 - offset % 32 - width));
}

/* Forwards UDP to one port to a table. */
static inline void build_entry(uint32_t in[SET_ENTRY_IN / 4], uint32_t table, uint32_t index, uint32_t destination)
{
	memset(in, 0, SET_ENTRY_IN);
	set(in, 0x0, 16, OPCODE_SET_FLOW_TABLE_ENTRY);
	set(in, 0xa8, 24, table);
	set(in, 0xc0, 1, 1); /* ignore_flow_level */
	set(in, 0x100, 32, index);
	set(in, CONTEXT + 0x20, 32, 1); /* group_id */
	set(in, CONTEXT + 0x70, 16, ACTION_FORWARD);
	set(in, CONTEXT + 0x88, 24, 1); /* destination_list_size */
	set(in, VALUE + 0x80, 8, PROTOCOL_UDP);
	set(in, VALUE + 0xf0, 16, UDP_PORT);
	set(in, SET_ENTRY_HEAD * 8, 8, DESTINATION_FLOW_TABLE);
	set(in, SET_ENTRY_HEAD * 8 + 8, 24, destination);
}

#endif
