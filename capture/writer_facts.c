/* writer_facts.c - metadata in a log; see writer.h. */
#include "capture/writer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool writer_facts_add(struct writer *writer, enum tpafile_kind kind, const int64_t *values)
{
    bool added = tpafile_writer_add(writer->translator.log, kind, values);
    writer->translator.failed |= !added;
    return added;
}

static int64_t writer_facts_text(struct writer *writer, const char *string)
{
    return *string ? tpafile_writer_text(writer->translator.log, string, strlen(string)) : 0;
}

void writer_add_clock(struct writer *writer)
{
    int64_t before = clock_now_ns(), wall = clock_wall_ns(), after = clock_now_ns();
    int64_t now = before + (after - before) / 2;
    int64_t values[TPAFILE_CLOCK_FIELDS_END] = {
        [TPAFILE_CLOCK_TIME] = now,
        [TPAFILE_CLOCK_WALL] = wall,
        [TPAFILE_CLOCK_MONOTONIC] = now,
    };
    writer_facts_add(writer, TPAFILE_CLOCK, values);
}

static int64_t known(long value)
{
    return value < 0 ? TPAFILE_NONE : value;
}

struct facts {
    char executable[PATH_MAX], command[16384], driver[64];
    int64_t start_wall_ns;
};

static void read_facts(void *argument)
{
    struct facts *facts = argument;
    process_executable(facts->executable, sizeof facts->executable);
    process_command(facts->command, sizeof facts->command);
    process_driver_name(facts->driver, sizeof facts->driver);
    facts->start_wall_ns = process_start_wall_ns();
}

void writer_add_process(struct writer *writer)
{
    struct facts facts;
    char host[256], kinds[256] = "";
    own_files_run(&writer->files, read_facts, &facts);
    if (gethostname(host, sizeof host) != 0)
        host[0] = '\0';
    host[sizeof host - 1] = '\0';
    for (unsigned i = 0; i < CAPTURE_KIND_COUNT; i++)
        if (writer->settings->kinds & (UINT32_C(1) << i)) {
            size_t used = strlen(kinds);
            snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? "," : "", capture_kinds[i].word);
        }
    int64_t values[TPAFILE_PROCESS_FIELDS_END] = {
        [TPAFILE_PROCESS_PID] = getpid(),
        [TPAFILE_PROCESS_PARENT] = getppid(),
        [TPAFILE_PROCESS_HOST] = writer_facts_text(writer, host),
        [TPAFILE_PROCESS_EXECUTABLE] = writer_facts_text(writer, facts.executable),
        [TPAFILE_PROCESS_COMMAND] = writer_facts_text(writer, facts.command),
        [TPAFILE_PROCESS_START_WALL] = facts.start_wall_ns,
        [TPAFILE_PROCESS_RANK] = known(writer->settings->rank.rank),
        [TPAFILE_PROCESS_LOCAL_RANK] = known(writer->settings->rank.local_rank),
        [TPAFILE_PROCESS_WORLD_SIZE] = known(writer->settings->rank.world_size),
        [TPAFILE_PROCESS_WRITER] = writer_facts_text(writer, "tpa capture " TPA_VERSION),
        [TPAFILE_PROCESS_DRIVER_VERSION] = writer->recorded_cupti && writer->recorded_cupti->driver_version
                                               ? writer->recorded_cupti->driver_version
                                               : TPAFILE_NONE,
        [TPAFILE_PROCESS_RUNTIME_VERSION] = TPAFILE_NONE,
        [TPAFILE_PROCESS_CUPTI_VERSION] =
            writer->recorded_cupti ? (int64_t)writer->recorded_cupti->version : TPAFILE_NONE,
        [TPAFILE_PROCESS_KINDS] = writer_facts_text(writer, kinds),
        [TPAFILE_PROCESS_DRIVER_NAME] = writer_facts_text(writer, facts.driver),
        [TPAFILE_PROCESS_SUBSCRIBED_BY] =
            writer->recorded_cupti ? writer_facts_text(writer, writer->recorded_cupti->subscribed_by) : 0,
        [TPAFILE_PROCESS_HARDWARE_TIMES] = writer->recorded_cupti ? hardware_is_on() : TPAFILE_NONE,
    };
    writer_facts_add(writer, TPAFILE_PROCESS, values);
}

