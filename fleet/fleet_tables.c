/* fleet_tables.c - the results for a fleet as tables, and notices about them; see fleet.h. */
#include "fleet/fleet.h"

#include "base/sum.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

/* clang-format off */
static const struct table_column rank_columns[] = {
    COLUMN(struct fleet_rank_row, rank, "rank", "Rank", TABLE_COUNT, "number of the process in the job"),
    COLUMN(struct fleet_rank_row, host, "host", "Host", TABLE_TEXT, "name of its host", .flags = TABLE_IF_ANY),
    COLUMN(struct fleet_rank_row, lacks, "lacks", "Lacks", TABLE_TEXT, "what its trace lacks: the end, parts, records; missing where it is complete", .flags = TABLE_IF_ANY),
    COLUMN(struct fleet_rank_row, caused_ns, "caused", "Others waited", TABLE_NS, "how long other ranks waited in collectives because of it, added up", .aliases = "blame"),
    COLUMN(struct fleet_rank_row, caused_share, "caused_share", "Share", TABLE_SHARE, "of all waiting that is attributed to a rank"),
    COLUMN(struct fleet_rank_row, why, "why", "Grew most", TABLE_TEXT, "what it did longer than the rank in the middle before most of that"),
    COLUMN(struct fleet_rank_row, pattern, "pattern", "Holds up", TABLE_TEXT, "always (nine of ten steps and more), in most steps (half), in some steps"),
    COLUMN(struct fleet_rank_row, bar, "bar", "Time", TABLE_TEXT, "its steps as a picture: computation (full, or #), exposed communication (shaded, or +), exposed copies (half, or =), idle (dots)", .flags = TABLE_PICTURE),
    COLUMN(struct fleet_rank_row, last, "last", "Last", TABLE_COUNT, "collectives that it was the last to reach"),
    COLUMN(struct fleet_rank_row, waited_ns, "waited", "Waited", TABLE_NS, "how long it waited for others"),
    COLUMN(struct fleet_rank_row, step_ns, "step", "Step", TABLE_NS, "median of its complete steps"),
    COLUMN(struct fleet_rank_row, computation_ns, "computation", "Computation", TABLE_NS, "of its complete steps, on all its devices", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, overlapped_ns, "overlapped", "Overlapped", TABLE_NS, "communication while something computed", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, exposed_ns, "exposed", "Exposed", TABLE_NS, "communication while nothing computed", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, copies_ns, "copies", "Copies", TABLE_NS, "copies while nothing computed or communicated", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, idle_ns, "idle", "Idle", TABLE_NS, "the rest; with the three before it adds up to total", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, idle_loading_ns, "idle_loading", "Idle, data", TABLE_NS, "of the idle time: waiting for data", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, idle_host_ns, "idle_host", "Idle, host", TABLE_NS, "of the idle time: before the next launch or in it, data loading aside", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, total_ns, "total", "Total", TABLE_NS, "complete steps, on each of its devices", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, gpu, "gpu", "GPU pace", TABLE_NUMBER, "how long its kernels take against those of the same name on other such devices: 1.05 is 5 % slower"),
    COLUMN(struct fleet_rank_row, gpu_score, "gpu_score", "GPU z", TABLE_NUMBER, "how far that lies out, in standard deviations", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, slow_gpu, "slow_gpu", "Slow GPU", TABLE_BOOL, "3 % slower and more, and 5 standard deviations out", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, gpu_early, "gpu_early", "Early", TABLE_NUMBER, "its computation against the rank in the middle, first third of the steps", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, gpu_late, "gpu_late", "Late", TABLE_NUMBER, "the same, last third: it grows where a clock falls", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, host_pace, "host_pace", "Host pace", TABLE_NUMBER, "the same as GPU pace of operators on the host", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, host_score, "host_score", "Host z", TABLE_NUMBER, "how far that lies out", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, slow_host, "slow_host", "Slow host", TABLE_BOOL, "10 % slower and more, and 5 standard deviations out", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, cost_ns, "cost", "Cost", TABLE_NS, "what the job would gain had it come as the rank before it", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, caused_by_ns[CAUSE_COMPUTATION], "caused_computation", "By computation", TABLE_NS, "of the waiting for it: computation had grown most", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, caused_by_ns[CAUSE_COMMUNICATION], "caused_communication", "By communication", TABLE_NS, "other communication had", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, caused_by_ns[CAUSE_COPIES], "caused_copies", "By copies", TABLE_NS, "copies had", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, caused_by_ns[CAUSE_LOADING], "caused_loading", "By data loading", TABLE_NS, "idle time for data had", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, caused_by_ns[CAUSE_HOST], "caused_host", "By the host", TABLE_NS, "other idle time had", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, caused_by_ns[FLEET_CAUSES], "caused_unknown", "Not known why", TABLE_NS, "the rest of the waiting for it", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, steps_held_up, "steps_held_up", "Steps held up", TABLE_COUNT, "steps in which it caused the most waiting", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, in_a_row, "in_a_row", "In a row", TABLE_COUNT, "the most of these one after the other", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, collectives, "collectives", "Collectives", TABLE_TALLY, "recorded on it", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, steps, "steps", "Steps", TABLE_COUNT, "complete steps", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, recordings, "recordings", "Recordings", TABLE_COUNT, "traces that are of it", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, clock_ns, "clock", "Clock", TABLE_NS, "how far its clock is ahead of that of the first rank", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, clock_error_ns, "clock_error", "Clock +-", TABLE_NS, "median absolute deviation of the ends it was computed from", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, drift, "drift", "Drift", TABLE_NUMBER, "by which its clock gains, in parts per million; 0 unless it is sure", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, anchors, "anchors", "Anchors", TABLE_COUNT, "ends of collectives that its clock was set by", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, clock_sure, "clock_sure", "Sure", TABLE_BOOL, "3 ends and more, and less than 1 ms of error", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, peak_bytes, "peak", "Peak memory", TABLE_BYTES, "most bytes in use on one of its devices", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, differing, "differing", "Differing", TABLE_COUNT, "kernels that it runs more or less often than most ranks", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, differs, "differs", "Differs in", TABLE_NAME, "the one with the most time among these", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, device, "device", "Device", TABLE_TEXT, "model of its first device", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_rank_row, file, "file", "File", TABLE_TEXT, "name of its trace", .flags = TABLE_OPTIONAL),
};

