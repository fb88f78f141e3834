/* job.c - the groups of a job, its collectives, and how far each rank is in them: see hang.h. */
#include "hang/hang.h"

#include "base/order.h"
#include "base/rows.h"
#include "base/search.h"
#include <assert.h>

void *hang_zeroed(struct hang_job *job, size_t count, size_t size)
{
    size_t bytes = mem_times(count ? count : 1, size);
    return memset(arena_alloc(job->arena, bytes), 0, bytes);
}

void hang_doubt(struct hang_job *job, enum hang_doubt doubt, uint32_t rank)
{
    job->doubts[doubt][rank] = 1;
    job->has_doubt[doubt] = true;
}

struct hang_ranks hang_ranks_of(struct hang_job *job, const uint8_t *marks)
{
    size_t count = SUM(size_t, r, job->world, marks[r] != 0);
    uint32_t *ranks = arena_alloc(job->arena, mem_times(count + 1, sizeof *ranks));
    count = 0;
    for (uint32_t r = 0; r < job->world; r++)
        if (marks[r])
            ranks[count++] = r;
    return (struct hang_ranks){ ranks, count };
}

struct hang_member *hang_member(const struct hang_group *group, uint32_t rank)
{
    size_t i = PLACE(k, group->count, group->members[k].rank < rank);
    return i < group->count && group->members[i].rank == rank ? &group->members[i] : NULL;
}

/* ---- groups ---- */

static bool is_default(const struct flight *flight, name_id name, name_id desc)
{
    const char *text = flight_text(flight, desc);
    return strcmp(text, "default_pg") == 0 ||
           (strcmp(flight_text(flight, name), "0") == 0 && (!*text || strcmp(text, "undefined") == 0));
}

/* Does the dump leave the members of its groups open? gloo writes one group without a name into pg_config, whose ranks
 * are those of the world on some ranks only. */
static bool has_no_lists(const struct flight *flight, const struct flight_dump *dump)
{
    if (ANY(g, dump->group_count, flight->groups.at[dump->first_group + g].configured))
        return false;
    return ANY(e, dump->count, flight_op(flight, dump->first + e)->writer == FLIGHT_GLOO) ||
           (dump->count == 0 && dump->empty_name_list != FLIGHT_NO_LIST);
}

static void raise_world(struct hang_job *job, size_t ranks)
{
    if (ranks > job->world)
        job->world = (uint32_t)ranks;
}

static void find_world(struct hang_job *job)
{
    struct flight *flight = job->flight;
    for (size_t i = 0; i < job->unreadable.count; i++) {
        uint32_t rank = flight->unreadable.at[job->unreadable.at[i]].rank;
        raise_world(job, rank == FLIGHT_NO_RANK ? 0 : rank + 1);
    }
    SCOPED bool *seen = mem_zalloc(flight->lists.count + 1, sizeof *seen);
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &flight->dumps.at[job->dumps.at[i]];
        raise_world(job, dump->rank + 1);
        if (has_no_lists(flight, dump) && dump->empty_name_list != FLIGHT_NO_LIST)
            raise_world(job, flight->lists.at[dump->empty_name_list].count);
        for (size_t g = 0; g < dump->group_count; g++) {
            uint32_t list = flight->groups.at[dump->first_group + g].list;
            if (list == FLIGHT_NO_LIST || seen[list])
                continue;
            seen[list] = true;
            for (size_t r = 0; r < flight->lists.at[list].count; r++)
                raise_world(job, flight->lists.at[list].ranks[r] + 1);
        }
    }
}

/* Set the members of GROUP to the COUNT RANKS, which may be in any order and have doubles. */
static void set_members(struct hang_job *job, struct hang_group *group, const uint32_t *ranks, size_t count)
{
    SCOPED uint32_t *sorted = mem_alloc(mem_times(count + 1, sizeof *sorted));
    if (count)
        memcpy(sorted, ranks, count * sizeof *sorted);
    SORT_NUMBERS(sorted, count);
    group->members = arena_alloc(job->arena, mem_times(count + 1, sizeof *group->members));
    group->count = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            group->members[group->count++] =
                (struct hang_member){ sorted[i], HANG_UNKNOWN, HANG_UNKNOWN, HANG_UNKNOWN };
}

