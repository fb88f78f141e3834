/* slice_file.c - see parts.h. The columns are those of the collectives of facts, and some of the previous
 * collective. */
#include "fleet/parts.h"

#include "base/rows.h"
#include "base/runs.h"
#include "base/sum.h"
#include "figures/facts_file.h"
#include "derive/collective_names.h"

#define BEFORE(field, help_)                                                                                 \
    {                                                                                                        \
        "previous_" #field, FACTS_INT64,                                                                     \
            offsetof(struct slice_record, before) + offsetof(struct facts_collective, field), help_          \
    }

static const struct facts_column before_columns[] = {
    BEFORE(start_ns, "start of the one before in the group; missing: there is none"),
    BEFORE(duration_ns, "its duration"),
    BEFORE(computed_until_ns, "computation until its end"),
    BEFORE(communicated_until_ns, "exposed communication until its end"),
    BEFORE(copied_until_ns, "exposed copies until its end"),
    BEFORE(loading_until_ns, "idle for data loading until its end"),
    BEFORE(host_until_ns, "idle until its end for any other cause"),
};

enum { BEFORE_COLUMNS = sizeof before_columns / sizeof *before_columns, MOST_COLUMNS = 64 };

/* Set SCHEMA, whose columns are stored in COLUMNS. */
static void make_schema(struct facts_schema *schema, struct facts_column columns[MOST_COLUMNS])
{
    const struct facts_schema *collectives = &facts_tables[FACTS_COLLECTIVES];
    memcpy(columns, collectives->columns, collectives->column_count * sizeof *columns);
    memcpy(columns + collectives->column_count, before_columns, sizeof before_columns);
    *schema = (struct facts_schema){ "arrivals", sizeof(struct slice_record), columns,
                                     collectives->column_count + BEFORE_COLUMNS };
}

/* ---- writing ---- */

struct slicing {
    const struct facts *facts;
    struct fleet_job job;
    struct slice *slice;
    uint32_t *file_of; /* by row of the slice */
};

static uint64_t hashed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static uint64_t hashed_text(uint64_t hash, const struct names *texts, name_id id)
{
    const char *text = names_text(texts, id);
    for (size_t i = 0; text[i]; i++)
        hash = hashed(hash, (unsigned char)text[i]);
    return hashed(hash, 0);
}

/* A hash of the identity of a collective that determines its file: group, source and target, number. */
static uint64_t hash_of(const struct slicing *slicing, const struct slice_row *row)
{
    const struct names *texts = slicing->facts->texts;
    const struct facts_collective *one = row->collective;
    const struct facts_group *group = slice_group(&slicing->job, row);
    enum collective_kind kind = collective_kind_of(names_text(texts, one->kind));
    bool paired = (kind == COLLECTIVE_SEND || kind == COLLECTIVE_RECV) && one->source != FACTS_MISSING;
    uint64_t hash = 0;
    if (group)
        hash = hashed_text(hashed_text(hash, texts, group->name), texts, group->ranks);
    hash = hashed(hash, paired);
    if (!paired)
        return hashed(hash, (uint64_t)one->sequence);
    return hashed(hashed(hash, (uint64_t)one->source), (uint64_t)one->target);
}

/* Older facts do not record the number of collectives of a group. */
static void count_collectives(struct facts *facts, const struct slice *slice)
{
    struct facts_group *groups = facts_rows(facts, FACTS_GROUPS);
    SCOPED bool *known = mem_zalloc(facts->tables[FACTS_GROUPS].count + 1, sizeof *known);
    for (size_t g = 0; g < facts->tables[FACTS_GROUPS].count; g++) {
        known[g] = groups[g].collectives != FACTS_MISSING && groups[g].unnumbered != FACTS_MISSING;
        if (!known[g])
            groups[g].collectives = groups[g].unnumbered = 0;
    }
    for (size_t i = 0; i < slice->rows.count; i++) {
        const struct facts_group *group = slice_group(slice->job, &slice->rows.at[i]);
        if (!group || known[group - groups])
            continue;
        groups[group - groups].collectives++;
        groups[group - groups].unnumbered += slice->rows.at[i].collective->sequence == FACTS_MISSING;
    }
}

struct slicing *slicing_open(struct facts *facts, size_t count)
{
    struct slicing *slicing = arena_open(sizeof *slicing);
    ARENA_OWNS(arena_of(slicing), &slicing->file_of);
    slicing->facts = facts;
    fleet_job_of_all(&slicing->job, facts, arena_of(slicing));
    slicing->slice = arena_hold(arena_of(slicing), slice_of_facts(&slicing->job));
    count_collectives(facts, slicing->slice);
    slicing->file_of = mem_alloc(mem_times(slicing->slice->rows.count + 1, sizeof *slicing->file_of));
    for (size_t i = 0; i < slicing->slice->rows.count; i++)
        slicing->file_of[i] = (uint32_t)(hash_of(slicing, &slicing->slice->rows.at[i]) % count);
    return slicing;
}

bool slicing_has(const struct slicing *slicing, size_t number)
{
    return ANY(i, slicing->slice->rows.count, slicing->file_of[i] == number);
}

