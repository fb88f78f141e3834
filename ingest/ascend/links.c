/* links.c - see ascend.h. Operators, and Dequeues, of a thread nest: the innermost one at a moment is found among their
 * starts, and from there outwards by their parents. */
#include "ingest/ascend/ascend.h"

#include "base/rows.h"
#include "base/order.h"
#include "base/search.h"

/* Ranges of all threads, by thread, then by start; of equal starts the longer one first. */
struct ranges_of_threads {
    VEC_OF(uint32_t) host;
    uint32_t *parent; /* a place of HOST; ASCEND_NO_HOST */
};

/* The Enqueues by their correlation. */
struct enqueue {
    int64_t correlation;
    uint32_t host;
};

struct ascend_links {
    const struct ascend_host *hosts;
    struct ranges_of_threads operators, dequeues;
    VEC_OF(struct enqueue) enqueues;
};

/* Is thread A before thread B? 0: it is the same. */
static int compare_threads(const struct ascend_host *a, int64_t pid, int64_t tid)
{
    if (a->pid != pid)
        return a->pid < pid ? -1 : 1;
    return (a->tid > tid) - (a->tid < tid);
}

static void sort_ranges(struct ranges_of_threads *ranges, const struct ascend_host *hosts)
{
    size_t count = ranges->host.count;
    uint64_t *keys = mem_alloc(mem_times(count + 1, sizeof *keys));
    uint32_t *order = order_open(count);
#define BY(key)                                                                                              \
    do {                                                                                                     \
        for (size_t i = 0; i < count; i++)                                                                   \
            keys[i] = (key);                                                                                 \
        order_by(order, count, keys);                                                                        \
    } while (0)
    BY(~order_key(hosts[ranges->host.at[i]].end_ns));
    BY(order_key(hosts[ranges->host.at[i]].start_ns));
    BY(order_key(hosts[ranges->host.at[i]].tid));
    BY(order_key(hosts[ranges->host.at[i]].pid));
#undef BY
    ranges->parent = mem_alloc(mem_times(count + 1, sizeof *ranges->parent));
    for (size_t i = 0; i < count; i++)
        ranges->parent[i] = ranges->host.at[order[i]];
    if (count)
        memcpy(ranges->host.at, ranges->parent, count * sizeof *ranges->parent);
    EACH(free, order, keys);
    for (size_t i = 0; i < count; i++) {
        const struct ascend_host *host = &hosts[ranges->host.at[i]];
        uint32_t at = i ? (uint32_t)i - 1 : ASCEND_NO_HOST;
        if (i && compare_threads(&hosts[ranges->host.at[at]], host->pid, host->tid) != 0)
            at = ASCEND_NO_HOST;
        while (at != ASCEND_NO_HOST && hosts[ranges->host.at[at]].end_ns < host->start_ns)
            at = ranges->parent[at];
        ranges->parent[i] = at;
    }
}

static const struct key by_enqueues[] = { ASC(struct enqueue, correlation), KEY_END };

struct ascend_links *ascend_links_open(const struct ascend_host *hosts, size_t count)
{
    struct ascend_links *links = mem_zalloc(1, sizeof *links);
    links->hosts = hosts;
    for (size_t i = 0; i < count; i++) {
        uint32_t host = (uint32_t)i;
        if (hosts[i].kind == ASCEND_OPERATOR)
            *VEC_PUSH(&links->operators.host) = host;
        else if (hosts[i].kind == ASCEND_DEQUEUE)
            *VEC_PUSH(&links->dequeues.host) = host;
        else if (hosts[i].kind == ASCEND_ENQUEUE && hosts[i].link != RECORDER_NONE)
            *VEC_PUSH(&links->enqueues) = (struct enqueue){ hosts[i].link, host };
    }
    sort_ranges(&links->operators, hosts);
    sort_ranges(&links->dequeues, hosts);
    SORT(&links->enqueues, by_enqueues);
    return links;
}

void ascend_links_free(struct ascend_links *links)
{
    if (!links)
        return;
    EACH(VEC_FREE, &links->operators.host, &links->dequeues.host, &links->enqueues);
    EACH(free, links->operators.parent, links->dequeues.parent, links);
}

/* The innermost of RANGES on a thread at NS, as an index of hosts; ASCEND_NO_HOST. */
static uint32_t innermost(const struct ascend_links *links, const struct ranges_of_threads *ranges,
                          int64_t pid, int64_t tid, int64_t ns)
{
    const struct ascend_host *hosts = links->hosts;
    size_t i = PLACE(k, ranges->host.count,
                     compare_threads(&hosts[ranges->host.at[k]], pid, tid) < 0 ||
                         (compare_threads(&hosts[ranges->host.at[k]], pid, tid) == 0 &&
                          hosts[ranges->host.at[k]].start_ns <= ns));
    uint32_t at = i ? (uint32_t)i - 1 : ASCEND_NO_HOST;
    if (i && compare_threads(&hosts[ranges->host.at[at]], pid, tid) != 0)
        at = ASCEND_NO_HOST;
    while (at != ASCEND_NO_HOST && hosts[ranges->host.at[at]].end_ns < ns)
        at = ranges->parent[at];
    return at == ASCEND_NO_HOST ? at : ranges->host.at[at];
}

struct ascend_link ascend_links_find(const struct ascend_links *links, int64_t pid, int64_t tid, int64_t ns)
{
    struct ascend_link link = { ASCEND_NO_HOST, innermost(links, &links->dequeues, pid, tid, ns), true, ns };
    int64_t correlation = link.dequeue == ASCEND_NO_HOST ? RECORDER_NONE : links->hosts[link.dequeue].link;
    size_t i = PLACE(k, links->enqueues.count, links->enqueues.at[k].correlation < correlation);
    bool is_queued = i < links->enqueues.count && links->enqueues.at[i].correlation == correlation;
    if (is_queued) {
        const struct ascend_host *enqueue = &links->hosts[links->enqueues.at[i].host];
        pid = enqueue->pid;
        tid = enqueue->tid;
        ns = link.issued_ns = enqueue->start_ns;
    }
    link.op = innermost(links, &links->operators, pid, tid, ns);
    return link;
}

void ascend_links_thread(const struct ascend_links *links, name_id name, int64_t ns, int64_t *pid,
                         int64_t *tid)
{
    const struct ascend_host *hosts = links->hosts;
    const struct ranges_of_threads *ranges = &links->operators;
    for (size_t first = 0, end; first < ranges->host.count; first = end) {
        const struct ascend_host *thread = &hosts[ranges->host.at[first]];
        SEARCH_BETWEEN(end, first, ranges->host.count,
                       compare_threads(&hosts[ranges->host.at[end]], thread->pid, thread->tid) == 0);
        size_t i = PLACE_BETWEEN(k, first, end, hosts[ranges->host.at[k]].start_ns <= ns);
        for (uint32_t at = i > first ? (uint32_t)i - 1 : ASCEND_NO_HOST; at != ASCEND_NO_HOST;
             at = ranges->parent[at]) {
            const struct ascend_host *op = &hosts[ranges->host.at[at]];
            if (op->name == name && op->end_ns >= ns) {
                *pid = op->pid;
                *tid = op->tid;
                return;
            }
        }
    }
}