/* A group of a dump, for sorting by name and list. */
struct named_group {
    uint32_t name, list, group; /* of flight->groups */
    uint32_t rank;
};

static const struct key by_name_list_rank[] = { ASC(struct named_group, name), ASC(struct named_group, list),
                                                ASC(struct named_group, rank), KEY_END };

static struct hang_group *job_add_group(struct hang_job *job, const struct flight_group *about)
{
    struct hang_group *group = VEC_PUSH(&job->groups);
    *group = (struct hang_group){ .name = about->name, .desc = about->desc };
    group->is_default = is_default(job->flight, about->name, about->desc);
    return group;
}

/* The one group with lists, of the first COUNT, that has this name and RANK as a member; HANG_NONE if there is none or
 * several. */
static uint32_t find_listed(const struct hang_job *job, size_t count, const struct named_group *named)
{
    uint32_t found = HANG_NONE;
    size_t i = PLACE(k, count, job->groups.at[k].name < named->name);
    for (; i < count && job->groups.at[i].name == named->name; i++) {
        if (!hang_member(&job->groups.at[i], named->rank))
            continue;
        if (found != HANG_NONE)
            return HANG_NONE;
        found = (uint32_t)i;
    }
    return found;
}

/* Groups whose ranks are recorded: one for each name and list. */
static void add_listed_groups(struct hang_job *job, struct named_group *named, size_t count)
{
    struct flight *flight = job->flight;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || named[i].name != named[i - 1].name || named[i].list != named[i - 1].list) {
            struct hang_group *group = job_add_group(job, &flight->groups.at[named[i].group]);
            const struct flight_list *list = &flight->lists.at[named[i].list];
            group->list = list->ranks;
            group->list_count = list->count;
            group->known = true;
            set_members(job, group, list->ranks, list->count);
        }
        job->group_of[named[i].group] = (uint32_t)(job->groups.count - 1);
    }
}

/* Groups whose ranks are not recorded: one for each name, of the ranks with entries in it. */
static void add_open_groups(struct hang_job *job, struct named_group *named, size_t count)
{
    size_t listed = job->groups.count;
    SCOPED VEC_OF(uint32_t) ranks = { 0 };
    for (size_t i = 0, next; i < count; i = next) {
        struct hang_group *group = NULL;
        ranks.count = 0;
        for (next = i; next < count && named[next].name == named[i].name; next++) {
            uint32_t known = find_listed(job, listed, &named[next]);
            if (known == HANG_NONE) {
                group = group ? group : job_add_group(job, &job->flight->groups.at[named[next].group]);
                *VEC_PUSH(&ranks) = named[next].rank;
                known = (uint32_t)(job->groups.count - 1);
            }
            job->group_of[named[next].group] = known;
        }
        if (group)
            set_members(job, group, ranks.at, ranks.count);
    }
}

/* The number of ranks that took part in an all_gather of gloo, by its output; 0: it does not tell. */
static int64_t gathered_ranks(const struct flight *flight, size_t entry)
{
    const struct flight_shape *shape = flight_shape(flight, entry);
    const struct flight_op *op = flight_op(flight, entry);
    if (op->kind != FLIGHT_ALL_GATHER || strcmp(flight_text(flight, op->text), "all_gather") != 0)
        return 0;
    int64_t in = 0, out = 0, product;
    for (size_t i = 0; i < shape->in_count; i++)
        in += shape->in[i] < FLIGHT_MOST_SEQ ? shape->in[i] : 0;
    for (size_t i = 0; i < shape->out_count; i++)
        out += shape->out[i] < FLIGHT_MOST_SEQ ? shape->out[i] : 0;
    bool tells = shape->first_out > 0 && shape->first_out < FLIGHT_MOST_RANKS &&
                 !__builtin_mul_overflow(in, shape->first_out, &product) && product == out;
    return tells ? shape->first_out : 0;
}