static void add_window(struct writer *writer, int64_t start_ns, int64_t end_ns, const char *why)
{
    int64_t values[TPAFILE_WINDOW_FIELDS_END] = {
        [TPAFILE_WINDOW_START] = start_ns,
        [TPAFILE_WINDOW_DURATION] = end_ns - start_ns,
        [TPAFILE_WINDOW_WHY] = writer_facts_text(writer, why),
    };
    writer_facts_add(writer, TPAFILE_WINDOW, values);
}

void writer_add_windows(struct writer *writer, int64_t since_ns, const char *ring_why)
{
    struct control_window windows[64];
    size_t most = sizeof windows / sizeof *windows, count = most;
    int64_t now = clock_now_ns();
    while (count == most) {
        count = control_collect_windows(writer->control, windows, most);
        for (size_t i = 0; i < count; i++) {
            int64_t start = windows[i].start_ns > since_ns ? windows[i].start_ns : since_ns;
            int64_t end = windows[i].end_ns == 0 && ring_why ? now : windows[i].end_ns;
            if (end >= start)
                add_window(writer, start, end, ring_why ? ring_why : windows[i].why);
        }
    }
    if (control_lost_windows(writer->control, since_ns))
        notes_add(
            "windows_lost",
            "recording was switched on more than %d times between two writes of the log; the log lacks the "
            "first of these windows",
            CONTROL_MOST_WINDOWS);
}

void writer_add_notes(struct writer *writer)
{
    struct note notes[8];
    size_t count;
    while ((count = notes_collect(notes, sizeof notes / sizeof *notes)) > 0) {
        for (size_t i = 0; i < count; i++) {
            int64_t values[TPAFILE_NOTE_FIELDS_END] = {
                [TPAFILE_NOTE_TIME] = notes[i].time_ns,
                [TPAFILE_NOTE_WORD] = writer_facts_text(writer, notes[i].word),
                [TPAFILE_NOTE_TEXT] = writer_facts_text(writer, notes[i].text),
                [TPAFILE_NOTE_COUNT] = 1,
            };
            writer_facts_add(writer, TPAFILE_NOTE, values);
        }
    }
}

static void add_drop(struct writer *writer, uint64_t count, enum tpafile_dropped_why why, int64_t kind)
{
    if (count == 0)
        return;
    int64_t values[TPAFILE_DROPPED_FIELDS_END] = {
        [TPAFILE_DROPPED_TIME] = clock_now_ns(),
        [TPAFILE_DROPPED_COUNT] = (int64_t)count,
        [TPAFILE_DROPPED_WHY] = why,
        [TPAFILE_DROPPED_KIND] = kind,
    };
    writer->dropped_in_all += (int64_t)count;
    writer_facts_add(writer, TPAFILE_DROPPED, values);
}

void writer_add_drops(struct writer *writer)
{
    /* CUPTI's callback reads this too, but it is not called again once CUPTI gets no more buffers. */
    size_t dropped = 0;
    if (writer->translator.cupti &&
        writer->translator.cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS)
        atomic_fetch_add(&writer->dropped_by_cupti, dropped);
    pthread_mutex_lock(&writer->pool.lock);
    uint64_t refused = writer->pool.refused;
    pthread_mutex_unlock(&writer->pool.lock);
    /* CUPTI counts what it drops when it gets no buffer, and what it drops for reasons of its own. */
    add_drop(writer, atomic_exchange(&writer->dropped_by_cupti, 0),
             refused > writer->recorded_refused ? TPAFILE_DROPPED_BEHIND : TPAFILE_DROPPED_BY_CUPTI,
             TPAFILE_NONE);
    writer->recorded_refused = refused;
    add_drop(writer, atomic_exchange(&writer->dropped_events, 0), TPAFILE_DROPPED_BEHIND, TPAFILE_RANGE);
    add_drop(writer, writer->translator.unknown, TPAFILE_DROPPED_UNKNOWN, TPAFILE_NONE);
    writer->translator.unknown = 0;
}