static const struct table_column step_columns[] = {
    COLUMN(struct fleet_step_row, step, "step", "Step", TABLE_COUNT, "its number; missing where no steps are marked"),
    COLUMN(struct fleet_step_row, ranks, "ranks", "Ranks", TABLE_COUNT, "that recorded all of it"),
    COLUMN(struct fleet_step_row, median_ns, "median", "Median", TABLE_NS, "duration on the rank in the middle"),
    COLUMN(struct fleet_step_row, min_ns, "min", "Min", TABLE_NS, "shortest duration on a rank"),
    COLUMN(struct fleet_step_row, max_ns, "max", "Max", TABLE_NS, "longest"),
    COLUMN(struct fleet_step_row, spread, "spread", "Spread", TABLE_SHARE, "longest less shortest, over the median"),
    COLUMN(struct fleet_step_row, slowest, "slowest", "Slowest", TABLE_COUNT, "the rank with the longest"),
    COLUMN(struct fleet_step_row, waited_ns, "waited", "Waited", TABLE_NS, "in its collectives, for ranks that were last"),
    COLUMN(struct fleet_step_row, blamed, "blamed", "Held up by", TABLE_COUNT, "the rank for which others waited most"),
    COLUMN(struct fleet_step_row, blamed_share, "blamed_share", "Share", TABLE_SHARE, "of the waiting, for this rank"),
    COLUMN(struct fleet_step_row, why, "why", "Grew most", TABLE_TEXT, "what that rank did longer than the rank in the middle"),
};

static const struct table_column collective_columns[] = {
    COLUMN(struct fleet_collective_row, kind, "collective", "Collective", TABLE_NAME, "what was done"),
    COLUMN(struct fleet_collective_row, group, "group", "Group", TABLE_TEXT, "process group"),
    COLUMN(struct fleet_collective_row, number, "number", "Number", TABLE_COUNT, "its number in the group, else the how many-th of its kind in the step"),
    COLUMN(struct fleet_collective_row, step, "step", "Step", TABLE_COUNT, "in which most ranks issued it"),
    COLUMN(struct fleet_collective_row, bytes, "size", "Size", TABLE_BYTES, "as NCCL's tests count it"),
    COLUMN(struct fleet_collective_row, ranks, "ranks", "Ranks", TABLE_COUNT, "devices on which it was found"),
    COLUMN(struct fleet_collective_row, last, "last", "Last", TABLE_COUNT, "the rank that arrived last"),
    COLUMN(struct fleet_collective_row, first, "first", "First", TABLE_COUNT, "the rank that arrived first"),
    COLUMN(struct fleet_collective_row, blamed, "blamed", "Held up by", TABLE_COUNT, "the rank that made the last late: itself, or the one that it had waited for before", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, late_ns, "late", "Late", TABLE_NS, "from the arrival of the first to that of the last, on corrected clocks"),
    COLUMN(struct fleet_collective_row, sure, "sure", "Sure", TABLE_BOOL, "late by more than clocks and ends leave in doubt"),
    COLUMN(struct fleet_collective_row, waited_ns, "waited", "Waited", TABLE_NS, "by all ranks, added up"),
    COLUMN(struct fleet_collective_row, transfer_ns, "transfer", "Transfer", TABLE_NS, "duration on the last rank"),
    COLUMN(struct fleet_collective_row, why, "why", "Grew most", TABLE_TEXT, "what the last rank did longer than the rank in the middle since they met before"),
    COLUMN(struct fleet_collective_row, cost_ns, "cost", "Cost", TABLE_NS, "had the last come as the one before it", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, start_ns, "start", "Start", TABLE_MOMENT, "of the last, from the first collective of all", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, by_clock, "by_clock", "By clock", TABLE_BOOL, "else by durations: the shortest is that of the last", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, last_device, "last_device", "Device", TABLE_COUNT, "of the last", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, grew_ns[CAUSE_COMPUTATION], "grew_computation", "Computation +", TABLE_NS, "what the last computed longer than the rank in the middle", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, grew_ns[CAUSE_COMMUNICATION], "grew_communication", "Communication +", TABLE_NS, "other exposed communication", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, grew_ns[CAUSE_COPIES], "grew_copies", "Copies +", TABLE_NS, "exposed copies", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, grew_ns[CAUSE_LOADING], "grew_loading", "Data loading +", TABLE_NS, "idle for data", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, grew_ns[CAUSE_HOST], "grew_host", "Host +", TABLE_NS, "idle for other reasons", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_collective_row, carried_ns, "carried", "Before", TABLE_NS, "the rest of late: from before, and by which the first was early", .flags = TABLE_OPTIONAL),
};

static const struct table_column group_columns[] = {
    COLUMN(struct fleet_group_row, group, "group", "Group", TABLE_NAME, "what the process groups are for, else the name of the group"),
    COLUMN(struct fleet_group_row, groups, "groups", "Groups", TABLE_COUNT, "process groups of that purpose"),
    COLUMN(struct fleet_group_row, ranks, "ranks", "Ranks", TABLE_COUNT, "ranks in them"),
    COLUMN(struct fleet_group_row, count, "count", "Collectives", TABLE_TALLY, "collectives, on each rank"),
    COLUMN(struct fleet_group_row, bytes, "bytes", "Bytes", TABLE_BYTES, "their sizes added up, where known"),
    COLUMN(struct fleet_group_row, exposed_ns, "exposed", "Exposed", TABLE_NS, "time in which nothing computed on the device, over all ranks"),
    COLUMN(struct fleet_group_row, time_ns, "time", "Time", TABLE_NS, "durations over all ranks: waited and transfer"),
    COLUMN(struct fleet_group_row, waited_ns, "waited", "Waited", TABLE_NS, "of that, for the last rank, where it was found on several"),
    COLUMN(struct fleet_group_row, transfer_ns, "transfer", "Transfer", TABLE_NS, "the rest, where it was found on several"),
};