bool slicing_save(const struct slicing *slicing, size_t number, FILE *file)
{
    struct facts_column columns[MOST_COLUMNS];
    struct facts_schema schema;
    SCOPED VEC_OF(struct slice_record) records = { 0 };
    make_schema(&schema, columns);
    for (size_t i = 0; i < slicing->slice->rows.count; i++) {
        const struct slice_row *row = &slicing->slice->rows.at[i];
        if (slicing->file_of[i] != number)
            continue;
        struct slice_record record = { .one = *row->collective };
        if (row->before)
            record.before = *row->before;
        else
            for (size_t c = 0; c < BEFORE_COLUMNS; c++)
                memcpy((char *)&record + before_columns[c].offset, &(int64_t){ FACTS_MISSING },
                       sizeof(int64_t));
        *VEC_PUSH(&records) = record;
    }
    struct facts_rows rows = { records.at, records.count, records.capacity };
    return facts_save_rows(slicing->facts, &schema, &rows, file);
}

/* ---- reading ---- */

static void add_collective(void *context, const void *row)
{
    facts_add(context, FACTS_COLLECTIVES, &((const struct slice_record *)row)->one);
}

bool slice_merge(struct facts *facts, struct source *source, struct tpa_error *err)
{
    struct facts_column columns[MOST_COLUMNS];
    struct facts_schema schema;
    make_schema(&schema, columns);
    return facts_read_rows(facts, &schema, source, add_collective, facts, err);
}

/* A group of a recording among those of all. */
struct group_at {
    name_id name, ranks;
    size_t index;
};

static const struct key by_name_ranks[] = { ASC(struct group_at, name), ASC(struct group_at, ranks),
                                            KEY_END };

bool *slice_find_mixed(const struct fleet_job *job, bool *any)
{
    const struct facts_group *groups = facts_rows(job->facts, FACTS_GROUPS);
    size_t count = job->facts->tables[FACTS_GROUPS].count, listed = 0;
    bool *mixed = mem_zalloc(count + 1, sizeof *mixed);
    SCOPED struct group_at *all = mem_alloc(mem_times(count + 1, sizeof *all));
    for (size_t m = 0; m < job->members.count; m++)
        for (size_t g = 0; g < job->members.at[m].count[FACTS_GROUPS]; g++) {
            size_t index = job->members.at[m].first[FACTS_GROUPS] + g;
            all[listed++] = (struct group_at){ groups[index].name, groups[index].ranks, index };
        }
    if (listed)
        SORT_ARRAY(all, listed, by_name_ranks);
    *any = false;
    FOR_RUNS(first, end, listed, rows_compare(&all[first], &all[end], by_name_ranks) == 0) {
        int64_t collectives = 0, unnumbered = 0;
        for (size_t i = first; i < end; i++) {
            sum_add(&collectives, groups[all[i].index].collectives);
            sum_add(&unnumbered, groups[all[i].index].unnumbered);
        }
        for (size_t i = first; i < end && unnumbered > 0 && unnumbered < collectives; i++)
            *any = mixed[all[i].index] = true;
    }
    return mixed;
}

/* ---- a slice ---- */

struct filling {
    struct slice *slice;
    const bool *mixed;
    bool wanted;
};

static void add_record(void *context, const void *row)
{
    struct filling *filling = context;
    const struct slice_record *record = row;
    const struct fleet_job *job = filling->slice->job;
    uint32_t member = fleet_job_find(job, record->one.recording);
    if (member == FLEET_NO_MEMBER) {
        filling->slice->strangers += !facts_know(job->facts, record->one.recording);
        return;
    }
    struct slice_row at = { &record->one, NULL, member };
    const struct facts_group *group = slice_group(job, &at);
    const struct facts_group *groups = facts_rows(job->facts, FACTS_GROUPS);
    if ((group && filling->mixed[group - groups]) != filling->wanted)
        return;
    struct slice_record *added = VEC_PUSH(&filling->slice->records);
    *added = *record;
    added->member = member;
}

bool slice_add_file(struct slice *slice, struct facts *facts, const bool *mixed, bool wanted,
                    struct source *source, struct tpa_error *err)
{
    struct facts_column columns[MOST_COLUMNS];
    struct facts_schema schema;
    struct filling filling = { .slice = slice, .mixed = mixed, .wanted = wanted };
    make_schema(&schema, columns);
    return facts_read_rows(facts, &schema, source, add_record, &filling, err);
}

/* As facts_finish orders the rows of a recording. */
static bool belongs_behind(const void *context, const void *left, const void *right)
{
    const struct names *texts = context;
    const struct slice_record *a = left, *b = right;
    int order = compare_integers(a->member, b->member);
    for (size_t c = 1; c < facts_tables[FACTS_COLLECTIVES].column_count && order == 0; c++) {
        const struct facts_column *column = &facts_tables[FACTS_COLLECTIVES].columns[c];
        if (column->type == FACTS_INT64) {
            int64_t one, other;
            memcpy(&one, (const char *)&a->one + column->offset, sizeof one);
            memcpy(&other, (const char *)&b->one + column->offset, sizeof other);
            order = compare_integers(one, other);
        } else {
            name_id one, other;
            memcpy(&one, (const char *)&a->one + column->offset, sizeof one);
            memcpy(&other, (const char *)&b->one + column->offset, sizeof other);
            order = strcmp(names_text(texts, one), names_text(texts, other));
        }
    }
    return order > 0;
}

void slice_sort(struct slice *slice)
{
    runs_sort(slice->records.at, slice->records.count, sizeof *slice->records.at, belongs_behind,
              slice->job->facts->texts);
}
