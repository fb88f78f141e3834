/*
 * hatchet.c - the tree that Proton, Triton's profiler, writes: NAME.hatchet, as JSON.
 *
 *     [ TREE, { DEVICE_TYPE: { DEVICE: { "arch", "num_sms" ... } } } ]
 *     TREE: { "frame": { "name", "type" }, "metrics": { "count", "time (ns)", "device_id", "device_type", "flops16" ... },
 *             "children": [ TREE ... ] }
 *
 * A node with a time and a device is work of a device, with its own time only: scopes above it have none. It is a profile
 * of devices: kernels and the scopes that launched them, without moments. What lies below __proton_launch_metadata is the
 * profiler's own. From triton-lang/triton, third_party/proton.
 */
#define _GNU_SOURCE /* memmem */
#include "ingest/formats.h"

#include "base/sum.h"
#include "ingest/json_text.h"
#include "ingest/stack_sums.h"

enum { DEEPEST_NODE = 512 };

struct hatchet {
    struct stack_sums sums;
    struct buffer text;
    struct json_text only_type; /* the type of all devices that the file lists; at NULL: none, or several */
    function_id path[DEEPEST_NODE]; /* functions from the root to the node */
    bool is_again[DEEPEST_NODE];    /* is it within itself there? */
    struct names *types, *keys;     /* device types; numbers of device_work, by struct work_key as bytes */
};

struct work_key {
    int64_t device;
    function_id function;
    name_id type; /* NAME_NONE: not recorded */
};

struct node {
    struct json_text name, device_type;
    double time_ns, count, flops, bytes;
    int64_t device; /* INT64_MIN: not a number */
    bool has_time, has_device;
    struct json_pull children; /* at NULL: none */
};

static void read_metrics(struct json_pull *in, struct node *node)
{
    struct json_text key, value;
    double number;
    bool more = json_enter_or_skip(in, '{');
    while (more && json_next_key(in, &key) && json_read(in, &value)) {
        const char *end = value.at + value.len;
        if (json_text_is(&key, "time (ns)"))
            node->has_time = json_decimal(value.at, end, &node->time_ns);
        else if (json_text_is(&key, "count"))
            json_decimal(value.at, end, &node->count);
        else if (json_text_is(&key, "device_id"))
            node->has_device = json_integer(value.at, end, &node->device) || true;
        else if (json_text_is(&key, "bytes") && json_decimal(value.at, end, &number))
            node->bytes += number;
        else if (key.len >= 5 && memcmp(key.at, "flops", 5) == 0 && json_decimal(value.at, end, &number))
            node->flops += number; /* by width: flops8, flops16 ... */
        else if (json_text_is(&key, "device_type"))
            node->device_type = value;
    }
}

static void hatchet_read_frame(struct json_pull *in, struct node *node)
{
    struct json_text key;
    bool more = json_enter_or_skip(in, '{');
    while (more && json_next_key(in, &key))
        more = json_text_is(&key, "name") ? json_read(in, &node->name) : json_skip(in);
}

/* Read the next node of the tree. False: it is none, or damaged. */
static bool read_node(struct json_pull *in, struct node *node)
{
    struct json_text key;
    *node = (struct node){ .name = { "", 0, true }, .device = INT64_MIN };
    if (!json_enter(in, '{'))
        return false;
    while (json_next_key(in, &key)) {
        if (json_text_is(&key, "frame")) {
            hatchet_read_frame(in, node);
        } else if (json_text_is(&key, "metrics")) {
            read_metrics(in, node);
        } else {
            if (json_text_is(&key, "children"))
                node->children = *in;
            if (!json_skip(in))
                return false;
        }
    }
    return true;
}

/* The work of FUNCTION on the device of NODE; new if there is none. */
static struct profile_work *work_of(struct hatchet *hatchet, function_id function, const struct node *node)
{
    struct profile *profile = hatchet->sums.profile;
    const struct json_text *type = node->device_type.at ? &node->device_type : &hatchet->only_type;
    struct work_key key = { node->device, function, NAME_NONE };
    if (type->at) {
        json_text_decode(type, &hatchet->text);
        key.type = names_add(hatchet->types, hatchet->text.at ? hatchet->text.at : "", hatchet->text.count);
    }
    name_id id = names_add(hatchet->keys, (const char *)&key, sizeof key);
    if (id == profile->device_work.count)
        *VEC_PUSH(&profile->device_work) = (struct profile_work){
            .function = function,
            .device = node->device,
            .device_type = type->at ? arena_strndup(&profile->arena, names_text(hatchet->types, key.type),
                                                    names_length(hatchet->types, key.type))
                                    : NULL,
        };
    return &profile->device_work.at[id];
}

