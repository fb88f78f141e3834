/* recordings.c - see recordings.h. */
#include "derive/recordings.h"

#include "base/memory.h"
#include "base/sum.h"
#include "trace/derived.h"
#include "trace/span.h"
#include <stdlib.h>
#include <string.h>

/* The process of FILE that has the most events on threads; a track of it, or TRACK_NONE. */
static track_id main_process(const struct trace *trace, uint32_t file)
{
    track_id most = TRACK_NONE;
    uint64_t most_events = 0;
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        if (track->file == file && track->kind == TRACK_THREAD && track->event_count > most_events) {
            most = t;
            most_events = track->event_count;
        }
    }
    return most;
}

static bool recordings_is_after(const struct trace *trace, uint32_t file, uint32_t earlier)
{
    struct interval a = trace_file_span(trace, earlier), b = trace_file_span(trace, file);
    int64_t base_a = trace->files[earlier].has_base ? trace->files[earlier].base_ns : 0;
    int64_t base_b = trace->files[file].has_base ? trace->files[file].base_ns : 0;
    return sum_plus(b.start_ns, base_b) >= sum_plus(a.end_ns, base_a) ||
           sum_plus(a.start_ns, base_a) >= sum_plus(b.end_ns, base_b);
}

static bool are_of_one_process(const struct trace *trace, const track_id *main, uint32_t a, uint32_t b)
{
    const struct trace_file *one = &trace->files[a], *other = &trace->files[b];
    if (one->rank >= 0 || other->rank >= 0 || main[a] == TRACK_NONE || main[b] == TRACK_NONE)
        return false;
    const struct track *track = &trace->tracks[main[a]], *of_other = &trace->tracks[main[b]];
    bool same_host = !one->host_name || !other->host_name || strcmp(one->host_name, other->host_name) == 0;
    return same_host && track->pid == of_other->pid && track->pid_text == of_other->pid_text &&
           recordings_is_after(trace, b, a);
}

/* Is FILE disjoint in time from all files of the process whose first file is FIRST? */
static bool fits(const struct trace *trace, const struct recordings *recordings, const track_id *main,
                 uint32_t first, uint32_t file)
{
    for (uint32_t f = first; f < file; f++)
        if (recordings->first[f] == first && !are_of_one_process(trace, main, f, file))
            return false;
    return true;
}

static void *recordings_derive(const struct trace *trace)
{
    struct recordings *recordings = mem_zalloc(1, sizeof *recordings);
    track_id *main = mem_zalloc(trace->file_count + 1, sizeof *main);
    recordings->first = mem_zalloc(trace->file_count + 1, sizeof *recordings->first);
    recordings->place = mem_zalloc(trace->file_count + 1, sizeof *recordings->place);
    uint32_t places = 0;
    for (uint32_t file = 0; file < trace->file_count; file++) {
        main[file] = trace->files[file].rank < 0 ? main_process(trace, file) : TRACK_NONE;
        uint32_t first = 0;
        while (first < file && (main[file] == TRACK_NONE || recordings->first[first] != first ||
                                !fits(trace, recordings, main, first, file)))
            first++;
        recordings->first[file] = first;
        recordings->place[file] = first < file ? recordings->place[first] : places++;
        recordings->repeats += first < file;
    }
    free(main);
    return recordings;
}

static void recordings_release(void *context)
{
    struct recordings *recordings = context;
    free(recordings->first);
    free(recordings->place);
    free(recordings);
}

const struct recordings *recordings_of(const struct trace *trace)
{
    static const struct derivation derivation = { recordings_derive, recordings_release };
    return trace_derive(trace, &derivation);
}