static const struct table_column host_columns[] = {
    COLUMN(struct fleet_host_row, host, "host", "Host", TABLE_NAME, "name of the host"),
    COLUMN(struct fleet_host_row, ranks, "ranks", "Ranks", TABLE_COUNT, "ranks on it"),
    COLUMN(struct fleet_host_row, caused_ns, "caused", "Others waited", TABLE_NS, "for its ranks", .aliases = "blame"),
    COLUMN(struct fleet_host_row, caused_share, "caused_share", "Share", TABLE_SHARE, "of all waiting that is attributed to a rank"),
    COLUMN(struct fleet_host_row, waited_ns, "waited", "Waited", TABLE_NS, "by its ranks"),
    COLUMN(struct fleet_host_row, gpu, "gpu", "GPU pace", TABLE_NUMBER, "of the device in the middle"),
    COLUMN(struct fleet_host_row, host_pace, "host_pace", "Host pace", TABLE_NUMBER, "of the rank in the middle: operators against those of the same name on other ranks"),
    COLUMN(struct fleet_host_row, slow, "slow", "Slow", TABLE_BOOL, "more than half of its ranks are slow on the host"),
};

static const struct table_column link_columns[] = {
    COLUMN(struct fleet_link_row, group, "group", "Group", TABLE_NAME, "process group; of sends and receives who to whom"),
    COLUMN(struct fleet_link_row, hosts, "hosts", "Hosts", TABLE_TEXT, "hosts of its ranks", .flags = TABLE_IF_ANY),
    COLUMN(struct fleet_link_row, kind, "collective", "Collective", TABLE_TEXT, "what was done"),
    COLUMN(struct fleet_link_row, bytes, "size", "Size", TABLE_BYTES, "of one"),
    COLUMN(struct fleet_link_row, ranks, "ranks", "Ranks", TABLE_COUNT, "that took part"),
    COLUMN(struct fleet_link_row, count, "count", "Collectives", TABLE_TALLY, "how many"),
    COLUMN(struct fleet_link_row, transfer_ns, "transfer", "Transfer", TABLE_NS, "median duration on the last rank to arrive"),
    COLUMN(struct fleet_link_row, bandwidth, "bus_bandwidth", "Bus GB/s", TABLE_RATE, "as in NCCL's tests"),
    COLUMN(struct fleet_link_row, against, "against", "Against", TABLE_NUMBER, "transfer against that of the group in the middle: 1.5 is 50 % slower"),
    COLUMN(struct fleet_link_row, score, "score", "z", TABLE_NUMBER, "how far that lies out, in standard deviations", .flags = TABLE_OPTIONAL),
    COLUMN(struct fleet_link_row, slow, "slow", "Slow", TABLE_BOOL, "25 % slower and more, 5 standard deviations out, of 4 groups and more"),
};

static const struct table_column waste_columns[] = {
    COLUMN(struct fleet_waste_row, what, "what", "Devices' time without computation", TABLE_NAME, "what it went into"),
    COLUMN(struct fleet_waste_row, time_ns, "time", "Time", TABLE_NS, "of all devices, in complete steps"),
    COLUMN(struct fleet_waste_row, share, "share", "Share", TABLE_SHARE, "of the time of the devices"),
    COLUMN(struct fleet_waste_row, hours, "device_hours", "Device hours per hour", TABLE_NUMBER, "what an hour of these devices loses to it"),
};

static const struct table_column heat_columns[] = {
    COLUMN(struct fleet_heat_row, ranks, "ranks", "Ranks", TABLE_NAME, "one, or neighbours"),
    COLUMN(struct fleet_heat_row, steps, "steps", "Steps", TABLE_TEXT, "a sign for a step: its time without exposed communication, against the rank in the middle; less than 2 % above it (dot), 5 %, 10 %, 25 % (darker and darker, or : + *), or more (full, or #)", .flags = TABLE_PICTURE),
    COLUMN(struct fleet_heat_row, longest_ns, "longest", "Longest step", TABLE_NS, "of these ranks"),
};

static const struct table_column left_out_columns[] = {
    COLUMN(struct fleet_left_out_row, rank, "rank", "Rank", TABLE_COUNT, "as recorded"),
    COLUMN(struct fleet_left_out_row, file, "file", "File", TABLE_NAME, "name of the trace"),
    COLUMN(struct fleet_left_out_row, reason, "reason", "Left out because", TABLE_TEXT, "why it counts for nothing"),
};
/* clang-format on */

/* ---- the first sentence ---- */

static void append_share(struct buffer *out, double share)
{
    buffer_printf(out, "%.3g %%", 100 * share);
}

#define WORTH_A_FINDING 0.02 /* of the time of all devices */

/* The time of all devices in complete steps; without devices that of all ranks in steps. 0: not known. */
static double whole_time_of(const struct fleet *fleet)
{
    double whole_ns = (double)fleet->total_ns;
    for (size_t i = 0; i < fleet->steps.count && fleet->total_ns <= 0; i++)
        if (fleet->steps.at[i].median_ns > 0)
            whole_ns += (double)fleet->steps.at[i].median_ns * (double)fleet->steps.at[i].ranks;
    return whole_ns;
}

/* The share of that time that waiting in collectives takes; 0: not known. */
static double waiting_share_of(const struct fleet *fleet)
{
    double whole_ns = whole_time_of(fleet);
    return whole_ns > 0 ? (double)fleet->waited_ns / whole_ns : 0;
}

/* Is a rank known for which others wait, for longer than is worth a finding? */
static bool is_held_up(const struct fleet *fleet)
{
    return fleet->meetings.count && fleet->ranks.count && fleet->ranks.at[0].caused_ns > 0 &&
           fleet->blamed_ns != 0 && (whole_time_of(fleet) <= 0 || waiting_share_of(fleet) >= WORTH_A_FINDING);
}

/* Do others wait for a second rank for at least two thirds of the time for which they wait for the first? */
static bool is_one_of_several(const struct fleet *fleet)
{
    return fleet->ranks.count > 1 && fleet->ranks.at[1].caused_ns / 2 >= fleet->ranks.at[0].caused_ns / 3;
}

/* ", always; its data loading takes longer" */
static void append_reason(const struct fleet_rank_row *row, bool of_steps, struct buffer *out)
{
    if (row->pattern.at)
        buffer_printf(out, ", %s",
                      of_steps && strcmp(row->pattern.at, "always") == 0 ? "in every step" : row->pattern.at);
    if (row->slow_gpu && row->why.at && row->caused_by_ns[CAUSE_COMPUTATION] * 2 > row->caused_ns)
        buffer_printf(out, "; its GPU takes %.3g %% longer for the same kernels", 100 * (row->gpu - 1));
    else if (row->why.at)
        buffer_printf(out, "; its %s takes longer", row->why.at);
}

