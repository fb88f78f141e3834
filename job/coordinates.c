/*
 * coordinates.c - see operations.h and recording.h.
 *
 * The description of a group names its dimension: "TENSOR_MODEL_PARALLEL_GROUP" (Megatron), "mesh_dp_shard" (DeviceMesh), "tp:0"
 * (vLLM, SGLang); the coordinate of a rank is its place among the ranks of the group. Groups of several dimensions name none.
 */
#include "base/rows.h"
#include "derive/file_set.h"
#include "job/recording.h"
#include <strings.h>

static const struct {
    const char *text;
    enum job_dimension dimension;
} words[] = {
    { "dp", JOB_DP },
    { "data", JOB_DP },
    { "dp_replicate", JOB_DP },
    { "dp_shard", JOB_DP },
    { "fsdp", JOB_DP },
    { "data_parallel", JOB_DP },
    { "pp", JOB_PP },
    { "pipe", JOB_PP },
    { "pipeline", JOB_PP },
    { "pipeline_model_parallel", JOB_PP },
    { "tp", JOB_TP },
    { "tensor", JOB_TP },
    { "model", JOB_TP },
    { "tensor_model_parallel", JOB_TP },
    { "cp", JOB_CP },
    { "context", JOB_CP },
    { "sp", JOB_CP },
    { "sequence", JOB_CP },
    { "context_parallel", JOB_CP },
    { "ep", JOB_EP },
    { "expert", JOB_EP },
    { "expert_model_parallel", JOB_EP },
};

enum job_dimension coordinates_dimension(const char *description)
{
    if (!description)
        return JOB_NO_DIMENSION;
    if (strcmp(description, "default_pg") == 0)
        return JOB_WORLD;
    if (strncasecmp(description, "mesh_", 5) == 0)
        description += 5;
    size_t len = strlen(description), digits = len;
    while (digits > 0 && description[digits - 1] >= '0' && description[digits - 1] <= '9')
        digits--;
    if (digits < len && digits > 0 && description[digits - 1] == ':')
        len = digits - 1;
    else if (len > 6 && strncasecmp(description + len - 6, "_group", 6) == 0)
        len -= 6;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].text) == len && strncasecmp(words[i].text, description, len) == 0)
            return words[i].dimension;
    return JOB_NO_DIMENSION;
}

/* The place of NUMBER in a list "[0, 4, 8]"; -1: it is not in it. */
static int64_t place_in(const char *list, int64_t number)
{
    int64_t place = 0;
    for (const char *c = list; *c; place++) {
        while (*c && (*c < '0' || *c > '9'))
            c++;
        if (!*c)
            return -1;
        if (strtoll(c, NULL, 10) == number)
            return place;
        while (*c >= '0' && *c <= '9')
            c++;
    }
    return -1;
}

/* The coordinates of a file, by dimension. */
struct coordinates {
    int64_t at[JOB_DIMENSIONS];
};

static void read_groups(const struct trace *trace, const struct trace_file *file, struct coordinates *found)
{
    int64_t rank = file_set_rank_of(file);
    for (size_t g = 0; g < file->groups.count && rank >= 0; g++) {
        const struct trace_group *group = &file->groups.at[g];
        if (group->description == NAME_NONE || group->ranks == NAME_NONE)
            continue;
        enum job_dimension dimension = coordinates_dimension(names_text(trace->texts, group->description));
        int64_t place = place_in(names_text(trace->texts, group->ranks), rank);
        if (dimension < JOB_DIMENSIONS && place >= 0 && found->at[dimension] == FACTS_MISSING)
            found->at[dimension] = place;
    }
}

/* Read TRACE_COORDINATES. */
static void read_label(const char *label, struct coordinates *found)
{
    for (; label && *label; label += strcspn(label, " "), label += *label == ' ')
        for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
            if (strncmp(label, job_dimension_name(d), 2) == 0 && label[2] == '=' &&
                found->at[d] == FACTS_MISSING)
                found->at[d] = strtoll(label + 3, NULL, 10);
}

/* Read "-TP-1-DP-0" in the name of a file, as SGLang writes it. */
static void read_file_name(const char *path, struct coordinates *found)
{
    const char *slash = strrchr(path, '/');
    for (const char *c = slash ? slash + 1 : path; *c; c++)
        for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
            if (*c == '-' && strncasecmp(c + 1, job_dimension_name(d), 2) == 0 && c[3] == '-' &&
                c[4] >= '0' && c[4] <= '9' && found->at[d] == FACTS_MISSING)
                found->at[d] = strtoll(c + 4, NULL, 10);
}

void coordinates_read(const struct trace *trace, uint32_t file, struct facts_recording *row)
{
    const struct trace_file *of = &trace->files[file];
    struct coordinates found;
    for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
        found.at[d] = FACTS_MISSING;
    read_groups(trace, of, &found);
    read_label(trace_file_property(of, TRACE_COORDINATES), &found);
    if (!trace_file_property(of, TRACE_RANK_BY))
        read_file_name(of->path, &found);
    row->dp = found.at[JOB_DP];
    row->pp = found.at[JOB_PP];
    row->tp = found.at[JOB_TP];
    row->cp = found.at[JOB_CP];
    row->ep = found.at[JOB_EP];
}

struct seat {
    int64_t at[JOB_DIMENSIONS];
    uint32_t rank;
};

static const struct key by_seat[] = { { ROWS_I64, 0, false },  { ROWS_I64, 8, false },
                                      { ROWS_I64, 16, false }, { ROWS_I64, 24, false },
                                      { ROWS_I64, 32, false }, KEY_END };

/* Number the ranks that are equal in all dimensions but DIMENSION. */
static void number_others(struct operations *all, unsigned dimension)
{
    SCOPED VEC_OF(struct seat) seats = { 0 };
    for (uint32_t r = 0; r < all->ranks.count; r++) {
        struct seat *seat = VEC_PUSH(&seats);
        memcpy(seat->at, all->ranks.at[r].at, sizeof seat->at);
        seat->at[dimension] = 0;
        seat->rank = r;
    }
    SORT(&seats, by_seat);
    uint32_t number = 0;
    FOR_GROUPS(&seats, by_seat, first, end) {
        for (size_t i = first; i < end; i++)
            all->ranks.at[seats.at[i].rank].others[dimension] = number;
        number++;
    }
}

static int64_t count_coordinates(const struct operations *all, unsigned dimension)
{
    SCOPED VEC_OF(int64_t) known = { 0 };
    for (size_t r = 0; r < all->ranks.count; r++)
        if (all->ranks.at[r].at[dimension] != JOB_UNKNOWN)
            *VEC_PUSH(&known) = all->ranks.at[r].at[dimension];
    SORT(&known, rows_ascending_i64);
    return (int64_t)rows_unique(known.at, known.count, sizeof *known.at, rows_ascending_i64);
}

/* In torch a dimension as large as the job has no group: where nothing else divides the ranks, they are the stages. */
static void take_ranks_as_stages(struct operations *all)
{
    for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
        if (all->size[d] > 1 || (d == JOB_PP && all->size[d]))
            return;
    for (size_t r = 0; r < all->ranks.count; r++)
        all->ranks.at[r].at[JOB_PP] = all->ranks.at[r].number;
    all->size[JOB_PP] = (int64_t)all->ranks.count;
}

void coordinates_finish(struct operations *all, bool has_pipeline)
{
    for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
        all->size[d] = count_coordinates(all, d);
    if (has_pipeline)
        take_ranks_as_stages(all);
    for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
        number_others(all, d);
}
