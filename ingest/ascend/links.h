/*
 * links.h - the operator that issued each connection, and when. See ascend.h for the way from task to operator.
 *
 *     struct ascend_links *links = ascend_links_open(hosts, count);
 *     struct ascend_link link = ascend_links_find(links, pid, tid, call_start_ns);
 *     ascend_links_free(links);
 */
#ifndef TPA_INGEST_ASCEND_LINKS_H
#define TPA_INGEST_ASCEND_LINKS_H

#include "ingest/ascend/rows.h"

#define ASCEND_NO_HOST UINT32_MAX

struct ascend_link {
    uint32_t op;       /* index of the operator among the hosts; ASCEND_NO_HOST */
    uint32_t dequeue;  /* index of the Dequeue around the call; ASCEND_NO_HOST */
    bool is_issued;    /* is ISSUED_NS known? */
    int64_t issued_ns; /* the start of the Enqueue, else of the call */
};

struct ascend_links;

/* New; free with ascend_links_free. The COUNT hosts are borrowed. */
struct ascend_links *ascend_links_open(const struct ascend_host *hosts, size_t count);
void ascend_links_free(struct ascend_links *links);

/* The link of what was launched on thread TID of process PID at NS. */
struct ascend_link ascend_links_find(const struct ascend_links *links, int64_t pid, int64_t tid, int64_t ns);

/* Set *PID and *TID to those of the thread on which an operator called NAME ran at NS; unchanged if there is none. */
void ascend_links_thread(const struct ascend_links *links, name_id name, int64_t ns, int64_t *pid,
                         int64_t *tid);

#endif