/* What an all_gather says about the number of members of groups without lists; and the default group. */
static void complete_open_groups(struct hang_job *job)
{
    struct flight *flight = job->flight;
    SCOPED int64_t *gathered = mem_zalloc(job->groups.count + 1, sizeof *gathered);
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &flight->dumps.at[job->dumps.at[i]];
        for (size_t e = dump->first; e < dump->first + dump->count; e++) {
            uint32_t g = job->group_of[dump->first_group + flight->entries.at[e].group];
            int64_t ranks = job->groups.at[g].list ? 0 : gathered_ranks(flight, e);
            if (ranks > gathered[g])
                gathered[g] = ranks;
        }
    }
    for (size_t g = 0; g < job->groups.count; g++)
        if (!job->groups.at[g].list && job->groups.at[g].is_default)
            raise_world(job, (size_t)gathered[g]);
    for (size_t g = 0; g < job->groups.count; g++) {
        struct hang_group *group = &job->groups.at[g];
        if (group->list)
            continue;
        if (group->is_default) {
            SCOPED uint32_t *all = order_open(job->world);
            set_members(job, group, all, job->world);
        }
        group->known = group->is_default || gathered[g] == (int64_t)group->count;
    }
}

static void build_groups(struct hang_job *job)
{
    struct flight *flight = job->flight;
    SCOPED VEC_OF(struct named_group) listed = { 0 }, open = { 0 };
    job->group_of = mem_alloc(mem_times(flight->groups.count + 1, sizeof *job->group_of));
    memset(job->group_of, 0xff, flight->groups.count * sizeof *job->group_of);
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &flight->dumps.at[job->dumps.at[i]];
        for (size_t g = dump->first_group; g < dump->first_group + dump->group_count; g++) {
            const struct flight_group *about = &flight->groups.at[g];
            struct named_group named = { about->name, about->list, (uint32_t)g, dump->rank };
            if (about->list != FLIGHT_NO_LIST)
                *VEC_PUSH(&listed) = named;
            else
                *VEC_PUSH(&open) = named;
        }
    }
    SORT(&listed, by_name_list_rank);
    SORT(&open, by_name_list_rank);
    add_listed_groups(job, listed.at, listed.count);
    add_open_groups(job, open.at, open.count);
    complete_open_groups(job);
}

/* ---- pg_status ---- */

/* By rank and group: op_id - collective_seq_id of the newest collective. */
struct shift {
    uint32_t group, rank;
    int64_t by;
};

struct status_reading {
    struct hang_job *job;
    VEC_OF(struct shift) shifts; /* by rank; then by group and rank */
    unsigned writers;            /* of all entries */
    int64_t default_id;          /* the one id of default groups; -1: none, or several */
    VEC_OF(uint32_t) group_at;   /* of the current dump, by its standings: the group; HANG_NONE */
};

static void look_at_entries(struct status_reading *in, const struct flight_dump *dump)
{
    struct hang_job *job = in->job;
    struct flight *flight = job->flight;
    size_t first = in->shifts.count;
    for (size_t g = 0; g < dump->group_count; g++)
        *VEC_PUSH(&in->shifts) =
            (struct shift){ job->group_of[dump->first_group + g], dump->rank, INT64_MIN };
    for (size_t e = dump->first; e < dump->first + dump->count; e++) {
        const struct flight_entry *entry = &flight->entries.at[e];
        struct hang_group *group = &job->groups.at[job->group_of[dump->first_group + entry->group]];
        group->writers |= 1u << flight_op(flight, e)->writer;
        group->has_p2p = group->has_p2p || entry->p2p || entry->after_p2p;
        in->writers |= 1u << flight_op(flight, e)->writer;
        assert(in->shifts.count > first + entry->group); /* as it is a group of the dump */
        if (!entry->p2p && entry->op_id != INT64_MIN)
            in->shifts.at[first + entry->group].by = entry->op_id - entry->seq;
    }
    for (size_t g = 0; g < dump->group_count; g++) {
        const struct flight_group *about = &flight->groups.at[dump->first_group + g];
        if (!about->has_id || !job->groups.at[job->group_of[dump->first_group + g]].is_default)
            continue;
        in->default_id = in->default_id == -2 || in->default_id == about->id ? about->id : -1;
    }
}

static const struct key by_group_rank[] = { ASC(struct shift, group), ASC(struct shift, rank), KEY_END };

/* The shift of RANK in GROUP, or else of all others, if they agree; INT64_MIN: not known. */
static int64_t find_shift(const struct status_reading *in, uint32_t group, uint32_t rank)
{
    size_t i = PLACE(k, in->shifts.count, in->shifts.at[k].group < group);
    int64_t common = INT64_MIN;
    bool agree = true;
    for (; i < in->shifts.count && in->shifts.at[i].group == group; i++) {
        int64_t by = in->shifts.at[i].by;
        if (by == INT64_MIN)
            continue;
        if (in->shifts.at[i].rank == rank)
            return by;
        agree = agree && (common == INT64_MIN || common == by);
        common = by;
    }
    return agree ? common : INT64_MIN;
}