/* What the ranks that others wait for do longer, by the waiting for them; NULL: is not known. */
static const char *cause_of_all(const struct fleet *fleet)
{
    int64_t sums_ns[FLEET_CAUSES] = { 0 };
    enum fleet_cause most = 0;
    for (size_t i = 0; i < fleet->ranks.count; i++)
        for (int c = 0; c < FLEET_CAUSES; c++)
            sum_add(&sums_ns[c], fleet->ranks.at[i].caused_by_ns[c]);
    for (int c = 1; c < FLEET_CAUSES; c++)
        most = sums_ns[c] > sums_ns[most] ? (enum fleet_cause)c : most;
    return sums_ns[most] > 0 ? fleet_cause_name(most) : NULL;
}

/* SUBJECT: "Ranks" or "ranks". "Ranks take turns: no rank is slower than the rest, but in each step all wait for the last, whose computation takes longer" */
static void append_turns(const struct fleet *fleet, const char *subject, struct buffer *out)
{
    const char *cause = cause_of_all(fleet);
    buffer_printf(out,
                  "%s take turns: no rank is slower than the rest, but all wait for the last of each step",
                  subject);
    if (cause)
        buffer_printf(out, ", whose %s takes longer", cause);
}

/* Without marked steps each recording is one. */
static bool has_marked_steps(const struct fleet *fleet)
{
    return ANY(i, fleet->steps.count, fleet->steps.at[i].step != FACTS_MISSING);
}

/* Do all wait far longer for ranks that are not here than for those that are? */
static bool waits_outside(const struct fleet *fleet)
{
    enum { FAR = 2 };
    return fleet->meetings.outside_ns / FAR > fleet->waited_ns;
}

/* "rank 6, which is not here (2 of 8 ranks are), for 63.9 % of the time" */
static void append_outside(const struct fleet *fleet, struct buffer *out)
{
    const struct fleet_meetings *meetings = &fleet->meetings;
    double whole_ns = whole_time_of(fleet),
           share = whole_ns > 0 ? (double)meetings->outside_ns / whole_ns : 0;
    if (meetings->outside_rank < 0)
        buffer_puts(out, "ranks that are not here");
    else if (meetings->outside_size > 0)
        buffer_printf(out, "rank %" PRId64 ", which is not here (%" PRId64 " of %" PRId64 " ranks are)",
                      meetings->outside_rank, fleet->job.ranks, meetings->outside_size);
    else
        buffer_printf(out, "rank %" PRId64 ", which is not here", meetings->outside_rank);
    if (share <= 0 || share > 1)
        return;
    buffer_puts(out, ", for ");
    append_share(out, share);
    buffer_puts(out, " of the time");
}

static void append_who(const struct fleet *fleet, struct buffer *out)
{
    const struct fleet_rank_row *row = fleet->ranks.count ? &fleet->ranks.at[0] : NULL;
    const char *nobody = fleet->job.missing_count ? "none of these ranks" : "no rank";
    if (fleet->meetings.count == 0) {
        buffer_puts(out,
                    fleet->job.ranks == 1
                        ? "the recordings of all ranks would tell whether they wait for one another"
                        : "no collective was found on several ranks, so nobody is known to hold them up");
        if (fleet->job.ranks > 1 && has_marked_steps(fleet))
            buffer_puts(out, "; tpa job looks at the pipeline, if they form one");
        return;
    }
    if (fleet->messages && (!row || row->caused_ns == 0 || fleet->blamed_ns == 0)) {
        buffer_puts(out, "in collectives no rank was found that others of its stage wait for");
        return;
    }
    if ((!row || row->caused_ns == 0 || fleet->blamed_ns == 0) && !waits_outside(fleet)) {
        buffer_printf(out, "%s holds the others up by more than the clocks leave in doubt", nobody);
        return;
    }
    double waited = waiting_share_of(fleet);
    if (!is_held_up(fleet) && waits_outside(fleet)) {
        buffer_printf(out, "%s holds the others up: all wait for ", nobody);
        append_outside(fleet, out);
        return;
    }
    if (!is_held_up(fleet)) {
        buffer_printf(out, "%s holds the others up by much: waiting for others takes ", nobody);
        append_share(out, waited);
        buffer_printf(out, " of the time, most of it for rank %" PRId64, row->rank);
        return;
    }
    if (fleet->in_turn) {
        append_turns(fleet, "ranks", out);
        if (waited > 0) {
            buffer_puts(out, ": ");
            append_share(out, waited);
            buffer_puts(out, " of the time");
        }
        return;
    }
    buffer_puts(out, is_one_of_several(fleet) ? "others wait for several ranks, most for "
                                              : "others wait most for ");
    buffer_printf(out, "rank %" PRId64, row->rank);
    if (row->host.at)
        buffer_printf(out, " (%s)", row->host.at);
    buffer_puts(out, ": ");
    append_share(out, row->caused_share);
    buffer_puts(out, " of the waiting");
    if (waited > 0) {
        buffer_puts(out, ", which takes ");
        append_share(out, waited);
        buffer_puts(out, " of the time");
    }
    append_reason(row, false, out);
}

static void notice_first(const struct fleet *fleet, struct result *result)
{
    SCOPED struct buffer out = { 0 };
    buffer_printf(&out, "%" PRId64 " rank%s", fleet->job.ranks, fleet->job.ranks == 1 ? "" : "s");
    if (fleet->step_ns != FACTS_MISSING) {
        buffer_puts(&out, has_marked_steps(fleet) ? ": the median step takes "
                                                  : ": no steps are marked, and a recording takes ");
        quantity_append_rounded_time(&out, (double)fleet->step_ns);
    }
    int64_t known_ns = fleet->total_ns - fleet->unrecorded_ns;
    if (known_ns > 0) {
        buffer_puts(&out, ", and the devices compute for ");
        append_share(&out, (double)fleet->computation_ns / (double)known_ns);
        buffer_puts(&out, " of the time");
    }
    buffer_puts(&out, "; ");
    append_who(fleet, &out);
    if (fleet->messages)
        buffer_puts(&out, "; tpa job looks at the pipeline");
    ADD_NOTICE(result, "fleet", fleet->job.ranks, "%s", out.at);
    result_make_clause(result);
}

