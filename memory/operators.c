/*
 * operators.c - what each operator, or other key, allocates and frees, itself and with callees.
 *
 * Totals by key are kept in arrays, which are cleared after each device. Totals of calls with callees are added up
 * along the call tree, but only for calls with records, so that a device with few records costs little.
 */
#include "memory/memory.h"
#include "base/rows.h"
#include "base/sum.h"

/* Totals of allocations and frees; never negative. */
enum { ALLOCATED, FREED, WAYS };
struct sums {
    int64_t count[WAYS], bytes[WAYS];
};

/* Totals by operator, of one device at a time. */
struct memory_board {
    struct sums *self, *total; /* by key; the last is for records in no operator */
    bool *listed;              /* by key: is it in KEYS? */
    VEC_OF(uint32_t) keys;     /* those with a sum */
    struct sums *calls;        /* by node: what the call allocated itself, later with callees */
    bool *visited;             /* by node: is it in NODES? */
    VEC_OF(node_id) nodes;     /* calls with records in them */
    uint32_t *open;            /* by name: calls of it on the stack */
    VEC_OF(node_id) stack;
};

/* ---- totals by operator ---- */

struct memory_board *memory_board_open(const struct memory_query *query)
{
    size_t keys = query->key_count, nodes = query->records->tree->count;
    size_t names = names_count(query->trace->names);
    struct memory_board *board = arena_open(sizeof *board);
    struct arena *arena = arena_of(board);
    ARENA_OWNS(arena, &board->keys, &board->nodes, &board->stack);
    *board = (struct memory_board){
        .self = arena_zalloc(arena, keys + 1, sizeof *board->self),
        .total = arena_zalloc(arena, keys + 1, sizeof *board->total),
        .listed = arena_zalloc(arena, keys + 1, sizeof *board->listed),
        .open = arena_zalloc(arena, names + 1, sizeof *board->open),
        .calls = arena_zalloc(arena, nodes + 1, sizeof *board->calls),
        .visited = arena_zalloc(arena, nodes + 1, sizeof *board->visited),
    };
    return board;
}

/* Clear for the next device. */
static void board_clear(struct memory_board *board)
{
    for (size_t i = 0; i < board->keys.count; i++) {
        uint32_t key = board->keys.at[i];
        board->self[key] = board->total[key] = (struct sums){ 0 };
        board->listed[key] = false;
    }
    for (size_t i = 0; i < board->nodes.count; i++) {
        board->calls[board->nodes.at[i]] = (struct sums){ 0 };
        board->visited[board->nodes.at[i]] = false;
    }
    board->keys.count = board->nodes.count = 0;
}

static void add_sums(struct sums *to, const struct sums *from)
{
    for (int way = 0; way < WAYS; way++) {
        to->count[way] += from->count[way];
        sum_add(&to->bytes[way], from->bytes[way]);
    }
}

static void list_key(struct memory_board *board, uint32_t key)
{
    if (!board->listed[key])
        *VEC_PUSH(&board->keys) = key;
    board->listed[key] = true;
}

static void board_add(struct memory_board *board, const struct memory_query *query,
                      const struct memory_record *record)
{
    const struct calltree *tree = query->records->tree;
    int way = record->bytes < 0 ? FREED : ALLOCATED;
    struct sums sums = { 0 };
    sums.count[way] = record->bytes != 0;
    sums.bytes[way] = llabs(record->bytes);

    uint32_t key = memory_key(query, record);
    list_key(board, key);
    add_sums(&board->self[key], &sums);
    if (query->options->by != MEMORY_BY_OPERATOR) {
        add_sums(&board->total[key], &sums); /* keys do not nest */
        return;
    }
    if (record->owner == EVENT_NONE ||
        record->owner_by_call) /* not in a call of the tree that would add it up */
        add_sums(&board->total[key], &sums);
    node_id parent = tree->parent[record->node];
    if (parent != NODE_NONE)
        add_sums(&board->calls[parent], &sums);
    for (node_id n = parent; n != NODE_NONE && !board->visited[n]; n = tree->parent[n]) {
        board->visited[n] = true;
        *VEC_PUSH(&board->nodes) = n;
    }
}