/* A name that is a number; -1: it is none. */
static int64_t number_of(const char *name)
{
    int64_t number = 0;
    for (const char *at = name; *at; at++) {
        if (*at < '0' || *at > '9' || number >= FLIGHT_MOST_SEQ)
            return -1;
        number = number * 10 + (*at - '0');
    }
    return *name ? number : -1;
}

struct numbered {
    int64_t number;
    uint32_t index;
};

static const struct key by_number[] = { ASC(struct numbered, number), KEY_END };

/* Pair the k-th smallest name with the k-th smallest id, if all names are numbers and as many as there are ids, and
 * entries do not contradict. */
static void pair_by_rank(struct status_reading *in, const struct flight_dump *dump)
{
    const struct hang_job *job = in->job;
    const struct flight *flight = job->flight;
    SCOPED VEC_OF(struct numbered) names = { 0 }, ids = { 0 };
    bool good = true;
    for (size_t g = 0; g < dump->group_count; g++) {
        const struct flight_group *about = &flight->groups.at[dump->first_group + g];
        if (!about->configured)
            continue;
        int64_t number = number_of(flight_text(flight, about->name));
        good = good && number >= 0;
        *VEC_PUSH(&names) = (struct numbered){ number, job->group_of[dump->first_group + g] };
    }
    for (size_t s = 0; s < dump->standing_count; s++)
        *VEC_PUSH(&ids) = (struct numbered){ flight->standings.at[dump->first_standing + s].id, (uint32_t)s };
    good = good && names.count == ids.count && names.count > 0;
    if (good) {
        SORT(&names, by_number);
        SORT(&ids, by_number);
    }
    for (size_t i = 0; i < ids.count && good; i++) {
        uint32_t known = in->group_at.at[ids.at[i].index];
        good = known == HANG_NONE || known == names.at[i].index;
    }
    for (size_t i = 0; i < ids.count && good; i++)
        in->group_at.at[ids.at[i].index] = names.at[i].index;
}

/* The one default group of DUMP; HANG_NONE. A dump without lists belongs to that of the others. */
static uint32_t own_default(const struct hang_job *job, const struct flight_dump *dump)
{
    uint32_t found = HANG_NONE;
    for (size_t g = 0; g < dump->group_count; g++) {
        uint32_t group = job->group_of[dump->first_group + g];
        if (!job->groups.at[group].is_default || group == found)
            continue;
        if (found != HANG_NONE)
            return HANG_NONE;
        found = group;
    }
    if (found == HANG_NONE && has_no_lists(job->flight, dump))
        for (size_t g = 0; g < job->groups.count; g++)
            if (job->groups.at[g].is_default && !job->groups.at[g].list)
                return (uint32_t)g;
    return found;
}

/* Which group each standing of DUMP is about. */
static void pair_standings(struct status_reading *in, const struct flight_dump *dump)
{
    const struct hang_job *job = in->job;
    const struct flight *flight = job->flight;
    in->group_at.count = 0;
    for (size_t s = 0; s < dump->standing_count; s++) {
        uint32_t found = HANG_NONE;
        bool several = false;
        for (size_t g = 0; g < dump->group_count; g++) {
            const struct flight_group *about = &flight->groups.at[dump->first_group + g];
            if (!about->has_id || about->id != flight->standings.at[dump->first_standing + s].id)
                continue;
            several = several || found != HANG_NONE || about->ids_differ;
            found = job->group_of[dump->first_group + g];
        }
        *VEC_PUSH(&in->group_at) = several ? HANG_NONE : found;
    }
    pair_by_rank(in, dump);
    uint32_t own = own_default(job, dump);
    for (size_t s = 0; s < dump->standing_count; s++)
        if (in->group_at.at[s] == own)
            own = HANG_NONE;
    for (size_t s = 0; s < dump->standing_count && own != HANG_NONE; s++)
        if (flight->standings.at[dump->first_standing + s].id == in->default_id &&
            in->group_at.at[s] == HANG_NONE)
            in->group_at.at[s] = own;
}