/* ---- the first screen ---- */

/* Of WAITED_NS, how long each of the others waited in each of STEPS; 0: there is none. */
static int64_t each_wait_ns(const struct fleet *fleet, int64_t waited_ns, int64_t steps)
{
    int64_t others = (int64_t)fleet->ranks.count - 1;
    return steps > 0 && others > 0 ? waited_ns / steps / others : 0;
}

/* "Rank 9 (node1) holds the job up: the others wait for it, 3.268ms of a step each; its data loading takes longer". STEPS: 0, there
 * are none. */
static void append_blame(const struct fleet *fleet, int64_t steps, struct buffer *out)
{
    const struct fleet_rank_row *row = &fleet->ranks.at[0];
    buffer_printf(out, "Rank %" PRId64, row->rank);
    if (row->host.at)
        buffer_printf(out, " (%s)", row->host.at);
    buffer_puts(out, " holds the job up: ");
    int64_t each_ns = each_wait_ns(fleet, row->caused_ns, steps);
    if (each_ns) {
        bool one = fleet->ranks.count == 2;
        buffer_puts(out, one ? "the other waits for it, " : "the others wait for it, ");
        quantity_append_rounded_time(out, (double)each_ns);
        buffer_puts(out, one ? " of a step" : " of a step each");
    } else {
        append_share(out, row->caused_share);
        buffer_puts(out, " of what others wait is for this rank");
    }
    append_reason(row, steps != 0, out);
}

/* WHO is the headline, unless another change than one to the ranks saves far more: then it stands below that. */
static void say_who(struct answer *answer, const char *who, struct arena *texts)
{
    size_t at = 0;
    while (at < answer->findings.count && !answer->findings.at[at].of_ranks)
        at++;
    bool first = answer->findings.count == 0 || answer->findings.at[0].saves_ns == 0 ||
                 (at < answer->findings.count &&
                  2 * answer->findings.at[at].saves_ns >= answer->findings.at[0].saves_ns);
    if (!first && answer->headline) {
        answer->because = arena_printf(texts, "%s.", who);
        return;
    }
    answer->headline = arena_printf(texts, "%s.", who);
    const char *verdict = answer->verdict ? answer->verdict : "",
               *others = strstr(verdict, "; the others wait "),
               *wait = others ? others : strstr(verdict, "; ranks take turns"),
               *rest = wait ? strchr(wait + 2, ';') : NULL;
    answer->because = at > 0 && at < answer->findings.count
                          ? arena_printf(texts, "Change %zu evens that out; change 1 saves more.", at + 1)
                      : wait && rest /* which is said above */
                          ? arena_printf(texts, "%.*s%s", (int)(wait - verdict), verdict, rest)
                          : NULL; /* of the verdict below it */
}

void fleet_add_answer(const struct fleet *fleet, struct answer *answer, struct arena *texts)
{
    enum { MOST = 5 };
    const double least = 0.05;
    struct answer_culprit others = { 0 };
    struct buffer who = { 0 };
    size_t count = 0;
    int64_t steps = has_marked_steps(fleet) ? (int64_t)fleet->steps.count : 0;
    if (!is_held_up(fleet))
        return;
    if (fleet->in_turn) {
        append_turns(fleet, "Ranks", &who);
        if (steps) {
            buffer_printf(&who, ": %s of a step",
                          TIME_TEXT((double)fleet->waited_ns / (double)steps / (double)fleet->ranks.count));
        }
    } else
        append_blame(fleet, steps, &who);
    say_who(answer, arena_strndup(texts, who.at, who.count), texts);
    buffer_release(&who);
    FOR_EACH(row, &fleet->ranks) {
        struct answer_culprit culprit = {
            .who = arena_printf(texts, "rank %" PRId64, row->rank),
            .host = row->host.at,
            .grew = row->why.at,
            .habit = row->pattern.at,
            .waited_ns = row->caused_ns,
            .each_ns = each_wait_ns(fleet, row->caused_ns, steps),
            .share = row->caused_share,
        };
        if (answer->culprits.count < MOST && row->caused_share >= least) {
            *VEC_PUSH(&answer->culprits) = culprit;
            continue;
        }
        count++;
        others.waited_ns += row->caused_ns;
        others.share += isfinite(row->caused_share) ? row->caused_share : 0;
    }
    others.who = arena_printf(texts, "%zu other%s", count, count > 1 ? "s" : "");
    others.each_ns = each_wait_ns(fleet, others.waited_ns, steps);
    if (count)
        *VEC_PUSH(&answer->culprits) = others;
}

static const char *fleet_time_text(int64_t ns, struct arena *texts)
{
    return arena_printf(texts, "%s", TIME_TEXT(ns));
}

static void add_fact(struct answer *answer, const char *label, const char *text)
{
    if (text && *text)
        *VEC_PUSH(&answer->facts) = (struct answer_fact){ label, text };
}

/* "node0"; "2: node0, node1"; "5: node0, node1 and 3 more", in order of names; NULL: none is known. */
static const char *hosts_text(const struct fleet *fleet, struct arena *texts)
{
    enum { MOST_SHOWN = 2 };
    size_t count = fleet->hosts.count, shown = 0;
    SCOPED struct buffer text = { 0 };
    const char *last = "";
    if (count > 1)
        buffer_printf(&text, "%zu: ", count);
    while (shown < count && shown < MOST_SHOWN) {
        const char *next = NULL;
        for (size_t i = 0; i < count; i++) {
            const char *host = fleet->hosts.at[i].host.at;
            if (strcmp(host, last) > 0 && (!next || strcmp(host, next) < 0))
                next = host;
        }
        if (!next)
            break;
        buffer_printf(&text, "%s%s", shown++ ? ", " : "", next);
        last = next;
    }
    if (count > shown)
        buffer_printf(&text, " and %zu more", count - shown);
    return count ? arena_strndup(texts, text.at, text.count) : NULL;
}

/* "15 x NVIDIA A100": the devices of ranks that record a model, if it is the same; NULL: none does. */
static const char *devices_text(const struct fleet *fleet, struct arena *texts)
{
    size_t count = 0, others = 0;
    const char *model = NULL;
    for (size_t i = 0; i < fleet->ranks.count; i++) {
        const char *device = fleet->ranks.at[i].device.at;
        model = model ? model : device;
        count += device != NULL;
        others += device && strcmp(device, model) != 0;
    }
    return !model       ? NULL
           : others     ? arena_printf(texts, "%zu, %s and others", count, model)
           : count == 1 ? model
                        : arena_printf(texts, "%zu x %s", count, model);
}

