/*
 * The floor: what the kernel alone costs. No C library, nothing looked up, and every ioctl's buffer is built once and
 * used again as the kernel left it.
 *
 *     floor NODE             answers what is asked on standard input
 *     floor NODE first       from the node to the first id, and out
 *     floor NODE first-devx  the same with a DEVX context
 *     floor NODE open        tells what it takes to open the node
 *     floor NODE nothing     out at once
 */
#include "bare.h"
#include "filter.h"
#include "protocol.h"

#define MAX_SAMPLES 512
#define MAX_HANDLES 65536
#define FEW_GIDS 8

#define O_RDWR_CLOEXEC 02000002
#define IOCTL 0xc0181b01
#define MANDATORY 1

struct attribute {
	uint16_t id, length, flags, reserved;
	uint64_t data;
};

struct header {
	uint16_t length, object, method, attributes;
	uint64_t reserved_0;
	uint32_t driver, reserved_1;
};

#define BUFFER(N) struct { struct header header; struct attribute attributes[N]; }
#define HEADER(N, OBJECT, METHOD) { sizeof(struct header) + (N) * sizeof(struct attribute), OBJECT, METHOD, N, 0, 1, 0 }

/* Structs of mlx5_abi.h, ib_user_ioctl_verbs.h. */
static struct {
	uint32_t uuars, low_latency_uuars, flags, comp_mask;
	uint8_t max_cqe_version, reserved_0;
	uint16_t reserved_1;
	uint32_t reserved_2;
	uint64_t lib_caps;
} context_request = { .max_cqe_version = 1, .lib_caps = 3 };
static uint8_t context_response[112];
static uint32_t vectors;
static uint64_t core_support;

static BUFFER(4) get_context = { HEADER(4, 0, 3), {
	{ 0, 4, MANDATORY, 0, (uint64_t)&vectors },
	{ 1, 8, MANDATORY, 0, (uint64_t)&core_support },
	{ 0x1000, sizeof(context_request), MANDATORY, 0, (uint64_t)&context_request },
	{ 0x1001, sizeof(context_response), MANDATORY, 0, (uint64_t)context_response },
} };

static uint32_t anchor_id;

/* The handle; the type: NIC_RX; the priority; where the id goes. */
static BUFFER(4) create_anchor = { HEADER(4, 0x1009, 0x1000), {
	{ 0x1000, 0, MANDATORY, 0, 0 },
	{ 0x1001, 8, MANDATORY, 0, 0 },
	{ 0x1002, 2, MANDATORY, 0, HELD_PRIORITY },
	{ 0x1003, 4, MANDATORY, 0, (uint64_t)&anchor_id },
} };
static BUFFER(1) destroy_anchor = { HEADER(1, 0x1009, 0x1001), { { 0x1000, 0, MANDATORY, 0, 0 } } };

static uint8_t gid_entries[FEW_GIDS * 32];
static uint64_t gid_count;
static BUFFER(4) query_gids = { HEADER(4, 0, 5), {
	{ 0, 8, MANDATORY, 0, 32 },
	{ 1, 4, MANDATORY, 0, 0 },
	{ 2, sizeof(gid_entries), MANDATORY, 0, (uint64_t)gid_entries },
	{ 3, 8, MANDATORY, 0, (uint64_t)&gid_count },
} };

/* Never seen by the firmware: only its size counts, as ioctls go nowhere when it is sent. */
static uint8_t entry_in[840], entry_out[16];
static BUFFER(3) create_entry = { HEADER(3, 0x1001, 0x1000), {
	{ 0x1000, 0, MANDATORY, 0, 0 },
	{ 0x1001, sizeof(entry_in), MANDATORY, 0, (uint64_t)entry_in },
	{ 0x1002, sizeof(entry_out), MANDATORY, 0, (uint64_t)entry_out },
} };

static const char *node;
static int device = -1;
static uint64_t samples[MAX_SAMPLES];
static uint32_t handles[MAX_HANDLES];

static inline long send(int to, void *buffer)
{
	return call3(SYS_IOCTL, to, IOCTL, (long)buffer);
}

static inline long create_at(uint64_t priority)
{
	create_anchor.attributes[2].data = priority;
	return send(device, &create_anchor);
}

static inline long destroy_last(void)
{
	destroy_anchor.attributes[0].data = create_anchor.attributes[0].data;
	return send(device, &destroy_anchor);
}

static inline long one_pair(uint64_t priority)
{
	long error = create_at(priority);

	return error ? error : destroy_last();
}

static inline long open_node(void)
{
	long fd = call3(SYS_OPEN, (long)node, O_RDWR_CLOEXEC, 0);
	long error = fd < 0 ? fd : send((int)fd, &get_context);

	return error < 0 ? error : fd;
}

static long clock_only(int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t start = ticks();

		samples[i] = ticks() - start;
	}
	return count;
}

static long create(int count)
{
	long error = 0;

	for (int i = 0; i < count && !error; i++) {
		uint64_t start = ticks();

		error = create_at(HELD_PRIORITY);
		samples[i] = ticks() - start;
		if (!error)
			error = destroy_last();
	}
	return error ? error : count;
}

static long destroy(int count)
{
	long error = 0;

	for (int i = 0; i < count && !error; i++) {
		error = create_at(HELD_PRIORITY);
		if (!error) {
			uint64_t start = ticks();

			error = destroy_last();
			samples[i] = ticks() - start;
		}
	}
	return error ? error : count;
}