/* NODE, whose function is at DEPTH of the path, is work: its own, and below all functions above it. */
static void add_work(struct hatchet *hatchet, const struct node *node, int depth)
{
    double seconds = node->time_ns * 1e-9;
    for (int i = 0; i <= depth; i++)
        if (!hatchet->is_again[i]) /* a function within itself has this time once */
            work_of(hatchet, hatchet->path[i], node)->cost.cumulative_s += seconds;
    struct profile_work *own = work_of(hatchet, hatchet->path[depth], node);
    sum_add(&own->cost.calls, node->count >= 1 && node->count < 0x1p53 ? (int64_t)node->count : 0);
    own->cost.total_s += seconds;
    bool has_flops =
        node->flops > 0 && node->flops<0x1p62, has_bytes = node->bytes> 0 && node->bytes < 0x1p62;
    own->flops += has_flops ? node->flops : 0;
    own->bytes += has_bytes ? node->bytes : 0;
    own->flops_s += has_flops ? seconds : 0;
    own->bytes_s += has_bytes ? seconds : 0;
}

/* Add the children at IN of the node whose stack is PARENT. */
static void add_children(struct hatchet *hatchet, struct json_pull in, stack_id parent, int depth)
{
    struct node node;
    if (!in.at || !json_enter(&in, '['))
        return;
    while (json_next_element(&in)) {
        if (depth >= DEEPEST_NODE || !read_node(&in, &node)) {
            stack_sums_odd(&hatchet->sums, TPA_NOWHERE);
            return;
        }
        if (json_text_is(&node.name, "__proton_launch_metadata"))
            continue;
        json_text_decode(&node.name, &hatchet->text);
        function_id function = stack_sums_function(&hatchet->sums, hatchet->text.at ? hatchet->text.at : "",
                                                   hatchet->text.count, "", 0, 0);
        stack_id stack = stack_sums_below(&hatchet->sums, parent, function);
        hatchet->path[depth] = function;
        hatchet->is_again[depth] = false;
        for (int i = 0; i < depth; i++)
            hatchet->is_again[depth] |= hatchet->path[i] == function;
        if (node.has_time && node.has_device &&
            stack_sums_add(&hatchet->sums, stack, node.time_ns * 1e-9, 1)) {
            if (node.count >= 1 && node.count < 0x1p53)
                hatchet->sums.nodes.at[stack].opened += (int64_t)node.count;
            add_work(hatchet, &node, depth);
        }
        add_children(hatchet, node.children, stack, depth + 1);
    }
}

/* The devices behind the tree: { "CUDA": { "0": { "arch" ... } } }. */
static void read_devices(struct hatchet *hatchet, struct json_pull *in)
{
    struct json_text key;
    bool more = json_next_element(in) && json_enter(in, '{');
    for (int types = 0; more && json_next_key(in, &key); types++) {
        hatchet->only_type = types ? (struct json_text){ 0 } : key;
        more = json_skip(in);
    }
}

static struct profile *read_hatchet(struct source *source, struct tpa_error *err)
{
    SCOPED struct hatchet *hatchet = mem_zalloc(1, sizeof *hatchet);
    SCOPED struct buffer text = { 0 };
    struct node root;
    if (!stack_sums_read_json(source, &text, err))
        return NULL;
    stack_sums_open(&hatchet->sums);
    hatchet->types = names_open();
    hatchet->keys = names_open();
    hatchet->sums.counts_calls = true;
    struct json_pull in = { text.at, text.at + text.count };
    if (json_enter(&in, '[') && json_next_element(&in) && read_node(&in, &root)) {
        read_devices(hatchet, &in);
        add_children(hatchet, root.children, STACK_ROOT, 0);
    }
    struct profile *profile = stack_sums_finish(&hatchet->sums, PROFILE_DEVICE_TIME, err);
    buffer_release(&hatchet->text);
    EACH(names_free, hatchet->types, hatchet->keys);
    return profile;
}

static int sniff_hatchet(const char *bytes, size_t len)
{
    size_t at = json_behind_blanks(bytes, len, 0);
    bool is_list = at < len && bytes[at] == '[';
    return is_list && memmem(bytes, len, "\"frame\"", 7) && memmem(bytes, len, "\"metrics\"", 9) ? 95 : 0;
}

const struct format format_hatchet = {
    .name = "Proton tree",
    .description = "Triton's Proton: NAME.hatchet, sums of kernels below scopes, as JSON",
    .sniff = sniff_hatchet,
    .read_profile = read_hatchet,
};