/* If nearly all calls have records in them, scanning the marks is cheaper than sorting. */
static void sort_nodes(struct memory_board *board)
{
    node_id least = NODE_NONE, greatest = 0;
    for (size_t i = 0; i < board->nodes.count; i++) {
        node_id node = board->nodes.at[i];
        least = node < least ? node : least;
        greatest = node > greatest ? node : greatest;
    }
    if (board->nodes.count == 0)
        return;
    if (greatest - least > 16 * board->nodes.count) {
        SORT_NUMBERS(board->nodes.at, board->nodes.count);
        return;
    }
    size_t count = 0;
    for (node_id node = least; node <= greatest; node++)
        if (board->visited[node])
            board->nodes.at[count++] = node;
}

/* Propagate the totals of calls to their callers and to the totals of names; nested calls of a name count once. */
static void board_sum_up(struct memory_board *board, const struct memory_query *query)
{
    const struct calltree *tree = query->records->tree;
    sort_nodes(board);
    for (size_t i = board->nodes.count; i-- > 0;) {
        node_id n = board->nodes.at[i];
        if (tree->parent[n] != NODE_NONE)
            add_sums(&board->calls[tree->parent[n]], &board->calls[n]);
    }
    const name_id *name = query->trace->name;
    /* callers first; the last iteration empties the stack */
    for (size_t i = 0; i <= board->nodes.count; i++) {
        node_id n = i < board->nodes.count ? board->nodes.at[i] : NODE_NONE;
        node_id parent = n == NODE_NONE ? NODE_NONE : tree->parent[n];
        while (board->stack.count && board->stack.at[board->stack.count - 1] != parent)
            board->open[name[tree->event[board->stack.at[--board->stack.count]]]]--;
        if (n == NODE_NONE)
            break;
        name_id own = name[tree->event[n]];
        if (board->open[own]++ == 0 && !query->is_step[own]) {
            list_key(board, own);
            add_sums(&board->total[own], &board->calls[n]);
        }
        *VEC_PUSH(&board->stack) = n;
    }
}

/* ---- operators ---- */

/* Is the row of KEY selected? Only totals of operators include records that are not selected themselves. */
static bool is_shown(const struct memory_query *query, uint32_t key)
{
    if (query->options->by != MEMORY_BY_OPERATOR)
        return true;
    return key == query->no_operator ? !query->options->filtered
                                     : selection_holds_name(query->selection, key);
}

void memory_add_operators(const struct memory_query *query, struct memory_board *board,
                          const struct memory_device *device)
{
    struct memory_place place = memory_place_of(query, device);
    bool by_operator = query->options->by == MEMORY_BY_OPERATOR;
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        const struct memory_record *record = &query->records->at[i];
        if (memory_is_selected(query, record) && (by_operator || memory_owner_is_selected(query, record)))
            board_add(board, query, record);
    }
    board_sum_up(board, query);
    for (size_t i = 0; i < board->keys.count; i++) {
        uint32_t key = board->keys.at[i];
        if (!is_shown(query, key))
            continue;
        const struct sums *self = &board->self[key], *total = &board->total[key];
        *VEC_PUSH(&query->memory->operators) = (struct memory_operator){
            .place = place,
            .key = memory_key_text(query, key),
            .self_allocated_bytes = self->bytes[ALLOCATED],
            .allocated_bytes = total->bytes[ALLOCATED],
            .self_net_bytes = self->bytes[ALLOCATED] - self->bytes[FREED],
            .net_bytes = total->bytes[ALLOCATED] - total->bytes[FREED],
            .self_allocations = self->count[ALLOCATED],
            .allocations = total->count[ALLOCATED],
            .self_frees = self->count[FREED],
            .self_freed_bytes = self->bytes[FREED],
            .frees = total->count[FREED],
            .freed_bytes = total->bytes[FREED],
        };
    }
    board_clear(board);
}
