/* host_state.c - see host_state.h. One pass over the events; names are judged once each. */
#include "facts/host_state.h"

#include "facts/call_names.h"
#include "facts/gpu_names.h"
#include "facts/host_waits.h"
#include "base/memory.h"
#include "facts/communication.h"
#include <stdlib.h>

/* What an operator or annotation holds its thread up by. */
enum hold { HOLD_NOT_ASKED, HOLD_NONE, HOLD_DATA_LOADING, HOLD_COMMUNICATION };

static enum hold hold_of(const struct names *names, uint8_t *holds, name_id id)
{
    if (holds[id] == HOLD_NOT_ASKED) {
        const char *name = names_text(names, id);
        holds[id] = annotation_is_data_loading(name)  ? HOLD_DATA_LOADING
                    : operator_is_communication(name) ? HOLD_COMMUNICATION
                                                      : HOLD_NONE;
    }
    return (enum hold)holds[id];
}

static void add_event(struct host_state *host, const struct trace *trace, const unsigned char *sorts,
                      uint8_t *holds, event_id e)
{
    struct host_thread *thread = &host->threads[trace->track[e]];
    struct intervals *set = NULL;
    switch (trace->kind[e]) {
    case EVENT_RUNTIME:
    case EVENT_DRIVER:
        if (sorts[trace->name[e]] == CALL_ALLOC || sorts[trace->name[e]] == CALL_HOST_ALLOC)
            set = &thread->allocation;
        break;
    case EVENT_OP:
    case EVENT_ANNOTATION:
        switch (hold_of(trace->names, holds, trace->name[e])) {
        case HOLD_DATA_LOADING: set = &thread->data_loading; break;
        case HOLD_COMMUNICATION: set = &thread->communication; break;
        default: break;
        }
        break;
    case EVENT_OVERHEAD: set = &host->overhead[trace->tracks[trace->track[e]].file]; break;
    default: break;
    }
    if (set)
        intervals_add(set, trace->start_ns[e], trace_end_ns(trace, e));
}

static void add_waits(struct host_state *host, const struct trace *trace)
{
    const struct host_waits *waits = host_waits_of(trace);
    for (size_t i = 0; i < waits->count; i++)
        if (waits->at[i].kind != WAIT_PINNING)
            intervals_add(&host->threads[trace->track[waits->at[i].call]].waiting,
                          trace->start_ns[waits->at[i].call], trace_end_ns(trace, waits->at[i].call));
}

struct host_state *host_state_open(const struct trace *trace)
{
    struct host_state *host = mem_zalloc(1, sizeof *host);
    host->thread_count = trace->track_count;
    host->file_count = trace->file_count;
    host->threads = mem_zalloc(trace->track_count + 1, sizeof *host->threads);
    host->overhead = mem_zalloc(trace->file_count + 1, sizeof *host->overhead);
    unsigned char *sorts = call_sorts_open(trace->names);
    uint8_t *holds = mem_zalloc(names_count(trace->names) + 1, 1);
    for (event_id e = 0; e < trace->event_count; e++)
        add_event(host, trace, sorts, holds, e);
    add_waits(host, trace);
    for (size_t i = 0; i < host->thread_count; i++) {
        intervals_merge(&host->threads[i].waiting);
        intervals_merge(&host->threads[i].allocation);
        intervals_merge(&host->threads[i].data_loading);
        intervals_merge(&host->threads[i].communication);
    }
    for (size_t i = 0; i < host->file_count; i++)
        intervals_merge(&host->overhead[i]);
    free(sorts);
    free(holds);
    return host;
}

void host_state_free(struct host_state *host)
{
    if (!host)
        return;
    for (size_t i = 0; i < host->thread_count; i++) {
        intervals_release(&host->threads[i].waiting);
        intervals_release(&host->threads[i].allocation);
        intervals_release(&host->threads[i].data_loading);
        intervals_release(&host->threads[i].communication);
    }
    for (size_t i = 0; i < host->file_count; i++)
        intervals_release(&host->overhead[i]);
    free(host->threads);
    free(host->overhead);
    free(host);
}