/* What ran, as far as facts of ranks tell: they do not know the program. */
static void fleet_add_facts(const struct fleet *fleet, struct answer *answer, struct arena *texts)
{
    const struct facts *facts = fleet->job.facts;
    const struct facts_recording *first =
        fleet->job.members.count ? fleet->job.members.at[0].recording : NULL;
    bool missing = fleet->job.world_size > fleet->job.ranks;
    add_fact(answer, "Program", "not recorded");
    add_fact(answer, "Devices", devices_text(fleet, texts));
    add_fact(answer, fleet->hosts.count > 1 ? "Hosts" : "Host", hosts_text(fleet, texts));
    if (first)
        add_fact(answer, "Backend", fleet_text(facts, first->backend).at);
    if (first)
        add_fact(answer, "Written by", fleet_text(facts, first->producer).at);
    add_fact(answer, "Ranks",
             missing ? arena_printf(texts, "%" PRId64 " of %" PRId64 " recorded", fleet->job.ranks,
                                    fleet->job.world_size)
                     : arena_printf(texts, "%" PRId64, fleet->job.ranks));
}

void fleet_add_findings(const struct fleet *fleet, struct answer *answer, struct arena *texts)
{
    fleet_add_facts(fleet, answer, texts);
    if (fleet->step_ns != FACTS_MISSING)
        *VEC_PUSH(&answer->facts) =
            (struct answer_fact){ has_marked_steps(fleet) ? "Median step" : "Recorded",
                                  fleet_time_text(fleet->step_ns, texts) };
    if (fleet->in_turn && answer->culprits.count) {
        const char *cause = cause_of_all(fleet);
        *VEC_PUSH(&answer->findings) = (struct answer_finding){
            .title = "ranks wait for one another in turn",
            .action = cause ? arena_printf(texts, "Make the %s of all ranks equally long in each step", cause)
                            : "Give all ranks equally long work in each step",
            .advice =
                "no rank is slower than the rest: batches of one length, the same work on all; the table of steps names the last of each",
            .saves =
                arena_printf(texts, "ranks wait %s, all added up", fleet_time_text(fleet->waited_ns, texts)),
            .command = "tpa summary",
            .section = "steps",
        };
        return;
    }
    for (size_t i = 0; i < answer->culprits.count && i < fleet->ranks.count; i++) {
        const struct fleet_rank_row *row = &fleet->ranks.at[i];
        const struct answer_culprit *culprit = &answer->culprits.at[i];
        if (!culprit->grew && !culprit->host)
            continue; /* the others */
        const char *host = culprit->host ? arena_printf(texts, " (%s)", culprit->host) : "";
        *VEC_PUSH(&answer->findings) = (struct answer_finding){
            .title = "others wait for it",
            .action = arena_printf(texts, "Look at the %s of %s%s", culprit->grew ? culprit->grew : "work",
                                   culprit->who, host),
            .where = row->pattern.at,
            .advice = "its own timeline and findings show what took longer there",
            .saves = culprit->each_ns ? arena_printf(texts, "%s %s of a step for it",
                                                     fleet->ranks.count == 2 ? "the other rank waits"
                                                                             : "each of the others waits",
                                                     fleet_time_text(culprit->each_ns, texts))
                                      : arena_printf(texts, "others wait %s for it",
                                                     fleet_time_text(culprit->waited_ns, texts)),
            .command = arena_printf(texts, "tpa summary --rank %" PRId64, row->rank),
            .section = "ranks",
        };
    }
}

/* ---- notices ---- */

/* A list shortened to the first few items: "4, 9 and 3 more". */
struct few {
    struct buffer text;
    int64_t count;
};

TPA_PRINTF(2, 3) static void add_few(struct few *few, const char *fmt, ...)
{
    enum { MOST_SHOWN = 4 };
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (few->count++ < MOST_SHOWN)
        buffer_printf(&few->text, "%s%s", few->count > 1 ? ", " : "", text);
}

static void notice_few(struct few *few, struct result *result, const char *kind, const char *what)
{
    enum { MOST_SHOWN = 4 };
    if (few->count > MOST_SHOWN)
        buffer_printf(&few->text, " and %" PRId64 " more", few->count - MOST_SHOWN);
    if (few->count)
        ADD_NOTICE(result, kind, few->count, "%s: %s", what, few->text.at);
    buffer_release(&few->text);
}

void fleet_notice_missing(const struct fleet_job *job, const char *so, struct result *result)
{
    enum { MOST_SHOWN = 4 };
    if (job->missing_count == 0)
        return;
    SCOPED struct buffer out = { 0 };
    for (size_t i = 0; i < job->missing.count && i < MOST_SHOWN; i++) {
        const struct fleet_range *range = &job->missing.at[i];
        buffer_printf(&out, range->first < range->last ? "%s%" PRId64 "..%" PRId64 : "%s%" PRId64,
                      i ? ", " : "", range->first, range->last);
    }
    if (job->missing.count > MOST_SHOWN)
        buffer_puts(&out, " and more");
    ADD_NOTICE(result, "missing_ranks", job->missing_count,
               "%" PRId64 " of %" PRId64 " ranks %s here; missing: %s%s",
               job->world_size - job->missing_count, job->world_size,
               job->world_size - job->missing_count == 1 ? "is" : "are", out.at, so);
}

/* The text of the first notice about MEMBER whose kind is WORD; NULL if there is none. */
static const char *find_facts_notice(const struct facts *facts, const struct fleet_member *member,
                                     const char *word)
{
    const struct facts_notice *all = facts_rows(facts, FACTS_NOTICES);
    for (size_t i = 0; i < member->count[FACTS_NOTICES]; i++) {
        const struct facts_notice *notice = &all[member->first[FACTS_NOTICES] + i];
        if (notice->kind != NAME_NONE && strcmp(names_text(facts->texts, notice->kind), word) == 0)
            return notice->text == NAME_NONE ? "" : names_text(facts->texts, notice->text);
    }
    return NULL;
}

