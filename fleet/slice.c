/*
 * slice.c - see slice.h. The identity of a collective is expressed as a few numbers; sorted by these, matching ones are
 * adjacent, as in facts/collective_matches.c.
 */
#include "fleet/slice.h"

#include "base/sum.h"
#include "facts/collective_names.h"
#include <stdlib.h>
#include <string.h>

/* A collective and its identity. */
struct entry {
    name_id group_name, group_ranks;
    bool paired;            /* a send or receive whose two sides are known */
    int64_t source, target; /* of paired ones */
    name_id kind;
    int64_t bytes;  /* if it must be the same on all ranks; else, or if not recorded, -1 */
    int64_t step;   /* INT64_MIN: in none, or ignored */
    int64_t number; /* in the group; -1: not recorded */
    size_t order;   /* index among those of one place that are equal in the fields above */
    size_t index;   /* of the slice's rows */
    const struct facts_collective *collective;
    uint32_t member;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_groups(const struct entry *a, const struct entry *b)
{
    int order = compare_numbers(a->group_name, b->group_name);
    order = order ? order : compare_numbers(a->group_ranks, b->group_ranks);
    order = order ? order : compare_numbers(a->paired, b->paired);
    order = order ? order : compare_numbers(a->source, b->source);
    return order ? order : compare_numbers(a->target, b->target);
}

/* Compare all but the order. */
static int compare_kinds(const struct entry *a, const struct entry *b)
{
    int order = compare_groups(a, b);
    order = order ? order : compare_numbers(a->kind, b->kind);
    order = order ? order : compare_numbers(a->bytes, b->bytes);
    order = order ? order : compare_numbers(a->step, b->step);
    return order ? order : compare_numbers(a->number, b->number);
}

static int compare_places(const struct entry *a, const struct entry *b)
{
    int order = compare_numbers(a->member, b->member);
    return order ? order : compare_numbers(a->collective->device, b->collective->device);
}

/* Rows of a recording are sorted by device and start. */
static int compare_rows(const struct entry *a, const struct entry *b)
{
    return (a->index > b->index) - (a->index < b->index);
}

static int compare_by_group(const void *left, const void *right)
{
    int order = compare_groups(left, right);
    return order ? order : compare_rows(left, right);
}

static int compare_within_places(const void *left, const void *right)
{
    int order = compare_kinds(left, right);
    order = order ? order : compare_places(left, right);
    return order ? order : compare_rows(left, right);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = compare_kinds(a, b);
    order = order ? order : (a->order > b->order) - (a->order < b->order);
    return order ? order : compare_places(a, b);
}

static bool are_one(const struct entry *a, const struct entry *b)
{
    return a->order == b->order && compare_kinds(a, b) == 0;
}

/* ---- kinds ---- */

static enum collective_kind kind_of(const struct facts *facts, name_id kind)
{
    const char *text = names_text(facts->texts, kind);
    for (int k = 1; k < COLLECTIVE_KINDS; k++)
        if (strcmp(text, collective_kind_name((enum collective_kind)k)) == 0)
            return (enum collective_kind)k;
    return COLLECTIVE_UNKNOWN;
}

bool slice_joins_all(const struct fleet_job *job, const struct facts_collective *collective)
{
    return collective_joins_all(kind_of(job->facts, collective->kind));
}

/* Is the size the same on all ranks? Then it distinguishes collectives issued by several threads. */
static bool has_one_size(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_BROADCAST || kind == COLLECTIVE_REDUCE;
}

/* ---- entries ---- */

int64_t slice_collectives_of(const struct fleet_job *job, const struct fleet_member *member)
{
    const struct facts_group *groups = facts_rows(job->facts, FACTS_GROUPS);
    int64_t told = 0;
    for (size_t g = 0; g < member->count[FACTS_GROUPS]; g++) {
        int64_t of_group = groups[member->first[FACTS_GROUPS] + g].collectives;
        if (of_group < 0) /* older facts, which have all collectives but do not record their number */
            return (int64_t)member->count[FACTS_COLLECTIVES];
        sum_add(&told, of_group);
    }
    return told;
}

/* Do all members with communication have marked steps? */
static bool have_steps(const struct fleet_job *job)
{
    const struct facts_step *steps = facts_rows(job->facts, FACTS_STEPS);
    for (size_t m = 0; m < job->members.count; m++) {
        const struct fleet_member *member = &job->members.at[m];
        if (slice_collectives_of(job, member) == 0)
            continue;
        if (member->count[FACTS_STEPS] == 0 || steps[member->first[FACTS_STEPS]].number == FACTS_MISSING)
            return false;
    }
    return true;
}

const struct facts_group *slice_group(const struct fleet_job *job, const struct slice_row *row)
{
    const struct fleet_member *member = &job->members.at[row->member];
    const struct facts_group *groups = facts_rows(job->facts, FACTS_GROUPS);
    int64_t group = row->collective->group;
    return group >= 0 && (size_t)group < member->count[FACTS_GROUPS]
               ? &groups[member->first[FACTS_GROUPS] + (size_t)group]
               : NULL;
}

static struct entry make_entry(const struct slice *slice, size_t index, bool by_step)
{
    const struct fleet_job *job = slice->job;
    const struct slice_row *row = &slice->rows.at[index];
    const struct facts_collective *one = row->collective;
    const struct facts_group *group = slice_group(job, row);
    enum collective_kind kind = kind_of(job->facts, one->kind);
    bool one_way = kind == COLLECTIVE_SEND || kind == COLLECTIVE_RECV;
    bool paired = one_way && one->source != FACTS_MISSING;
    return (struct entry){
        .group_name = group ? group->name : NAME_NONE,
        .group_ranks = group ? group->ranks : NAME_NONE,
        .paired = paired,
        .source = paired ? one->source : -1,
        .target = paired ? one->target : -1,
        .kind = one_way ? NAME_NONE : one->kind,
        .bytes = has_one_size(kind) && one->bytes != FACTS_MISSING ? one->bytes
                 : has_one_size(kind)                              ? -1
                                                                   : -2,
        .step = by_step ? one->step : INT64_MIN,
        .number = one->sequence == FACTS_MISSING ? -1 : one->sequence,
        .index = index,
        .collective = one,
        .member = row->member,
    };
}

/* New, one for each row, in order. */
static struct entry *make_entries(const struct slice *slice)
{
    bool by_step = have_steps(slice->job);
    struct entry *entries = mem_alloc(mem_times(slice->rows.count + 1, sizeof *entries));
    for (size_t i = 0; i < slice->rows.count; i++)
        entries[i] = make_entry(slice, i, by_step);
    return entries;
}

/* If all of a group have a number, only the number counts; else numbers are ignored. */
static void settle_numbers(struct entry *entries, size_t count)
{
    if (count)
        qsort(entries, count, sizeof *entries, compare_by_group);
    for (size_t first = 0, end; first < count; first = end) {
        bool all = !entries[first].paired; /* each side numbers its sends and receives separately */
        bool all_sized = true;
        for (end = first; end < count && compare_groups(&entries[first], &entries[end]) == 0; end++) {
            all = all && entries[end].number >= 0;
            all_sized = all_sized && entries[end].bytes != -1;
        }
        for (size_t i = first; i < end; i++) {
            if (all) {
                entries[i].kind = NAME_NONE;
                entries[i].step = INT64_MIN;
            } else {
                entries[i].number = -1;
            }
            if (all || !all_sized)
                entries[i].bytes = -1;
        }
    }
}

static void count_orders(struct entry *entries, size_t count)
{
    if (count)
        qsort(entries, count, sizeof *entries, compare_within_places);
    for (size_t i = 1; i < count; i++)
        if (compare_places(&entries[i], &entries[i - 1]) == 0 &&
            compare_kinds(&entries[i], &entries[i - 1]) == 0)
            entries[i].order = entries[i - 1].order + 1;
}

/* ENTRIES are in any order, and are reordered. */
static void find_before(struct slice *slice, struct entry *entries, size_t count)
{
    if (count)
        qsort(entries, count, sizeof *entries, compare_by_group);
    for (size_t i = 1; i < count; i++)
        if (compare_groups(&entries[i - 1], &entries[i]) == 0 &&
            compare_places(&entries[i - 1], &entries[i]) == 0)
            slice->rows.at[entries[i].index].before = entries[i - 1].collective;
}

/* ---- meetings ---- */

static struct slice_arrival arrival_of(const struct slice_row *row)
{
    const struct facts_collective *one = row->collective;
    return (struct slice_arrival){ .row = row,
                                   .start_ns = one->start_ns,
                                   .end_ns = one->start_ns + one->duration_ns };
}

static void find_meetings(struct slice *slice, struct entry *entries, size_t count)
{
    if (count)
        qsort(entries, count, sizeof *entries, compare_entries);
    slice->arrivals = mem_alloc(mem_times(count + 1, sizeof *slice->arrivals));
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && are_one(&entries[first], &entries[end]); end++)
            ;
        if (end - first < 2) {
            slice->unmatched++;
            continue;
        }
        struct slice_meeting meeting = { slice->arrival_count, end - first, entries[first].number,
                                         entries[first].number < 0 };
        if (meeting.by_order)
            meeting.number = (int64_t)entries[first].order + 1;
        for (size_t i = first; i < end; i++)
            slice->arrivals[slice->arrival_count++] = arrival_of(&slice->rows.at[entries[i].index]);
        *VEC_PUSH(&slice->meetings) = meeting;
    }
}

