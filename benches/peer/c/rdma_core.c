/*
 * The peer that rdma-core is: the same work as the other peers do, by libibverbs and libmlx5 as they are.
 *
 *     rdma_core DEVICE             answers what is asked on standard input
 *     rdma_core DEVICE first       from the name to the first id, and out
 *     rdma_core DEVICE first-devx  the same with a DEVX context
 *     rdma_core DEVICE open        tells what it takes to open a device that was listed
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include <infiniband/mlx5dv.h>

#include "filter.h"
#include "heap.h"
#include "inbox.h"
#include "serve.h"

#define MAX_GIDS 512
#define MAX_THREADS 64

static const char *device_name;
/* The context of everything that needs one, opened once. */
static struct ibv_context *context;

/* How long it took to open the device, once it was listed. */
static uint64_t ticks_of_open;

static struct ibv_context *open_device(uint32_t flags)
{
	struct mlx5dv_context_attr attributes = { .flags = flags };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *opened = NULL;
	uint64_t start = ticks();

	if (!list)
		return NULL;
	errno = ENODEV;
	for (struct ibv_device **device = list; *device; device++)
		if (!strcmp(ibv_get_device_name(*device), device_name))
			opened = mlx5dv_open_device(*device, &attributes);
	ticks_of_open = ticks() - start;
	ibv_free_device_list(list);
	return opened;
}

static struct mlx5dv_steering_anchor *create_anchor(struct ibv_context *of, uint16_t priority)
{
	struct mlx5dv_steering_anchor_attr attributes = {
		.ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_RX,
		.priority = priority,
	};

	return mlx5dv_create_steering_anchor(of, &attributes);
}

static int destroy_anchor(struct mlx5dv_steering_anchor *anchor)
{
	int error = mlx5dv_destroy_steering_anchor(anchor);

	errno = error;
	return error ? -1 : 0;
}

static int clock_only(uint64_t *samples, int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t start = ticks();

		samples[i] = ticks() - start;
	}
	return count;
}

static int create(uint64_t *samples, int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t start = ticks();
		struct mlx5dv_steering_anchor *anchor = create_anchor(context, HELD_PRIORITY);

		samples[i] = ticks() - start;
		if (!anchor || destroy_anchor(anchor))
			return -1;
	}
	return count;
}

static int destroy(uint64_t *samples, int count)
{
	for (int i = 0; i < count; i++) {
		struct mlx5dv_steering_anchor *anchor = create_anchor(context, HELD_PRIORITY);
		uint64_t start = ticks();

		if (!anchor || destroy_anchor(anchor))
			return -1;
		samples[i] = ticks() - start;
	}
	return count;
}

static int one_pair(struct ibv_context *of, uint16_t priority)
{
	struct mlx5dv_steering_anchor *anchor = create_anchor(of, priority);

	return anchor ? destroy_anchor(anchor) : -1;
}

/* One sample for all. */
static int pairs(uint64_t *samples, int count)
{
	uint64_t start = ticks();

	for (int i = 0; i < count; i++)
		if (one_pair(context, HELD_PRIORITY))
			return -1;
	samples[0] = ticks() - start;
	return 1;
}

static int first_reference(uint64_t *samples, int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t start = ticks();

		if (one_pair(context, FREE_PRIORITY))
			return -1;
		samples[i] = ticks() - start;
	}
	return count;
}

static int open_only(uint64_t *samples, int count)
{
	struct mlx5dv_context_attr attributes = { 0 };

	for (int i = 0; i < count; i++) {
		uint64_t start = ticks();
		struct ibv_context *opened = mlx5dv_open_device(context->device, &attributes);

		samples[i] = ticks() - start;
		if (!opened)
			return -1;
		ibv_close_device(opened);
	}
	return count;
}

static int list(uint64_t *samples, int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t start = ticks();
		struct ibv_device **devices = ibv_get_device_list(NULL);

		if (!devices)
			return -1;
		ibv_free_device_list(devices);
		samples[i] = ticks() - start;
	}
	return count;
}

static int gids(uint64_t *samples, int count)
{
	static struct ibv_gid_entry entries[MAX_GIDS];

	for (int i = 0; i < count; i++) {
		uint64_t start = ticks();

		if (ibv_query_gid_table(context, entries, MAX_GIDS, 0) < 0)
			return -1;
		samples[i] = ticks() - start;
	}
	return count;
}

