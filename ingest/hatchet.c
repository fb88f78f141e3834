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

#include "ingest/json_text.h"
#include "ingest/stack_sums.h"

enum { DEEPEST_NODE = 512 };

struct hatchet {
    struct stack_sums sums;
    struct buffer text;
    struct json_text device_type; /* of the first work */
};

struct node {
    struct json_text name, device_type;
    double time_ns, count;
    bool has_time, has_device;
    struct json_pull children; /* at NULL: none */
};

static void read_metrics(struct json_pull *in, struct node *node)
{
    struct json_text key, value;
    bool more = json_enter(in, '{') || (json_skip(in) && false);
    while (more && json_next_key(in, &key) && json_read(in, &value)) {
        const char *end = value.at + value.len;
        if (json_text_is(&key, "time (ns)"))
            node->has_time = json_decimal(value.at, end, &node->time_ns);
        else if (json_text_is(&key, "count"))
            json_decimal(value.at, end, &node->count);
        else if (json_text_is(&key, "device_id"))
            node->has_device = true;
        else if (json_text_is(&key, "device_type"))
            node->device_type = value;
    }
}

static void hatchet_read_frame(struct json_pull *in, struct node *node)
{
    struct json_text key;
    bool more = json_enter(in, '{') || (json_skip(in) && false);
    while (more && json_next_key(in, &key))
        more = json_text_is(&key, "name") ? json_read(in, &node->name) : json_skip(in);
}

/* Read the next node of the tree. False: it is none, or damaged. */
static bool read_node(struct json_pull *in, struct node *node)
{
    struct json_text key;
    *node = (struct node){ .name = { "", 0, true } };
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

/* Add the children at IN of the node whose stack is PARENT. */
static void add_children(struct hatchet *hatchet, struct json_pull in, stack_id parent, int depth)
{
    struct node node;
    if (!in.at || !json_enter(&in, '['))
        return;
    while (json_next_element(&in)) {
        if (depth > DEEPEST_NODE || !read_node(&in, &node)) {
            stack_sums_odd(&hatchet->sums, TPA_NOWHERE);
            return;
        }
        if (json_text_is(&node.name, "__proton_launch_metadata"))
            continue;
        json_text_decode(&node.name, &hatchet->text);
        stack_id stack =
            stack_sums_below(&hatchet->sums, parent,
                             stack_sums_function(&hatchet->sums, hatchet->text.at ? hatchet->text.at : "",
                                                 hatchet->text.count, "", 0, 0));
        if (node.has_time && node.has_device) {
            if (!hatchet->device_type.at)
                hatchet->device_type = node.device_type;
            bool counted = node.count >= 1 && node.count < 0x1p53;
            if (stack_sums_add(&hatchet->sums, stack, node.time_ns * 1e-9, 1) && counted)
                hatchet->sums.nodes.at[stack].opened += (int64_t)node.count;
        }
        add_children(hatchet, node.children, stack, depth + 1);
    }
}

static struct profile *read_hatchet(struct source *source, struct tpa_error *err)
{
    struct hatchet hatchet = { 0 };
    struct buffer text = { 0 };
    struct node root;
    if (!stack_sums_read_json(source, &text, err)) {
        buffer_release(&text);
        return NULL;
    }
    stack_sums_open(&hatchet.sums);
    hatchet.sums.counts_calls = true;
    struct json_pull in = { text.at, text.at + text.count };
    if (json_enter(&in, '[') && json_next_element(&in) && read_node(&in, &root))
        add_children(&hatchet, root.children, STACK_ROOT, 0);
    struct profile *profile = stack_sums_finish(&hatchet.sums, PROFILE_DEVICE_TIME, err);
    if (profile && hatchet.device_type.at) {
        json_text_decode(&hatchet.device_type, &hatchet.text);
        profile->device_type = arena_strndup(&profile->arena, hatchet.text.at, hatchet.text.count);
    }
    EACH(buffer_release, &hatchet.text, &text);
    return profile;
}

static int sniff_hatchet(const char *bytes, size_t len)
{
    size_t at = 0;
    while (at < len && json_is_blank(bytes[at]))
        at++;
    bool is_list = at < len && bytes[at] == '[';
    return is_list && memmem(bytes, len, "\"frame\"", 7) && memmem(bytes, len, "\"metrics\"", 9) ? 95 : 0;
}

const struct format format_hatchet = {
    .name = "Proton tree",
    .description = "Triton's Proton: NAME.hatchet, sums of kernels below scopes, as JSON",
    .sniff = sniff_hatchet,
    .read_profile = read_hatchet,
};