static void add_rows(struct slice *slice)
{
    const struct facts_collective *all = facts_rows(slice->job->facts, FACTS_COLLECTIVES);
    for (uint32_t m = 0; m < slice->job->members.count; m++) {
        const struct fleet_member *member = &slice->job->members.at[m];
        size_t first = member->first[FACTS_COLLECTIVES];
        for (size_t i = first; i < first + member->count[FACTS_COLLECTIVES]; i++)
            *VEC_PUSH(&slice->rows) = (struct slice_row){ &all[i], NULL, m };
    }
}

/* ENTRIES are those of the slice, in any order. */
static void match(struct slice *slice, struct entry *entries)
{
    settle_numbers(entries, slice->rows.count);
    count_orders(entries, slice->rows.count);
    find_meetings(slice, entries, slice->rows.count);
}

void slice_of_facts(struct slice *slice, const struct fleet_job *job)
{
    *slice = (struct slice){ .job = job };
    add_rows(slice);
    struct entry *entries = make_entries(slice);
    find_before(slice, entries, slice->rows.count);
    match(slice, entries);
    free(entries);
}

void slice_finish(struct slice *slice)
{
    for (size_t i = 0; i < slice->records.count; i++) {
        const struct slice_record *record = &slice->records.at[i];
        *VEC_PUSH(&slice->rows) = (struct slice_row){
            &record->one, record->before.start_ns == FACTS_MISSING ? NULL : &record->before, record->member
        };
    }
    struct entry *entries = make_entries(slice);
    match(slice, entries);
    free(entries);
}

void slice_release(struct slice *slice)
{
    VEC_FREE(&slice->records);
    VEC_FREE(&slice->rows);
    VEC_FREE(&slice->meetings);
    free(slice->arrivals);
    *slice = (struct slice){ 0 };
}
