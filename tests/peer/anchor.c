/*
 * A steering anchor and a sandbox around it by rdma-core's own libraries, step by step: what the crate is compared with.
 *
 *     anchor DEVICE
 *
 * Each step that succeeds prints a line. One that fails ends the program with the call, errno's text and status 1; the
 * kernel destroys what was left.
 */
#include <errno.h>
#include <error.h>
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRIORITY = 3, FLOW_PRIORITY = 0, PORT = 5000, LOG_SIZE = 2, LEVEL = 48 };

/* Firmware commands and what they are about, as the kernel's mlx5_ifc.h numbers them. */
enum { CREATE_FLOW_TABLE = 0x930, CREATE_FLOW_GROUP = 0x933, SET_FLOW_TABLE_ENTRY = 0x936 };
enum { OUTER_HEADERS = 1, FORWARD = 4, DESTINATION_TABLE = 1, IPV4 = 4, UDP = 17 };

/* Bytes of their structures. */
enum { TABLE_IN = 64, GROUP_IN = 1024, ENTRY_IN = 832 + 8, OUT = 16, MATCH = 512 };

static void failed(const char *call, int reason)
{
    error(EXIT_FAILURE, reason, "%s", call);
}

/* The ways a call of the libraries tells that it failed: NULL with errno, or the errno itself, or -1 with errno. */
static void *made(const char *call, void *object)
{
    if (!object)
        failed(call, errno);
    return object;
}

static void done(const char *call, int result)
{
    if (result)
        failed(call, result > 0 ? result : errno);
    printf("%s\n", call);
}

/* Writes a field of `width` bits at bit `at`, as the firmware counts: from the highest bit of the first byte. */
static void put(void *command, size_t at, size_t width, uint32_t value)
{
    uint8_t *bytes = command;

    for (size_t bit = at; bit < at + width; bit++)
        if (value >> (at + width - 1 - bit) & 1)
            bytes[bit / 8] |= 0x80 >> bit % 8;
}

/* A number of 24 bits that the firmware gave to a new object. */
static uint32_t number(const uint8_t *out)
{
    return out[9] << 16 | out[10] << 8 | out[11];
}

static struct mlx5dv_devx_obj *firmware_object(struct ibv_context *context, const char *what, uint16_t opcode, void *in,
                                               size_t length, uint8_t *out)
{
    struct mlx5dv_devx_obj *object;

    put(in, 0, 16, opcode);
    object = made(what, mlx5dv_devx_obj_create(context, in, length, out, OUT));
    printf("%s %u\n", what, number(out));
    return object;
}

static struct ibv_context *open_device(const char *name)
{
    struct mlx5dv_context_attr attributes = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
    struct ibv_device **devices = made("ibv_get_device_list", ibv_get_device_list(NULL));
    struct ibv_context *context;
    struct ibv_device **device = devices;

    while (*device && strcmp(ibv_get_device_name(*device), name))
        device++;
    if (!*device)
        error(EXIT_FAILURE, ENODEV, "%s", name);
    context = made("mlx5dv_open_device", mlx5dv_open_device(*device, &attributes));
    printf("mlx5dv_open_device\n");
    ibv_free_device_list(devices);
    return context;
}

static struct mlx5dv_flow_match_parameters *udp_to_port(uint32_t ip_version, uint32_t protocol, uint32_t port)
{
    struct mlx5dv_flow_match_parameters *match = made("calloc", calloc(1, sizeof(*match) + MATCH));

    match->match_sz = MATCH;
    put(match->match_buf, 0x93, 4, ip_version);
    put(match->match_buf, 0x80, 8, protocol);
    put(match->match_buf, 0xf0, 16, port);
    return match;
}

int main(int argc, char **argv)
{
    struct mlx5dv_steering_anchor_attr anchor_attributes = {.ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_RX,
                                                            .priority = PRIORITY};
    uint8_t table_in[TABLE_IN] = {0}, group_in[GROUP_IN] = {0}, entry_in[ENTRY_IN] = {0};
    uint8_t table_out[OUT] = {0}, group_out[OUT] = {0}, entry_out[OUT] = {0};
    struct mlx5dv_flow_match_parameters *mask = udp_to_port(0xf, 0xff, 0xffff);
    struct mlx5dv_flow_match_parameters *value = udp_to_port(IPV4, UDP, PORT);
    struct mlx5dv_devx_obj *table, *group, *entry;
    struct mlx5dv_steering_anchor *anchor;
    struct mlx5dv_flow_matcher *matcher;
    struct ibv_context *context;
    struct ibv_flow *flow;

    if (argc != 2)
        error(2, 0, "usage: %s DEVICE", argv[0]);
    context = open_device(argv[1]);

    anchor = made("mlx5dv_create_steering_anchor", mlx5dv_create_steering_anchor(context, &anchor_attributes));
    printf("mlx5dv_create_steering_anchor %u\n", anchor->id);

    put(table_in, 0xc0 + 0x8, 8, LEVEL);
    put(table_in, 0xc0 + 0x18, 8, LOG_SIZE);
    table = firmware_object(context, "CREATE_FLOW_TABLE", CREATE_FLOW_TABLE, table_in, TABLE_IN, table_out);

    put(group_in, 0xa8, 24, number(table_out));
    put(group_in, 0x120, 32, (1 << LOG_SIZE) - 1);
    group = firmware_object(context, "CREATE_FLOW_GROUP", CREATE_FLOW_GROUP, group_in, GROUP_IN, group_out);

    /* Entry 0 hands every packet to the anchor, which lies below the table. */
    put(entry_in, 0xa8, 24, number(table_out));
    put(entry_in, 0xc0, 1, 1);
    put(entry_in, 0x200 + 0x20, 32, number(group_out));
    put(entry_in, 0x200 + 0x70, 16, FORWARD);
    put(entry_in, 0x200 + 0x88, 24, 1);
    put(entry_in, 0x1a00, 8, DESTINATION_TABLE);
    put(entry_in, 0x1a00 + 0x8, 24, anchor->id);
    entry = firmware_object(context, "SET_FLOW_TABLE_ENTRY", SET_FLOW_TABLE_ENTRY, entry_in, ENTRY_IN, entry_out);

    struct mlx5dv_flow_matcher_attr matcher_attributes = {
        .type = IBV_FLOW_ATTR_NORMAL,
        .priority = FLOW_PRIORITY,
        .match_criteria_enable = OUTER_HEADERS,
        .match_mask = mask,
        .comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
        .ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_RX,
    };
    matcher = made("mlx5dv_create_flow_matcher", mlx5dv_create_flow_matcher(context, &matcher_attributes));
    printf("mlx5dv_create_flow_matcher\n");

    struct mlx5dv_flow_action_attr into_table = {.type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = table};
    flow = made("mlx5dv_create_flow", mlx5dv_create_flow(matcher, value, 1, &into_table));
    printf("mlx5dv_create_flow\n");

    done("ibv_destroy_flow", ibv_destroy_flow(flow));
    done("mlx5dv_destroy_flow_matcher", mlx5dv_destroy_flow_matcher(matcher));
    done("mlx5dv_devx_obj_destroy entry", mlx5dv_devx_obj_destroy(entry));
    done("mlx5dv_devx_obj_destroy group", mlx5dv_devx_obj_destroy(group));
    done("mlx5dv_devx_obj_destroy table", mlx5dv_devx_obj_destroy(table));
    done("mlx5dv_destroy_steering_anchor", mlx5dv_destroy_steering_anchor(anchor));
    done("ibv_close_device", ibv_close_device(context));
    free(value);
    free(mask);
    return EXIT_SUCCESS;
}
