/*
 * mutate_json.c - JSON into other JSON: items dropped, doubled, swapped and put elsewhere, figures at their limits.
 *
 * Most of what comes out is well formed, so that what lies behind the parser is tried. The input is scanned once for its
 * values, taking what it finds: bytes that are no JSON are passed over. Now and then any bytes are changed in any way.
 */
#include "tests/fuzz/mutate.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_ITEMS = 4096, MOST_DEPTH = 256, NO_PARENT = -1 };

/* What stands between two commas: an element, or a member with its key. */
struct item {
    size_t begin, end; /* without the comma */
    size_t value;      /* where the value begins; it ends with the item */
    size_t key_end;    /* behind the key's last quote; BEGIN when there is no key */
    int parent;
    char kind; /* first byte of the value: { [ " or another, of a number or word */
};

struct items {
    struct item at[MOST_ITEMS];
    int count;
};

static bool has_key(const struct item *item)
{
    return item->key_end > item->begin;
}

/* The end of the string that begins at AT. */
static size_t skip_string(const uint8_t *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        if (text[at] == '\\')
            at++;
    return at < size ? at + 1 : size;
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static size_t skip_word(const uint8_t *text, size_t size, size_t at)
{
    while (at < size && !is_blank(text[at]) && !strchr("{}[]\",:", text[at] ? text[at] : ' '))
        at++;
    return at;
}

static void scan(const uint8_t *text, size_t size, struct items *items)
{
    int open[MOST_DEPTH], depth = 0;
    size_t key_begin = 0, key_end = 0; /* of a member whose value is to come */
    items->count = 0;
    for (size_t at = 0; at < size && items->count < MOST_ITEMS;) {
        uint8_t byte = text[at];
        if (byte == '}' || byte == ']') {
            at++;
            if (depth > 0)
                items->at[open[--depth]].end = at;
            key_end = key_begin = 0;
            continue;
        }
        if (is_blank(byte) || byte == ',' || byte == ':' || byte == 0) {
            at++;
            continue;
        }
        size_t begin = at;
        if (byte == '"')
            at = skip_string(text, size, at);
        else if (byte == '{' || byte == '[')
            at++;
        else
            at = skip_word(text, size, at);
        if (byte == '"' && !key_end) {
            size_t next = at;
            while (next < size && is_blank(text[next]))
                next++;
            if (next < size && text[next] == ':') {
                key_begin = begin;
                key_end = at;
                continue;
            }
        }
        struct item *item = &items->at[items->count++];
        *item = (struct item){ .begin = key_end ? key_begin : begin,
                               .end = at,
                               .value = begin,
                               .key_end = key_end ? key_end : begin,
                               .parent = depth > 0 ? open[depth - 1] : NO_PARENT,
                               .kind = (char)byte };
        key_end = key_begin = 0;
        if ((byte == '{' || byte == '[')) {
            item->end = size; /* until it is closed */
            if (depth < MOST_DEPTH)
                open[depth++] = items->count - 1;
        }
    }
}

/* ---- texts to put in ---- */

static const char *const edges[] = {
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "7",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "-2147483648",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "9223372036854775.807",
    "9223372036854775.808",
    "-9223372036854775.808",
    "1e18",
    "1e19",
    "1e308",
    "1e309",
    "-1e309",
    "1e-400",
    "0.0005",
    "0.001",
    "0.1",
    "1234567890123.456789",
    "1152921504606846976",
    "null",
    "true",
    "false",
    "NaN",
    "Infinity",
    "\"\"",
    "{}",
    "[]",
    "[0]",
    "[[]]",
    "\"0\"",
    "\"1\"",
    "\"-1\"",
    "\"9223372036854775807\"",
    "\"0x7f0000000000\"",
};

static const char *const words[] = {
    "X",
    "B",
    "E",
    "i",
    "I",
    "C",
    "M",
    "s",
    "t",
    "f",
    "b",
    "e",
    "n",
    "N",
    "O",
    "D",
    "P",
    "R",
    "p",
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "cuda_runtime",
    "cuda_driver",
    "cpu_op",
    "user_annotation",
    "gpu_user_annotation",
    "python_function",
    "cpu_instant_event",
    "Trace",
    "ac2g",
    "fwdbwd",
    "overhead",
    "Operator",
    "Kernel",
    "Memcpy",
    "Runtime",
    "process_name",
    "thread_name",
    "process_labels",
    "process_sort_index",
    "thread_sort_index",
    "name",
    "ph",
    "ts",
    "dur",
    "pid",
    "tid",
    "cat",
    "args",
    "id",
    "bp",
    "traceEvents",
    "deviceProperties",
    "distributedInfo",
    "rank",
    "world_size",
    "backend",
    "nccl",
    "schemaVersion",
    "baseTimeNanosecond",
    "displayTimeUnit",
    "ms",
    "ns",
    "External id",
    "correlation",
    "stream",
    "device",
    "context",
    "queued",
    "grid",
    "block",
    "Input Dims",
    "Input type",
    "Concrete Inputs",
    "Input Strides",
    "Sequence number",
    "Fwd thread id",
    "Python id",
    "Python parent id",
    "Python module id",
    "Call stack",
    "Bytes",
    "Addr",
    "Total Allocated",
    "Total Reserved",
    "Device Type",
    "Device Id",
    "bytes",
    "memory bandwidth (GB/s)",
    "registers per thread",
    "shared memory",
    "warps per SM",
    "blocks per SM",
    "est. achieved occupancy %",
    "Collective name",
    "In msg nelems",
    "Out msg nelems",
    "Group size",
    "dtype",
    "Process Group Name",
    "Process Group Ranks",
    "Record Window End",
    "Iteration Start: PyTorch Profiler",
    "ProfilerStep#0",
    "ProfilerStep#1",
    "ProfilerStep#-1",
    "ProfilerStep#99999999999999999999",
    "[memory]",
    "cudaLaunchKernel",
    "cudaGraphLaunch",
    "cudaMemcpyAsync",
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventRecord",
    "cudaStreamWaitEvent",
    "Context Sync",
    "Stream Sync",
    "Stream Wait Event",
    "Event Sync",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "nccl:all_reduce",
    "record_param_comms",
    "Memcpy HtoD (Pageable -> Device)",
    "Memset (Device)",
    "aten::mm",
    "aten::conv2d",
    "nn.Module: Linear_0",
    "model.py(12): forward",
    "_ZN2at6native3addEPf",
    "autograd::engine::evaluate_function: AddBackward0",
    "Optimizer.step#SGD.step",
    "DataLoader",
    "dequeued",
    "=1+1",
    "<script>",
    "\\u0000",
    "\\ud83d",
    "\\n::error::",
    "a|b`c",
    "\\u202e",
    "tables",
    "columns",
    "rows",
    "notices",
    "footers",
    "schema",
    "key",
    "kind",
    "title",
    "help",
    "text",
    "count",
    "file",
    "offset",
    "moment",
    "share",
    "number",
    "flops",
    "bool",
    "tpa.top/1",
    "tpa.gpu/1",
    "tpa.steps/1",
    "tpa.kernels/1",
    "operators",
    "total_rows",
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- one change ---- */

/* Change INPUT between BEGIN and END the way of libFuzzer. */
static bool mutate_bytes(struct mutated *input, size_t begin, size_t end, bool harmless)
{
    uint8_t piece[256];
    size_t len = end - begin;
    if (len > sizeof piece)
        len = sizeof piece;
    memcpy(piece, input->at + begin, len);
    size_t now = LLVMFuzzerMutate(piece, len, sizeof piece);
    for (size_t i = 0; harmless && i < now; i++)
        if (piece[i] == '"' || piece[i] == '\\' || piece[i] < ' ')
            piece[i] = '.';
    return mutate_replace(input, begin, begin + len, piece, now);
}

/* Put what stands from BEGIN to END of SOURCE at AT (replacing up to UNTIL), with BEFORE and AFTER around it. */
static bool insert(struct mutated *input, size_t at, size_t until, const char *before, const uint8_t *source,
                   size_t begin, size_t end, const char *after)
{
    size_t first = strlen(before), last = strlen(after), len = end - begin;
    uint8_t *copy = malloc(first + len + last + 1);
    if (!copy)
        abort();
    memcpy(copy, before, first);
    memcpy(copy + first, source + begin, len);
    memcpy(copy + first + len, after, last);
    bool done = mutate_replace(input, at, until, copy, first + len + last);
    free(copy);
    return done;
}

static bool drop(struct mutated *input, const struct item *item)
{
    size_t begin = item->begin, end = item->end;
    while (end < input->size && is_blank(input->at[end]))
        end++;
    if (end < input->size && input->at[end] == ',') {
        end++;
    } else {
        while (begin > 0 && is_blank(input->at[begin - 1]))
            begin--;
        if (begin > 0 && input->at[begin - 1] == ',')
            begin--;
    }
    return mutate_replace(input, begin, end, "", 0);
}

/* Let the items change places; they must not overlap. */
static bool swap(struct mutated *input, const struct item *a, const struct item *b, bool keys)
{
    size_t a_begin = keys ? a->begin : a->value, b_begin = keys ? b->begin : b->value;
    if (a_begin > b_begin)
        return swap(input, b, a, keys);
    if (a->end > b_begin)
        return false;
    size_t len = b->end - a_begin;
    uint8_t *copy = malloc(len), *to = copy;
    if (!copy)
        abort();
    to = (uint8_t *)memcpy(to, input->at + b_begin, b->end - b_begin) + (b->end - b_begin);
    to = (uint8_t *)memcpy(to, input->at + a->end, b_begin - a->end) + (b_begin - a->end);
    memcpy(to, input->at + a_begin, a->end - a_begin);
    memcpy(input->at + a_begin, copy, len);
    free(copy);
    return true;
}

/* An item that has a key, or none, as LIKE has. */
static const struct item *find_like(const struct items *items, const struct item *like, uint64_t *state)
{
    for (int tries = 0; tries < 8; tries++) {
        const struct item *found = &items->at[mutate_random(state, (size_t)items->count)];
        if (has_key(found) == has_key(like))
            return found;
    }
    return NULL;
}

/* A number: of the edges, of elsewhere, or near to what it was. */
static bool change_number(struct mutated *input, const struct items *items, const struct item *item,
                          uint64_t *state)
{
    char text[64] = "";
    if (mutate_random(state, 3) == 0) {
        const char *edge = edges[mutate_random(state, LENGTH(edges))];
        return mutate_replace(input, item->value, item->end, edge, strlen(edge));
    }
    const struct item *from = item;
    if (mutate_random(state, 2)) {
        for (int tries = 0; tries < 8; tries++) {
            const struct item *other = &items->at[mutate_random(state, (size_t)items->count)];
            if (strchr("{[\"ntfNI", other->kind) == NULL)
                from = other;
        }
    }
    size_t len = from->end - from->value < 40 ? from->end - from->value : 40;
    memcpy(text, input->at + from->value, len);
    static const long steps[] = { 0, 0, 1, -1, 2, 10, -100, 1000, 1000000, -1000000 };
    if (strchr(text, '.') || strchr(text, 'e'))
        snprintf(text, sizeof text, "%.3f",
                 strtod(text, NULL) + (double)steps[mutate_random(state, LENGTH(steps))]);
    else
        snprintf(text, sizeof text, "%lld",
                 (long long)((unsigned long long)strtoll(text, NULL, 10) +
                             (unsigned long long)steps[mutate_random(state, LENGTH(steps))]));
    return mutate_replace(input, item->value, item->end, text, strlen(text));
}

static bool change_string(struct mutated *input, size_t begin, size_t end, uint64_t *state)
{
    if (end - begin < 2)
        return false;
    if (mutate_random(state, 2))
        return mutate_bytes(input, begin + 1, end - 1, mutate_random(state, 8) != 0);
    const char *word = words[mutate_random(state, LENGTH(words))];
    return mutate_replace(input, begin + 1, end - 1, word, strlen(word));
}

static bool wrap(struct mutated *input, const struct item *item, uint64_t *state)
{
    static const char *const around[][2] = {
        { "[", "]" },   { "{\"args\":", "}" }, { "[[[[[[[[", "]]]]]]]]" }, { "{\"0\":0,\"1\":", "}" },
        { "\"", "\"" },
    };
    const char *const *pair = around[mutate_random(state, LENGTH(around))];
    return insert(input, item->value, item->end, pair[0], input->at, item->value, item->end, pair[1]);
}

static bool change_once(struct mutated *input, const struct items *items, uint64_t *state)
{
    const struct item *item = &items->at[mutate_random(state, (size_t)items->count)];
    const struct item *other;
    switch (mutate_random(state, 14)) {
    case 0: return item->parent != NO_PARENT && drop(input, item);
    case 1:
        return item->parent != NO_PARENT &&
               insert(input, item->end, item->end, ",", input->at, item->begin, item->end, "");
    case 2: /* of the same parent or not */
        other = find_like(items, item, state);
        return other && swap(input, item, other, true);
    case 3: return swap(input, item, &items->at[mutate_random(state, (size_t)items->count)], false);
    case 4: /* a value of elsewhere */
        other = &items->at[mutate_random(state, (size_t)items->count)];
        return insert(input, item->value, item->end, "", input->at, other->value, other->end, "");
    case 5: /* an item of elsewhere */
        other = find_like(items, item, state);
        return other && item->parent != NO_PARENT &&
               insert(input, item->end, item->end, ",", input->at, other->begin, other->end, "");
    case 6: return wrap(input, item, state);
    case 7: {
        const char *edge = edges[mutate_random(state, LENGTH(edges))];
        return (item->kind != '{' || mutate_random(state, 8) == 0) &&
               mutate_replace(input, item->value, item->end, edge, strlen(edge));
    }
    case 8: return has_key(item) && change_string(input, item->begin, item->key_end, state);
    case 9: /* whatever stands around the document */
        return mutate_bytes(input, items->at[0].end < input->size ? items->at[0].end : 0, input->size, false);
    default:
        if (item->kind == '"')
            return change_string(input, item->value, item->end, state);
        return item->kind != '{' && item->kind != '[' && change_number(input, items, item, state);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static struct items items;
    uint64_t state = seed;
    struct mutated input = { data, size, most };
    if (mutate_random(&state, 16) == 0)
        return LLVMFuzzerMutate(data, size, most);
    size_t changes = 1 + mutate_random(&state, 4);
    bool changed = false;
    for (size_t i = 0; i < changes * 4 && changes > 0; i++) {
        scan(input.at, input.size, &items);
        if (items.count == 0)
            break;
        if (change_once(&input, &items, &state)) {
            changed = true;
            changes--;
        }
    }
    return changed ? input.size : LLVMFuzzerMutate(data, size, most);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t most, unsigned seed)
{
    static struct items items, others;
    uint64_t state = seed;
    if (size1 > most)
        size1 = most;
    memcpy(out, data1, size1);
    struct mutated input = { out, size1, most };
    scan(out, size1, &items);
    scan(data2, size2, &others);
    if (items.count == 0 || others.count == 0)
        return size1;
    for (int tries = 0; tries < 4; tries++) {
        const struct item *item = &items.at[mutate_random(&state, (size_t)items.count)];
        const struct item *other = find_like(&others, item, &state);
        if (other && item->parent != NO_PARENT &&
            insert(&input, item->end, item->end, ",", data2, other->begin, other->end, ""))
            break;
    }
    return input.size;
}