/* Numbers of collectives by a status. NCCL's are, unless the group has sends, of which the status holds the count
 * instead. gloo and the hook count operations: the difference is that of the newest collective. */
static void read_standing(struct status_reading *in, const struct flight_dump *dump, uint32_t g,
                          const struct flight_standing *standing)
{
    struct hang_group *group = &in->job->groups.at[g];
    struct hang_member *member = hang_member(group, dump->rank);
    unsigned writers = group->writers ? group->writers : in->writers;
    if (!writers)
        writers = 1u << (dump->names_library                   ? FLIGHT_DEVICE
                         : has_no_lists(in->job->flight, dump) ? FLIGHT_GLOO
                                                               : FLIGHT_HOOK);
    bool is_gloo = writers == 1u << FLIGHT_GLOO;
    int64_t shift = 0;
    if (!member || (group->has_p2p && !is_gloo))
        return;
    if (writers != 1u << FLIGHT_DEVICE) {
        shift = find_shift(in, g, dump->rank);
        if (shift == INT64_MIN && standing->enqueued != -1)
            return;
    }
    int64_t enqueued = standing->enqueued == -1 ? 0 : standing->enqueued - shift;
    int64_t completed =
        standing->completed == -1 ? 0 : standing->completed - (shift == INT64_MIN ? 0 : shift);
    group->is_gloo = group->is_gloo || is_gloo;
    member->enqueued = enqueued < 0 ? 0 : enqueued;
    member->completed = completed < 0 ? 0 : completed < member->enqueued ? completed : member->enqueued;
}

static void read_status(struct hang_job *job)
{
    struct status_reading in = { .job = job, .default_id = -2 };
    for (size_t i = 0; i < job->dumps.count; i++)
        look_at_entries(&in, &job->flight->dumps.at[job->dumps.at[i]]);
    SORT(&in.shifts, by_group_rank);
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &job->flight->dumps.at[job->dumps.at[i]];
        pair_standings(&in, dump);
        for (size_t s = 0; s < dump->standing_count; s++)
            if (in.group_at.at[s] != HANG_NONE)
                read_standing(&in, dump, in.group_at.at[s],
                              &job->flight->standings.at[dump->first_standing + s]);
    }
    EACH(VEC_FREE, &in.shifts, &in.group_at);
}

/* ---- lists of entries ---- */

static void look_at_gaps(struct hang_job *job, const struct flight_dump *dump)
{
    const struct flight_entry *entries = dump->count ? &job->flight->entries.at[dump->first] : NULL;
    bool gaps = false, used = false;
    for (size_t i = 1; i < dump->count; i++)
        gaps = gaps || entries[i].record != entries[i - 1].record + 1;
    for (size_t s = 0; s < dump->standing_count; s++)
        used = used || job->flight->standings.at[dump->first_standing + s].enqueued != -1;
    job->active_only[dump->rank] = gaps || (dump->count == 0 && used);
    job->whole[dump->rank] =
        !job->active_only[dump->rank] && !dump->has_no_list && (dump->count == 0 || entries[0].record == 0);
    job->silent[dump->rank] = dump->count == 0 && used;
}

/* A dump of active operations only has none where none is active; but then no dump of the job has others. */
static void find_silent(struct hang_job *job)
{
    bool over = false;
    for (size_t i = 0; i < job->dumps.count && !over; i++) {
        const struct flight_dump *dump = &job->flight->dumps.at[job->dumps.at[i]];
        for (size_t e = dump->first; e < dump->first + dump->count && !over; e++)
            over = job->flight->entries.at[e].status != FLIGHT_PENDING &&
                   job->flight->entries.at[e].status != FLIGHT_FAILED && !dump->unknown_states;
    }
    for (uint32_t r = 0; r < job->world; r++)
        job->silent[r] = job->silent[r] && (over || hang_dump(job, r)->has_no_list);
}

/* torchcomms counts collectives over all groups of the process: two groups in a row have numbers in a row. */
static bool counts_over_groups(const struct flight *flight, const struct flight_dump *dump)
{
    if (dump->standing_count || dump->count == 0)
        return false;
    const struct flight_entry *entries = &flight->entries.at[dump->first];
    if (entries[0].record == 0 && entries[0].seq == 0 && !entries[0].p2p)
        return true;
    return ANY_FROM(i, 1, dump->count,
                    entries[i].group != entries[i - 1].group && entries[i].seq == entries[i - 1].seq + 1);
}