/* For each lack, the ranks that have it; last those of which only that they lack something is known. */
void fleet_notice_lacks(const struct fleet_job *job, struct result *result)
{
    const struct facts *facts = job->facts;
    SCOPED bool *known = mem_zalloc(job->members.count + 1, sizeof *known);
    SCOPED struct buffer of_steps = { 0 };
    for (int lack = 0; lack <= LACK_COUNT; lack++) {
        struct few few = { 0 };
        for (size_t m = 0; m < job->members.count; m++) {
            const struct fleet_member *member = &job->members.at[m];
            struct text file = fleet_text(facts, member->recording->file);
            const char *text = NULL;
            if (lack < LACK_COUNT)
                text = find_facts_notice(facts, member, lack_word((enum lack)lack));
            else if (member->recording->cut == 1 && !known[m])
                text = "cut short or damaged";
            buffer_clear(&of_steps);
            if (lack == LACK_MISSING_STEPS && member->steps_lack.of && !text &&
                (m == 0 || member[-1].rank != member->rank)) {
                rank_steps_describe(&member->steps_lack, &of_steps);
                text = of_steps.at;
            }
            if (lack == LACK_LOST_WORK && member->no_work && !text)
                text = "no work of its device, which other ranks have";
            known[m] |= text != NULL && lack != LACK_MISSING_STEPS;
            if (text)
                add_few(&few, "rank %" PRId64 " (%s: %s)", member->rank, file.at ? file.at : "?", text);
        }
        notice_few(&few, result, lack_word(lack < LACK_COUNT ? (enum lack)lack : LACK_CUT_SHORT),
                   "not complete, and what is missing is not counted");
    }
}

/* Ranks with unsure clocks, each once. */
static void notice_unsure_clocks(const struct fleet *fleet, struct result *result)
{
    struct few ranks = { 0 };
    for (size_t m = 0; m < fleet->job.members.count; m++) {
        const struct fleet_member *member = &fleet->job.members.at[m];
        if (!fleet->meetings.clocks[m].sure && (m == 0 || member[-1].rank != member->rank))
            add_few(&ranks, "rank %" PRId64, member->rank);
    }
    notice_few(
        &ranks, result, "clocks",
        "clocks of ranks cannot be corrected, because there are fewer than 3 ends of collectives, or their error is "
        "above 1 ms; there the rank with the shortest duration counts as the last");
}

static void notice_clocks(const struct fleet *fleet, struct result *result)
{
    if (fleet->meetings.count)
        notice_unsure_clocks(fleet, result);
    if (fleet->unsure_ns > 0)
        ADD_NOTICE(
            result, "unsure", fleet->unsure_ns,
            "%s of waiting is attributed to no rank: the error of the clocks leaves it open which was last",
            TIME_TEXT(fleet->unsure_ns));
    if (fleet->meetings.refuted)
        ADD_NOTICE(result, "refuted", (int64_t)fleet->meetings.refuted,
                   "%" PRIu64
                   " collectives in the same place of the order did not end together and are not matched",
                   fleet->meetings.refuted);
    if (fleet->meetings.absent)
        ADD_NOTICE(result, "apart", (int64_t)fleet->meetings.absent,
                   "%" PRIu64 " collectives of these facts are in files apart (tpa facts --apart) that "
                   "were not given, or were cut short: waiting in them is not known",
                   fleet->meetings.absent);
    if (fleet->meetings.strangers)
        ADD_NOTICE(result, "apart_of_others", (int64_t)fleet->meetings.strangers,
                   "%" PRIu64 " collectives in files apart are of recordings whose facts were not given",
                   fleet->meetings.strangers);
    if (fleet->meetings.unrecorded)
        ADD_NOTICE(
            result, "before_recording", (int64_t)fleet->meetings.unrecorded,
            "%" PRIu64
            " collective%s waited for a rank that was late since before its recording began: what it did then is not recorded, so the waiting is attributed to none",
            fleet->meetings.unrecorded, fleet->meetings.unrecorded == 1 ? "" : "s");
    if (fleet->meetings.outside) {
        SCOPED struct buffer whom = { 0 };
        append_outside(fleet, &whom);
        ADD_NOTICE(
            result, "outside", (int64_t)fleet->meetings.outside,
            "%" PRIu64
            " collective%s waited for %s, so the waiting is attributed to none; give the recordings of all ranks",
            fleet->meetings.outside, fleet->meetings.outside == 1 ? "" : "s", whom.at);
    }
    if (fleet->meetings.found_groups)
        ADD_NOTICE(
            result, "groups_unknown", (int64_t)fleet->meetings.found_groups,
            "ranks record no process groups, and not all of them end their collectives together: those that do, "
            "%" PRIu64
            " groups of one rank or more, are judged by themselves; who waited for a rank of another is not known",
            fleet->meetings.found_groups);
    if (fleet->messages)
        ADD_NOTICE(
            result, "pipeline", (int64_t)fleet->messages,
            "ranks send each other messages, as stages of a pipeline do: what they wait for one another is its "
            "schedule and attributed to none; tpa job tells which stage or rank holds it up");
    if (fleet->meetings.unmatched && fleet->job.ranks > 1)
        ADD_NOTICE(result, "unmatched", (int64_t)fleet->meetings.unmatched,
                   "%" PRIu64 " collective%s no counterpart on other ranks", fleet->meetings.unmatched,
                   fleet->meetings.unmatched == 1 ? " has" : "s have");
}

/* Report ranks whose numbers, or those of their steps, differ from the others. */
static void notice_odd_ranks(const struct fleet *fleet, struct result *result)
{
    struct few beyond = { 0 }, steps = { 0 };
    FOR_EACH(row, &fleet->ranks) {
        if (fleet->job.world_size != FACTS_MISSING && !fleet->job.numbered &&
            row->rank >= fleet->job.world_size)
            add_few(&beyond, "rank %" PRId64 " (%s)", row->rank, row->file.at ? row->file.at : "?");
        if (row->other_steps)
            add_few(&steps, "rank %" PRId64, row->rank);
    }
    notice_few(&beyond, result, "beyond",
               "ranks have numbers that the job, by its number of ranks, does not have");
    notice_few(
        &steps, result, "other_steps",
        "ranks have none of the steps that most ranks have; theirs are rows of their own and no part of the "
        "median step");
}