static long pairs(int count)
{
	long error = 0;
	uint64_t start = ticks();

	for (int i = 0; i < count && !error; i++)
		error = one_pair(HELD_PRIORITY);
	samples[0] = ticks() - start;
	return error ? error : 1;
}

static long first_reference(int count)
{
	long error = 0;

	for (int i = 0; i < count && !error; i++) {
		uint64_t start = ticks();

		error = one_pair(FREE_PRIORITY);
		samples[i] = ticks() - start;
	}
	return error ? error : count;
}

static long open_only(int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t start = ticks();
		long fd = open_node();

		samples[i] = ticks() - start;
		if (fd < 0)
			return fd;
		call3(SYS_CLOSE, fd, 0, 0);
	}
	return count;
}

static long gids(int count)
{
	long error = 0;

	for (int i = 0; i < count && !error; i++) {
		uint64_t start = ticks();

		error = send(device, &query_gids);
		samples[i] = ticks() - start;
	}
	return error ? error : count;
}

/* From here on, each ioctl succeeds at once and does nothing. */
static long answer_ioctls_with_success(void)
{
	const long set_no_new_privileges = 38, set_seccomp = 22;
	long error = call5(SYS_PRCTL, set_no_new_privileges, 1, 0, 0, 0);

	return error ? error : call5(SYS_PRCTL, set_seccomp, SECCOMP_MODE_FILTER, (long)&ioctls_succeed_program, 0, 0);
}

static long entry(int count)
{
	long error = answer_ioctls_with_success();

	for (int i = 0; i < count && !error; i++) {
		uint64_t start = ticks();

		error = send(device, &create_entry);
		samples[i] = ticks() - start;
	}
	return error ? error : count;
}

static long many(int count)
{
	uint64_t start = ticks(), full;

	if (count > MAX_HANDLES)
		return -22;
	for (int i = 0; i < count; i++) {
		long error = create_at(HELD_PRIORITY);

		if (error)
			return error;
		handles[i] = (uint32_t)create_anchor.attributes[0].data;
	}
	full = ticks();
	for (int i = 0; i < count; i++) {
		long error;

		destroy_anchor.attributes[0].data = handles[i];
		error = send(device, &destroy_anchor);
		if (error)
			return error;
	}
	samples[0] = full - start;
	samples[1] = ticks() - full;
	return 2;
}

static const struct {
	const char *name;
	long (*run)(int count);
} scenarios[] = {
	{ "clock", clock_only },
	{ "create", create },
	{ "destroy", destroy },
	{ "pairs", pairs },
	{ "first-reference", first_reference },
	{ "open", open_only },
	{ "gids", gids },
	{ "entry", entry },
	{ "many", many },
};

static void answer(const char *name, int count)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		long filled;

		if (!equal(scenarios[i].name, name))
			continue;
		filled = scenarios[i].run(count);
		put(filled < 0 ? "error errno " : "ok");
		if (filled < 0)
			put_number((uint64_t)-filled);
		for (long sample = 0; sample < filled; sample++) {
			put(" ");
			put_number(samples[sample]);
		}
		put("\n");
		flush(1);
		return;
	}
	put("none\n");
	flush(1);
}

static int serve(void)
{
	char line[128];

	while (read_line(line, sizeof(line)) > 0) {
		char *space = line;
		int count = 0;

		while (*space && *space != ' ')
			space++;
		for (char *digit = *space ? space + 1 : space; *digit >= '0' && *digit <= '9'; digit++)
			count = count * 10 + (*digit - '0');
		*space = 0;
		if (count < 1 || (count > MAX_SAMPLES && !equal(line, "many") && !equal(line, "pairs"))) {
			put("error a count from 1 to 512 expected\n");
			flush(1);
			return 1;
		}
		answer(line, count);
	}
	return 0;
}

static long first(void)
{
	long error;

	device = (int)open_node();
	if (device < 0)
		return device;
	error = create_at(FREE_PRIORITY);
	if (error)
		return error;
	put_number(anchor_id);
	put("\n");
	flush(1);
	error = destroy_last();
	call3(SYS_CLOSE, device, 0, 0);
	return error;
}

static long open_once(void)
{
	uint64_t start = ticks();

	device = (int)open_node();
	if (device < 0)
		return device;
	put_number(ticks() - start);
	put("\n");
	flush(1);
	return 0;
}

static long serve_with_held_anchors(void)
{
	context_request.flags = 1;
	device = (int)open_node();
	if (device < 0)
		return device;
	for (int i = 0; i < HELD_HANDLES; i++) {
		long error = create_at(HELD_PRIORITY);

		if (error)
			return error;
	}
	/* Plain from here on, as the other peers' contexts are. */
	context_request.flags = 0;
	return serve();
}

int run(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	long error;

	node = argc > 1 ? argv[1] : "";
	if (equal(what, "nothing")) {
		put("nothing\n");
		flush(1);
		return 0;
	}
	context_request.flags = equal(what, "first-devx");
	if (equal(what, "open"))
		error = open_once();
	else
		error = *what ? first() : serve_with_held_anchors();
	if (error < 0) {
		put("floor: errno ");
		put_number((uint64_t)-error);
		put("\n");
		flush(2);
	}
	return error != 0;
}
