#include "trace/flight.h"

#include <ctype.h>

struct flight *flight_open(void)
{
    struct flight *flight = mem_zalloc(1, sizeof *flight);
    flight->texts = names_open();
    flight->op_names = names_open();
    flight->shape_keys = names_open();
    flight->list_keys = names_open();
    flight->list_texts = names_open();
    return flight;
}

void flight_free(struct flight *flight)
{
    if (!flight)
        return;
    EACH(VEC_FREE, &flight->dumps, &flight->entries, &flight->groups, &flight->standings, &flight->unreadable,
         &flight->older, &flight->lists, &flight->ops, &flight->shapes, &flight->list_by_text);
    EACH(names_free, flight->texts, flight->op_names, flight->shape_keys, flight->list_keys,
         flight->list_texts);
    arena_release(&flight->arena);
    free(flight);
}

/* ---- names of operations ---- */

static enum flight_writer writer_of(const char *backend, size_t len)
{
    static const char *const devices[] = { "nccl", "ncclx", "rccl", "xccl", "hccl", "mccl" };
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strlen(devices[i]) == len && strncasecmp(devices[i], backend, len) == 0)
            return FLIGHT_DEVICE;
    return len == 4 && strncasecmp(backend, "gloo", 4) == 0 ? FLIGHT_GLOO : FLIGHT_HOOK;
}

/* The kind of the first word that is part of TEXT: "_reduce_scatter_base" is FLIGHT_REDUCE_SCATTER. */
static enum flight_kind kind_of(const char *text)
{
    static const struct {
        const char *word;
        enum flight_kind kind;
    } words[] = {
        { "all_reduce", FLIGHT_ALL_REDUCE },
        { "allreduce", FLIGHT_ALL_REDUCE },
        { "reduce_scatter", FLIGHT_REDUCE_SCATTER },
        { "all_gather", FLIGHT_ALL_GATHER },
        { "allgather", FLIGHT_ALL_GATHER },
        { "all_to_all", FLIGHT_ALL_TO_ALL },
        { "alltoall", FLIGHT_ALL_TO_ALL },
        { "barrier", FLIGHT_BARRIER },
        { "broadcast", FLIGHT_BROADCAST },
        { "reduce", FLIGHT_REDUCE },
        { "gather", FLIGHT_GATHER },
        { "scatter", FLIGHT_SCATTER },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i].word))
            return words[i].kind;
    return FLIGHT_OTHER;
}

/* The number at AT, which must be followed by LAST, or by the end where LAST is '\0'; *BEHIND: what follows. */
static bool read_place(const char *at, const char *last, const char **behind, uint32_t *place)
{
    uint64_t number = 0;
    const char *digit = at;
    for (; isdigit((unsigned char)*digit); digit++)
        if ((number = number * 10 + (uint64_t)(*digit - '0')) >= FLIGHT_MOST_RANKS)
            return false;
    *behind = digit + strlen(last);
    *place = (uint32_t)number;
    return digit > at && strncmp(digit, last, strlen(last)) == 0;
}

/* "send 0->3", "recv 3<-0": the place of the other rank. */
static uint32_t peer_of(const char *text)
{
    uint32_t own, peer;
    const char *at = text + 5;
    if (strlen(text) < 8 || !read_place(at, text[0] == 's' ? "->" : "<-", &at, &own) ||
        !read_place(at, "", &at, &peer) || *at)
        return FLIGHT_NO_RANK;
    return peer;
}

uint32_t flight_op_of(struct flight *flight, const char *name, size_t len)
{
    name_id id = names_add(flight->op_names, name, len);
    if (id < flight->ops.count)
        return id;
    const char *colon = memrchr(name, ':', len), *at = colon ? colon + 1 : name;
    struct flight_op op = { .peer = FLIGHT_NO_RANK };
    op.text = names_add(flight->texts, at, len - (size_t)(at - name));
    op.writer = writer_of(name, colon ? (size_t)(colon - name) : 0);
    const char *text = names_text(flight->texts, op.text);
    bool with_peer = strlen(text) >= 4 && (text[4] == ' ' || text[4] == '\0');
    op.sends = with_peer && strncmp(text, "send", 4) == 0;
    op.p2p = op.sends || (with_peer && strncmp(text, "recv", 4) == 0);
    if (op.p2p) {
        op.peer = peer_of(text);
    } else {
        op.kind = kind_of(text);
        op.base = strstr(text, "_base") != NULL;
        op.needs_all = op.kind >= FLIGHT_ALL_REDUCE && op.kind <= FLIGHT_BARRIER;
    }
    *VEC_PUSH(&flight->ops) = op;
    return id;
}