/* Number the collectives of each group of DUMP from 1. */
static void renumber(struct hang_job *job, const struct flight_dump *dump)
{
    SCOPED int64_t *count = mem_zalloc(dump->group_count + 1, sizeof *count);
    for (size_t e = dump->first; e < dump->first + dump->count; e++) {
        struct flight_entry *entry = &job->flight->entries.at[e];
        count[entry->group] += !entry->p2p;
        entry->seq = count[entry->group];
    }
    job->unsure[dump->rank] = !job->whole[dump->rank];
}

/* ---- how far each rank is ---- */

static void look_at_progress(struct hang_job *job, const struct flight_dump *dump)
{
    struct flight *flight = job->flight;
    struct hang_member **members = mem_zalloc(dump->group_count + 1, sizeof *members);
    for (size_t g = 0; g < dump->group_count; g++)
        members[g] = hang_member(&job->groups.at[job->group_of[dump->first_group + g]], dump->rank);
    for (size_t e = dump->first; e < dump->first + dump->count; e++) {
        const struct flight_entry *entry = &flight->entries.at[e];
        struct hang_member *member = members[entry->group];
        bool tells =
            !entry->p2p || !job->active_only[dump->rank]; /* else later ones may have been left out */
        if (member && tells && entry->seq > member->entered)
            member->entered = entry->seq;
    }
    free(members);
}

static void find_progress(struct hang_job *job)
{
    for (size_t i = 0; i < job->dumps.count; i++)
        look_at_progress(job, &job->flight->dumps.at[job->dumps.at[i]]);
    for (size_t g = 0; g < job->groups.count; g++)
        FOR_EACH_OF(member, job->groups.at[g].members, job->groups.at[g].count) {
            if (job->dump_of[member->rank] == HANG_NONE || job->unsure[member->rank]) {
                member->entered = HANG_UNKNOWN;
                continue;
            }
            if (member->enqueued > member->entered)
                member->entered = member->enqueued;
            if (member->entered == HANG_UNKNOWN && job->whole[member->rank])
                member->entered = 0;
        }
}

/* ---- collectives ---- */

static void find_ops(struct hang_job *job)
{
    struct flight *flight = job->flight;
    size_t count = SUM(size_t, i, job->dumps.count, flight->dumps.at[job->dumps.at[i]].count);
    SCOPED struct hang_ref *refs = mem_alloc(mem_times(count + 1, sizeof *refs));
    SCOPED uint64_t *keys = mem_alloc(mem_times(count + 1, sizeof *keys));
    size_t used = 0;
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &flight->dumps.at[job->dumps.at[i]];
        for (size_t e = dump->first; e < dump->first + dump->count; e++) {
            const struct flight_entry *entry = &flight->entries.at[e];
            if (entry->p2p || job->unsure[dump->rank])
                continue;
            keys[used] =
                (uint64_t)job->group_of[dump->first_group + entry->group] << 40 | (uint64_t)entry->seq;
            refs[used++] = (struct hang_ref){ (uint32_t)e, dump->rank };
        }
    }
    SCOPED uint32_t *order = order_open(used);
    order_by(order, used, keys);
    job->refs = mem_alloc(mem_times(used + 1, sizeof *job->refs));
    job->ref_count = used;
    for (size_t i = 0; i < used; i++) {
        uint64_t key = keys[order[i]];
        job->refs[i] = refs[order[i]];
        if (i == 0 || key != keys[order[i - 1]]) {
            struct hang_group *group = &job->groups.at[key >> 40];
            if (group->op_count++ == 0)
                group->first_op = job->ops.count;
            *VEC_PUSH(&job->ops) = (struct hang_op){
                (uint32_t)(key >> 40), (int64_t)(key & ((UINT64_C(1) << 40) - 1)), i, 0, { 0 }
            };
        }
        job->ops.at[job->ops.count - 1].count++;
    }
}

uint32_t hang_find_op(const struct hang_job *job, uint32_t group, int64_t seq)
{
    size_t first = job->groups.at[group].first_op, end = first + job->groups.at[group].op_count, i;
    SEARCH_BETWEEN(i, first, end, job->ops.at[i].seq < seq);
    return i < end && job->ops.at[i].seq == seq ? (uint32_t)i : HANG_NONE;
}