/* From here on, each ioctl succeeds at once and does nothing. */
static int answer_ioctls_with_success(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &ioctls_succeed_program);
}

/* What it takes to ask the firmware for an entry. From here on no ioctl reaches the kernel's driver. */
static int entry(uint64_t *samples, int count)
{
	if (answer_ioctls_with_success())
		return -1;
	for (int i = 0; i < count; i++) {
		uint8_t out[SET_ENTRY_OUT] = { 0 };
		uint64_t start = ticks();
		uint32_t in[SET_ENTRY_IN / 4];
		struct mlx5dv_devx_obj *object;

		build_entry(in, 0x12, i, 0x34);
		object = mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out));
		samples[i] = ticks() - start;
		if (!object || mlx5dv_devx_obj_destroy(object))
			return -1;
	}
	return count;
}

/* Two samples, of `count` anchors alive at a time: to create them all, and to destroy them all. */
static int many(uint64_t *samples, int count)
{
	struct mlx5dv_steering_anchor **anchors = calloc(count, sizeof(*anchors));
	uint64_t start, full, end;

	if (!anchors)
		return -1;
	start = ticks();
	for (int i = 0; i < count; i++) {
		anchors[i] = create_anchor(context, HELD_PRIORITY);
		if (!anchors[i])
			return -1;
	}
	full = ticks();
	for (int i = 0; i < count; i++)
		if (destroy_anchor(anchors[i]))
			return -1;
	end = ticks();
	free(anchors);
	samples[0] = full - start;
	samples[1] = end - full;
	return 2;
}

static int heap(uint64_t *samples, int count)
{
	(void)count;
	if (!counts_heap_calls())
		return 0;
	samples[0] = heap_calls();
	if (one_pair(context, HELD_PRIORITY))
		return -1;
	samples[0] = heap_calls() - samples[0];
	return 1;
}

static void *a_thread_s_pairs(void *failed)
{
	for (int i = 0; i < PAIRS_OF_A_THREAD; i++)
		if (one_pair(context, HELD_PRIORITY))
			*(volatile bool *)failed = true;
	return NULL;
}

/* One sample: `count` threads at the same time. */
static int threads(uint64_t *samples, int count)
{
	pthread_t threads[MAX_THREADS];
	bool failed = false;
	uint64_t start = ticks();

	if (count > MAX_THREADS) {
		errno = EINVAL;
		return -1;
	}
	for (int i = 0; i < count; i++) {
		errno = pthread_create(&threads[i], NULL, a_thread_s_pairs, &failed);
		if (errno)
			return -1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	samples[0] = ticks() - start;
	return failed ? -1 : 1;
}

static const struct scenario scenarios[] = {
	{ "clock", clock_only },
	{ "create", create },
	{ "destroy", destroy },
	{ "pairs", pairs },
	{ "first-reference", first_reference },
	{ "open", open_only },
	{ "list", list },
	/* The list is the only way that leads to a name here. */
	{ "name", list },
	{ "gids", gids },
	{ "entry", entry },
	{ "many", many },
	{ "heap", heap },
	{ "threads", threads },
};

static int open_once(void)
{
	context = open_device(0);
	if (!context)
		return -1;
	printf("%llu\n", (unsigned long long)ticks_of_open);
	return ibv_close_device(context);
}

static int first(uint32_t flags)
{
	struct mlx5dv_steering_anchor *anchor;

	context = open_device(flags);
	if (!context)
		return -1;
	anchor = create_anchor(context, FREE_PRIORITY);
	if (!anchor)
		return -1;
	printf("%u\n", anchor->id);
	if (destroy_anchor(anchor))
		return -1;
	return ibv_close_device(context);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	int failed = 0;

	device_name = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "first")) {
		failed = first(0);
	} else if (!strcmp(what, "first-devx")) {
		failed = first(MLX5DV_CONTEXT_FLAGS_DEVX);
	} else if (!strcmp(what, "open")) {
		failed = open_once();
	} else {
		context = open_device(MLX5DV_CONTEXT_FLAGS_DEVX);
		failed = !context;
		for (int i = 0; !failed && i < HELD_HANDLES; i++)
			failed = !create_anchor(context, HELD_PRIORITY);
		if (!failed)
			return serve(scenarios, sizeof(scenarios) / sizeof(*scenarios));
	}
	if (failed)
		fprintf(stderr, "rdma_core: %s: %m\n", device_name);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