/* For facts made by another program, or damaged ones. */
static void notice_odd_numbers(const struct facts *facts, struct result *result)
{
    const struct facts_notice *notices = facts_rows(facts, FACTS_NOTICES);
    int64_t odd = 0;
    for (size_t i = 0; i < facts->tables[FACTS_NOTICES].count; i++)
        if (strcmp(names_text(facts->texts, notices[i].kind), FACTS_ODD_NUMBERS) == 0)
            sum_add(&odd, notices[i].count);
    if (odd)
        ADD_NOTICE(result, FACTS_ODD_NUMBERS, odd,
                   "numbers of facts are out of range and are treated as unknown");
}

static void notice_others(const struct fleet *fleet, struct result *result)
{
    notice_odd_numbers(fleet->job.facts, result);
    if (fleet->left_out.count)
        ADD_NOTICE(result, "other_recordings", (int64_t)fleet->left_out.count,
                   "recordings are left out, the first %s: %s",
                   fleet->left_out.at[0].file.at ? fleet->left_out.at[0].file.at : "?",
                   fleet->left_out.at[0].reason.at);
    if (fleet->left_out.count)
        result->notices.at[result->notices.count - 1].on_top = true;
    if (fleet->job.facts->repeats)
        ADD_NOTICE(result, "repeats", (int64_t)fleet->job.facts->repeats,
                   "recordings were given more than once and count once");
    if (fleet->job.numbered && fleet->job.members.count > 1)
        ADD_NOTICE(result, "no_ranks", fleet->job.ranks,
                   "no trace records its rank: they are numbered in the order of their file names");
}

static double percent_more(double against)
{
    return 100 * (against - 1);
}

static void notice_slow(const struct fleet *fleet, struct result *result)
{
    struct few gpus = { 0 }, hosts = { 0 }, links = { 0 }, differing = { 0 };
    FOR_EACH(row, &fleet->ranks) {
        if (row->slow_gpu)
            add_few(&gpus, "rank %" PRId64 " by %.0f %%", row->rank, percent_more(row->gpu));
        if (row->differing > 0)
            add_few(&differing, "rank %" PRId64, row->rank);
    }
    for (size_t i = 0; i < fleet->hosts.count; i++)
        if (fleet->hosts.at[i].slow)
            add_few(&hosts, "%s by %.0f %%", fleet->hosts.at[i].host.at,
                    percent_more(fleet->hosts.at[i].host_pace));
    for (size_t i = 0; i < fleet->links.count; i++)
        if (fleet->links.at[i].slow)
            add_few(&links, "%s by %.0f %%",
                    fleet->links.at[i].group.at ? fleet->links.at[i].group.at : "(no name)",
                    percent_more(fleet->links.at[i].against));
    notice_few(&gpus, result, "slow_gpus", "slow GPUs, for the same kernels on the same model");
    notice_few(&hosts, result, "slow_hosts", "slow hosts, for the same operators");
    notice_few(&links, result, "slow_links",
               "groups with a slow link, for equal collectives of as many ranks");
    notice_few(&differing, result, "differing",
               "ranks that run some kernels more or less often than most ranks do");
}

#define ADD(key, title, columns, rows)                                                                       \
    result_add_table(result, TABLE_OF_ROWS(key, title, columns, (rows).at, (rows).count))

static void add_footers(const struct fleet *fleet, struct table *table)
{
    table_add_footer(table, "waited_total", "Waited in collectives", TABLE_NS, table_int(fleet->waited_ns));
    table_add_footer(table, "blamed_total", "Of that attributed to a rank", TABLE_NS,
                     table_int(fleet->blamed_ns));
    table_add_footer(table, "unsure_total", "Of that within the error of the clocks", TABLE_NS,
                     table_int(fleet->unsure_ns));
}

void fleet_add_result(const struct fleet *fleet, struct result *result)
{
    notice_first(fleet, result);
    struct table *ranks = TABLE_OF_ROWS("ranks", "Ranks, those that others wait for first", rank_columns,
                                        fleet->ranks.at, fleet->ranks.count);
    add_footers(fleet, ranks);
    result_add_table(result, ranks);
    struct table *steps = TABLE_OF_ROWS("steps", "Steps", step_columns, fleet->steps.at, fleet->steps.count);
    table_add_footer(steps, "step_median", "Median step", TABLE_NS, table_int(fleet->step_ns));
    table_add_footer(steps, "step_low", "5 % of the steps take up to", TABLE_NS,
                     table_int(fleet->step_low_ns));
    table_add_footer(steps, "step_high", "95 % of the steps take up to", TABLE_NS,
                     table_int(fleet->step_high_ns));
    result_add_table(result, steps);
    if (fleet->heat.count) {
        ADD("heat", "Time of each step without exposed communication, against the rank in the middle",
            heat_columns, fleet->heat);
        result->tables.at[result->tables.count - 1]->uncut = true;
    }
    ADD("waste", "What the devices' time goes into besides computation", waste_columns, fleet->waste);
    result->tables.at[result->tables.count - 1]->uncut = true;
    ADD("groups", "Communication by process group", group_columns, fleet->groups);
    if (fleet->hosts.count)
        ADD("hosts", "Hosts", host_columns, fleet->hosts);
    ADD("links", "Transfers of equal collectives, the slowest group first", link_columns, fleet->links);
    ADD("collectives", "Collectives", collective_columns, fleet->collectives);
    if (fleet->left_out.count)
        ADD("left_out", "Left out", left_out_columns, fleet->left_out);
    notice_slow(fleet, result);
    fleet_notice_missing(&fleet->job,
                         ". Who a missing rank made wait is not known, and the last one here may have "
                         "waited for it",
                         result);
    fleet_notice_lacks(&fleet->job, result);
    notice_odd_ranks(fleet, result);
    notice_clocks(fleet, result);
    notice_others(fleet, result);
}

const struct table_shape fleet_tables[] = {
    TABLE_SHAPE("ranks", rank_columns),        TABLE_SHAPE("steps", step_columns),
    TABLE_SHAPE("heat", heat_columns),         TABLE_SHAPE("waste", waste_columns),
    TABLE_SHAPE("groups", group_columns),      TABLE_SHAPE("hosts", host_columns),
    TABLE_SHAPE("links", link_columns),        TABLE_SHAPE("collectives", collective_columns),
    TABLE_SHAPE("left_out", left_out_columns), { 0 },
};