const struct hang_ref *hang_refs_of(const struct hang_job *job, const struct hang_op *op, uint32_t rank,
                                    size_t *count)
{
    size_t end = op->first + op->count, i, next;
    SEARCH_BETWEEN(i, op->first, end, job->refs[i].rank < rank);
    for (next = i; next < end && job->refs[next].rank == rank; next++)
        ;
    *count = next - i;
    return next > i ? &job->refs[i] : NULL;
}

static const struct flight_op *first_op_of(const struct hang_job *job, uint32_t op)
{
    return flight_op(job->flight, job->refs[job->ops.at[op].first].entry);
}

name_id hang_op_text(const struct hang_job *job, uint32_t op)
{
    return op == HANG_NONE ? NAME_NONE : first_op_of(job, op)->text;
}

bool hang_op_needs_all(const struct hang_job *job, uint32_t op)
{
    return first_op_of(job, op)->needs_all;
}

bool hang_others_have_done(const struct hang_job *job, uint32_t g, int64_t seq, uint32_t op, uint32_t rank)
{
    const struct hang_group *group = &job->groups.at[g];
    if (seq <= group->most_completed[group->most_completed_by == rank])
        return true;
    if (op == HANG_NONE)
        return false;
    const uint32_t *done_by = job->ops.at[op].done_by;
    return done_by[done_by[0] == rank] != HANG_NONE;
}

/* Who has done each collective: by entries, and by status. */
static void find_done(struct hang_job *job)
{
    FOR_EACH(op, &job->ops) {
        const struct hang_ref *at = job->refs + op->first, *end = at + op->count;
        size_t found = 0;
        op->done_by[0] = op->done_by[1] = HANG_NONE;
        while (at < end && found < 2) {
            uint32_t rank = at->rank;
            bool done = true;
            for (; at < end && at->rank == rank; at++)
                done = done && hang_entry(job, at->entry)->status == FLIGHT_DONE;
            if (done)
                op->done_by[found++] = rank;
        }
    }
    FOR_EACH(group, &job->groups) {
        group->most_completed[0] = group->most_completed[1] = HANG_UNKNOWN;
        group->most_completed_by = HANG_NONE;
        for (size_t m = 0; m < group->count && !group->is_gloo; m++) {
            int64_t completed = group->members[m].completed;
            if (completed > group->most_completed[0]) {
                group->most_completed[1] = group->most_completed[0];
                group->most_completed[0] = completed;
                group->most_completed_by = group->members[m].rank;
            } else if (completed > group->most_completed[1]) {
                group->most_completed[1] = completed;
            }
        }
    }
}

/* ---- dumps that are older than others ---- */

/* The two largest numbers. */
struct top_two {
    int64_t first, second;
};

static void top_add(struct top_two *top, int64_t number)
{
    if (number > top->first) {
        top->second = top->first;
        top->first = number;
    } else if (number > top->second && number < top->first) {
        top->second = number;
    }
}

/* Can collective SEQ end without all members? Only if it is known that it can. */
static bool may_need_all(const struct hang_job *job, uint32_t op)
{
    return op == HANG_NONE || hang_op_needs_all(job, op);
}

/* Add to TOP, up to two, the last collectives that may need all and that MEMBER completed by its status; UNSEEN: those
 * without an entry alone. */
static void add_completed(const struct hang_job *job, uint32_t g, const struct hang_member *member,
                          bool unseen, struct top_two *top)
{
    size_t count, found = 0;
    for (int64_t seq = member->completed; seq > 0 && found < 2; seq--) {
        uint32_t op = hang_find_op(job, g, seq);
        if (!may_need_all(job, op) ||
            (unseen && op != HANG_NONE && hang_refs_of(job, &job->ops.at[op], member->rank, &count)))
            continue;
        top_add(top, seq);
        found++;
    }
}

/* The number beyond which every member must have entered: one that has not has an older dump. */
static int64_t find_bound(const struct hang_job *job, uint32_t g)
{
    const struct hang_group *group = &job->groups.at[g];
    SCOPED struct top_two *done = mem_zalloc(group->count + 1, sizeof *done),
                          *ended = mem_zalloc(group->count + 1, sizeof *ended);
    for (size_t o = group->first_op; o < group->first_op + group->op_count; o++) {
        const struct hang_op *op = &job->ops.at[o];
        const struct hang_ref *at = job->refs + op->first, *end = at + op->count;
        size_t m = 0;
        while (at < end) {
            uint32_t rank = at->rank;
            bool all_done = true, all_over = true, needs_all = true;
            for (; at < end && at->rank == rank; at++) {
                enum flight_status status = hang_entry(job, at->entry)->status;
                all_done = all_done && status == FLIGHT_DONE;
                all_over = all_over && (status == FLIGHT_DONE || status == FLIGHT_ENDED);
                needs_all = needs_all && flight_op(job->flight, at->entry)->needs_all;
            }
            while (m < group->count && group->members[m].rank < rank)
                m++;
            if (needs_all && all_over && m < group->count && group->members[m].rank == rank)
                top_add(all_done ? &done[m] : &ended[m], op->seq);
        }
    }
    int64_t bound = 0;
    for (size_t m = 0; m < group->count; m++) {
        add_completed(job, g, &group->members[m], group->is_gloo, group->is_gloo ? &ended[m] : &done[m]);
        bound = done[m].first > bound ? done[m].first : bound;
        bound = ended[m].second > bound ? ended[m].second : bound;
    }
    return bound;
}

static void find_stale(struct hang_job *job)
{
    for (size_t g = 0; g < job->groups.count; g++) {
        const struct hang_group *group = &job->groups.at[g];
        int64_t bound = find_bound(job, (uint32_t)g);
        for (size_t m = 0; m < group->count; m++)
            if (group->members[m].entered != HANG_UNKNOWN && group->members[m].entered < bound)
                job->stale[group->members[m].rank] = true;
    }
}

/* ---- the order of members ---- */

static void sort_members(struct hang_job *job, struct hang_group *group)
{
    SCOPED uint64_t *keys = mem_alloc(mem_times(group->count + 1, sizeof *keys));
    SCOPED uint32_t *order = order_open(group->count);
    for (size_t m = 0; m < group->count; m++) {
        const struct hang_member *member = &group->members[m];
        bool absent = job->dump_of[member->rank] == HANG_NONE;
        bool counts = member->entered != HANG_UNKNOWN && !job->stale[member->rank];
        keys[m] = absent ? 0 : counts ? (uint64_t)member->entered + 1 : UINT64_MAX;
        group->absent += absent;
        group->order_count += absent || counts;
    }
    order_by(order, group->count, keys);
    group->order = arena_alloc(job->arena, mem_times(group->count + 1, sizeof *order));
    memcpy(group->order, order, group->count * sizeof *order);
}

size_t hang_missing(const struct hang_group *group, int64_t seq)
{
    return PLACE_BETWEEN(i, group->absent, group->order_count, group->members[group->order[i]].entered < seq);
}

void hang_job_build(struct hang_job *job)
{
    struct flight *flight = job->flight;
    find_world(job);
    build_groups(job);
    job->dump_of = arena_alloc(job->arena, mem_times((size_t)job->world + 1, sizeof *job->dump_of));
    memset(job->dump_of, 0xff, job->world * sizeof *job->dump_of);
    job->active_only = hang_zeroed(job, job->world, sizeof *job->active_only);
    job->whole = hang_zeroed(job, job->world, sizeof *job->whole);
    job->unsure = hang_zeroed(job, job->world, sizeof *job->unsure);
    job->stale = hang_zeroed(job, job->world, sizeof *job->stale);
    job->silent = hang_zeroed(job, job->world, sizeof *job->silent);
    for (size_t d = 0; d < HANG_DOUBTS; d++)
        job->doubts[d] = hang_zeroed(job, job->world, sizeof *job->doubts[d]);
    bool over_groups = false;
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &flight->dumps.at[job->dumps.at[i]];
        job->dump_of[dump->rank] = job->dumps.at[i];
        look_at_gaps(job, dump);
        over_groups = over_groups || counts_over_groups(flight, dump);
    }
    find_silent(job);
    read_status(job);
    for (size_t i = 0; i < job->dumps.count && over_groups; i++)
        renumber(job, &flight->dumps.at[job->dumps.at[i]]);
    find_progress(job);
    find_ops(job);
    find_done(job);
    find_stale(job);
    for (size_t g = 0; g < job->groups.count; g++)
        sort_members(job, &job->groups.at[g]);
}
