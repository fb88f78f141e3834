/* Indices are places in the sequence of the main thread. */
#include "derive/step_infer.h"

#include "base/rows.h"

enum {
    FEWEST_STEPS = 3,
    FEWEST_NAMES = 3,
    MOST_COMPARED = 100000000,
    MOST_FOLDS = 16,
    MOST_TAIL = 64,
    HEAD = 3
};

/* An event of a thread. */
struct span {
    track_id track;
    int64_t start_ns, end_ns, minus_dur_ns;
    event_id event;
};

/* An outermost event; KEY: its name without digits. */
struct item {
    int64_t start_ns, end_ns;
    event_id event;
    name_id key;
};

struct places {
    VEC_OF(size_t);
};

struct sequence {
    VEC_OF(struct item);
    struct places optimizers, batches; /* items that are, or contain, one; each once */
    int64_t length_ns;
};

struct inferring {
    const struct trace *trace;
    uint8_t *marker; /* by name: enum marker */
    name_id *key;    /* by name */
    struct names *keys;
    size_t compared; /* names; bounded */
    bool pipeline;   /* messages between stages, or their marks, are among the names */
};

enum marker { MARKER_NONE, MARKER_OPTIMIZER, MARKER_BATCH };

static void read_names(struct inferring *inferring)
{
    const struct names *names = inferring->trace->names;
    SCOPED struct buffer text = { 0 };
    inferring->marker = mem_zalloc(names_count(names) + 1, 1);
    inferring->key = mem_alloc(mem_times(names_count(names) + 1, sizeof *inferring->key));
    inferring->keys = names_open();
    for (name_id id = 0; id < names_count(names); id++) {
        const char *name = names_text(names, id);
        buffer_clear(&text);
        for (const char *c = name; *c; c++)
            if (*c < '0' || *c > '9')
                buffer_putc(&text, *c);
            else if (c == name || c[-1] < '0' || c[-1] > '9')
                buffer_putc(&text, '#');
        inferring->key[id] = names_add(inferring->keys, text.at ? text.at : "", text.count);
        if (strncmp(name, "Optimizer.step", 14) == 0)
            inferring->marker[id] = MARKER_OPTIMIZER;
        else if (strncmp(name, "enumerate(DataLoader", 20) == 0)
            inferring->marker[id] = MARKER_BATCH;
        inferring->pipeline |= strncmp(name, "PP:", 3) == 0 || strncmp(name, "Forward ", 8) == 0 ||
                               strcasestr(name, "send") || strcasestr(name, "recv");
    }
}

/* ---- the sequence of a thread ---- */

typedef VEC_OF(struct span) spans;

static const struct key by_thread[] = { ASC(struct span, track), ASC(struct span, start_ns),
                                        ASC(struct span, minus_dur_ns), ASC(struct span, event), KEY_END };

static void list_spans(const struct inferring *inferring, uint32_t file, spans *all)
{
    const struct trace *trace = inferring->trace;
    const struct trace_file *of = &trace->files[file];
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        enum event_kind kind = (enum event_kind)trace->kind[e];
        if ((kind != EVENT_OP && kind != EVENT_ANNOTATION && !event_is_call(kind)) ||
            trace->flags[e] & (EVENT_ASYNC | EVENT_POINT | EVENT_UNFINISHED) ||
            trace->tracks[trace->track[e]].kind != TRACK_THREAD)
            continue;
        *VEC_PUSH(all) = (struct span){ trace->track[e], trace_start_ns(trace, e), trace_end_ns(trace, e),
                                        -trace_dur_ns(trace, e), e };
    }
    SORT(all, by_thread);
}

/* How many markers of one kind, optimizers or batches, lie within SPAN; it itself does not count. At most 2. */
static int count_markers(const struct inferring *inferring, const struct span *span, const struct span *end)
{
    int found[MARKER_BATCH + 1] = { 0 };
    for (const struct span *one = span + 1; one < end && one->start_ns < span->end_ns; one++) {
        uint8_t marker = inferring->marker[inferring->trace->name[one->event]];
        if (marker && one->end_ns <= span->end_ns && ++found[marker] == 2)
            return 2;
    }
    return found[MARKER_OPTIMIZER] > found[MARKER_BATCH] ? found[MARKER_OPTIMIZER] : found[MARKER_BATCH];
}

static void add_place(struct places *places, size_t place)
{
    if (places->count == 0 || places->at[places->count - 1] != place)
        *VEC_PUSH(places) = place;
}

/* The sequence of one thread, whose events go from FIRST up to END. */
static void read_sequence(const struct inferring *inferring, const struct span *first, const struct span *end,
                          struct sequence *sequence)
{
    const struct trace *trace = inferring->trace;
    int64_t end_ns = INT64_MIN;
    for (const struct span *span = first; span < end; span++) {
        uint8_t marker = inferring->marker[trace->name[span->event]];
        if (span->start_ns >= end_ns) {
            /* Only annotations are looked into: an operator holds no iterations. */
            bool is_epoch = !marker && trace->kind[span->event] == EVENT_ANNOTATION &&
                            count_markers(inferring, span, end) > 1;
            if (is_epoch)
                continue;
            *VEC_PUSH(sequence) = (struct item){ span->start_ns, span->end_ns, span->event,
                                                 inferring->key[trace->name[span->event]] };
            end_ns = span->end_ns;
            sequence->length_ns += span->end_ns - span->start_ns;
        }
        if (marker)
            add_place(marker == MARKER_OPTIMIZER ? &sequence->optimizers : &sequence->batches,
                      sequence->count - 1);
    }
}

static struct sequence *step_infer_sequence(void)
{
    struct sequence *sequence = arena_open(sizeof *sequence);
    ARENA_OWNS(arena_of(sequence), &sequence->at, &sequence->optimizers, &sequence->batches);
    return sequence;
}

/* The sequence of the main thread. New; free with arena_free. */
static struct sequence *main_sequence(const struct inferring *inferring, const spans *all)
{
    struct sequence *best = step_infer_sequence();
    FOR_RUNS(first, end, all->count, all->at[end].track == all->at[first].track) {
        struct sequence *one = step_infer_sequence();
        read_sequence(inferring, &all->at[first], &all->at[end], one);
        bool trains = one->optimizers.count > 0, best_trains = best->optimizers.count > 0;
        bool better = trains != best_trains ? trains : one->length_ns > best->length_ns;
        arena_free(better ? best : one);
        best = better ? one : best;
    }
    return best;
}

/* ---- comparing ---- */

static bool are_alike(struct inferring *inferring, const struct sequence *sequence, size_t a, size_t b)
{
    inferring->compared++;
    return sequence->at[a].key == sequence->at[b].key;
}

static bool is_too_long(const struct inferring *inferring)
{
    return inferring->compared > MOST_COMPARED;
}

/* Are there at least three names in the COUNT items from FIRST? */
static bool has_names(const struct sequence *sequence, size_t first, size_t count)
{
    name_id seen[FEWEST_NAMES];
    size_t found = 0;
    for (size_t i = first; i < first + count && found < FEWEST_NAMES; i++) {
        bool known = ANY(k, found, seen[k] == sequence->at[i].key);
        if (!known)
            seen[found++] = sequence->at[i].key;
    }
    return found == FEWEST_NAMES;
}

/* Do the items of [FIRST, END), without some at the end, repeat a shorter sequence? */
static bool is_folded(struct inferring *inferring, const struct sequence *sequence, size_t first, size_t end)
{
    size_t count = end - first, most_tail = count / 10 < MOST_TAIL ? count / 10 : MOST_TAIL;
    for (size_t folds = 2; folds <= MOST_FOLDS; folds++)
        for (size_t tail = 0; tail <= most_tail && !is_too_long(inferring); tail++) {
            size_t length = (count - tail) / folds, i = first;
            if ((count - tail) % folds || length < FEWEST_NAMES || !has_names(sequence, first, length))
                continue;
            while (i + length < end - tail && are_alike(inferring, sequence, i, i + length))
                i++;
            if (i + length >= end - tail)
                return true;
        }
    return false;
}

/* The names with which iterations begin. */
struct head {
    size_t first, count;
};

/* The first place in [FIRST, END) where HEAD is repeated; END: nowhere. */
static size_t find_head(struct inferring *inferring, const struct sequence *sequence, struct head head,
                        size_t first, size_t end)
{
    for (size_t i = first; i + head.count <= end; i++) {
        size_t k = 0;
        while (k < head.count && are_alike(inferring, sequence, i + k, head.first + k))
            k++;
        if (k == head.count)
            return i;
    }
    return end;
}

/* ---- by optimizers ---- */

/* What follows an optimizer before the next iteration: FIRST up to END. */
struct tail {
    size_t first, end;
};

static bool are_tails_alike(struct inferring *inferring, const struct sequence *sequence, struct tail a,
                            struct tail b)
{
    size_t count = a.end - a.first < b.end - b.first ? a.end - a.first : b.end - b.first, i = 0;
    while (i < count && are_alike(inferring, sequence, a.first + i, b.first + i))
        i++;
    return i == count;
}

/* The tail that most of the others equal in length and names; of ties the first. */
static struct tail usual_tail(struct inferring *inferring, const struct sequence *sequence,
                              const struct tail *tails, size_t count)
{
    size_t best = 0, most = 0;
    for (size_t a = 0; a < count && !is_too_long(inferring); a++) {
        size_t same = SUM(size_t, b, count,
                          tails[a].end - tails[a].first == tails[b].end - tails[b].first &&
                              are_tails_alike(inferring, sequence, tails[a], tails[b]));
        if (same > most) {
            best = a;
            most = same;
        }
    }
    return tails[best];
}

/* Iterations that begin where HEAD is repeated after each optimizer. Sets STARTS and *END, the item after the last iteration. False
 * if it is not repeated after each, or if what precedes it there does not end the last iteration. */
static bool begin_with_head(struct inferring *inferring, const struct sequence *sequence, struct head head,
                            struct places *starts, size_t *end)
{
    const struct places *optimizers = &sequence->optimizers;
    size_t count = optimizers->count;
    SCOPED struct tail *tails = mem_alloc(mem_times(count + 1, sizeof *tails));
    bool fine = true;
    starts->count = 0;
    *VEC_PUSH(starts) = head.first;
    for (size_t j = 0; j + 1 < count && fine; j++) {
        size_t first = optimizers->at[j] + 1, next = optimizers->at[j + 1] + 1;
        size_t start = find_head(inferring, sequence, head, first, next), half = (next - first) / 2;
        fine = start < next && start - first <= (half > HEAD ? half : HEAD);
        tails[j] = (struct tail){ first, start };
        *VEC_PUSH(starts) = start;
    }
    if (fine) {
        size_t first = optimizers->at[count - 1] + 1;
        struct tail last = { first, find_head(inferring, sequence, head, first, sequence->count) };
        struct tail usual = usual_tail(inferring, sequence, tails, count - 1);
        fine = are_tails_alike(inferring, sequence, last, usual);
        size_t length = usual.end - usual.first;
        *end = last.end - first < length ? last.end : first + length;
    }
    return fine;
}

/* Does each optimizer step have one batch before it? Sets STARTS to these. */
static bool begin_with_batches(const struct sequence *sequence, struct places *starts)
{
    size_t batch = 0;
    starts->count = 0;
    for (size_t j = 0; j < sequence->optimizers.count; j++) {
        size_t found = 0;
        for (; batch < sequence->batches.count && sequence->batches.at[batch] <= sequence->optimizers.at[j];
             batch++)
            if (found++ == 0)
                *VEC_PUSH(starts) = sequence->batches.at[batch];
        if (found != 1)
            return false;
    }
    return true;
}

/* Iterations that begin after each optimizer, with the same name; the first where that name is first. */
static bool begin_after(struct inferring *inferring, const struct sequence *sequence, struct places *starts)
{
    const struct places *optimizers = &sequence->optimizers;
    size_t after = optimizers->at[0] + 1, first = 0;
    starts->count = 0;
    while (first <= optimizers->at[0] && !are_alike(inferring, sequence, first, after))
        first++;
    if (first > optimizers->at[0])
        return false;
    *VEC_PUSH(starts) = first;
    for (size_t j = 0; j + 1 < optimizers->count; j++) {
        if (!are_alike(inferring, sequence, optimizers->at[j] + 1, after))
            return false;
        *VEC_PUSH(starts) = optimizers->at[j] + 1;
    }
    return true;
}

static bool have_one_name(const struct inferring *inferring, const spans *all)
{
    name_id name = NAME_NONE;
    for (size_t i = 0; i < all->count; i++) {
        name_id own = inferring->trace->name[all->at[i].event];
        if (inferring->marker[own] != MARKER_OPTIMIZER)
            continue;
        if (name != NAME_NONE && own != name)
            return false;
        name = own;
    }
    return true;
}

static bool find_by_optimizers(struct inferring *inferring, const struct sequence *sequence, const spans *all,
                               struct places *starts, size_t *end)
{
    const struct places *optimizers = &sequence->optimizers;
    bool has_batches = sequence->batches.count > 0;
    if (!have_one_name(inferring, all) || (has_batches && !begin_with_batches(sequence, starts)))
        return false;
    for (size_t j = 0; j < optimizers->count && !has_batches && !inferring->pipeline; j++)
        if (is_folded(inferring, sequence, j ? optimizers->at[j - 1] + 1 : 0, optimizers->at[j] + 1))
            return false;
    *end = optimizers->at[optimizers->count - 1] + 1;
    for (size_t first = 0; first <= HEAD && first + HEAD <= optimizers->at[0]; first++)
        if (begin_with_head(inferring, sequence, (struct head){ first, HEAD }, starts, end))
            return true;
    *end = optimizers->at[optimizers->count - 1] + 1;
    return has_batches ? begin_with_batches(sequence, starts) : begin_after(inferring, sequence, starts);
}

/* ---- by batches, and by what repeats ---- */

static bool find_by_batches(struct inferring *inferring, const struct sequence *sequence,
                            struct places *starts, size_t *end)
{
    const struct places *batches = &sequence->batches;
    size_t count = batches->count, first = batches->at[0] + 1, last = batches->at[count - 1] + 1;
    *end = sequence->count;
    if (last >= sequence->count || !are_alike(inferring, sequence, first, last)) {
        *end = batches->at[--count]; /* there was no other batch */
        if (count < FEWEST_STEPS)
            return false;
    }
    starts->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!are_alike(inferring, sequence, first, batches->at[i] + 1))
            return false;
        *VEC_PUSH(starts) = batches->at[i];
    }
    return true;
}

/* Does a name of the items before FIRST occur in the LENGTH items from FIRST? */
static bool begins_within(struct inferring *inferring, const struct sequence *sequence, size_t first,
                          size_t length)
{
    for (size_t i = 0; i < first; i++)
        for (size_t k = first; k < first + length && !is_too_long(inferring); k++)
            if (are_alike(inferring, sequence, i, k))
                return true;
    return false;
}

static bool find_by_repetition(struct inferring *inferring, const struct sequence *sequence,
                               struct places *starts, size_t *end)
{
    size_t count = sequence->count;
    for (size_t length = FEWEST_NAMES; length <= count / FEWEST_STEPS && !is_too_long(inferring); length++) {
        size_t head = count - length;
        while (head > 0 && are_alike(inferring, sequence, head - 1, head - 1 + length))
            head--;
        if (head >= length || (count - head) / length < FEWEST_STEPS || !has_names(sequence, head, length))
            continue;
        if (begins_within(inferring, sequence, head, length))
            return false;
        starts->count = 0;
        for (*end = head; *end + length <= count; *end += length)
            *VEC_PUSH(starts) = *end;
        return true;
    }
    return false;
}

/* ---- steps ---- */

static void add_steps(const struct sequence *sequence, uint32_t file, const struct places *starts, size_t end,
                      enum step_evidence evidence, struct step_list *steps)
{
    for (size_t i = 0; i < starts->count; i++) {
        const struct item *item = &sequence->at[starts->at[i]];
        int64_t end_ns =
            i + 1 < starts->count ? sequence->at[starts->at[i + 1]].start_ns : sequence->at[end - 1].end_ns;
        *VEC_PUSH(steps) =
            (struct step){ file, (int64_t)i, item->start_ns, end_ns, item->event, false, evidence, NULL };
    }
}

void step_infer(const struct trace *trace, uint32_t file, struct step_list *steps)
{
    struct inferring inferring = { .trace = trace };
    SCOPED spans all = { 0 };
    SCOPED struct places starts = { 0 };
    size_t end = 0;
    read_names(&inferring);
    list_spans(&inferring, file, &all);
    SCOPED_OBJECT struct sequence *sequence = main_sequence(&inferring, &all);
    enum step_evidence evidence = sequence->optimizers.count >= FEWEST_STEPS ? STEP_BY_OPTIMIZER
                                  : sequence->optimizers.count               ? STEP_IS_MARKED
                                  : sequence->batches.count >= FEWEST_STEPS  ? STEP_BY_LOADER
                                                                             : STEP_BY_REPETITION;
    bool found = evidence == STEP_BY_OPTIMIZER ? find_by_optimizers(&inferring, sequence, &all, &starts, &end)
                 : evidence == STEP_BY_LOADER  ? find_by_batches(&inferring, sequence, &starts, &end)
                 : evidence == STEP_BY_REPETITION ? find_by_repetition(&inferring, sequence, &starts, &end)
                                                  : false;
    if (found && !is_too_long(&inferring))
        add_steps(sequence, file, &starts, end, evidence, steps);
    EACH(free, inferring.marker, inferring.key);
    names_free(inferring.keys);
}

const char *step_evidence_name(enum step_evidence evidence)
{
    static const char *const names[] = {
        [STEP_IS_MARKED] = "marks",
        [STEP_BY_OPTIMIZER] = "Optimizer.step",
        [STEP_BY_LOADER] = "DataLoader.__next__",
        [STEP_BY_REPETITION] = "operators that repeat",
    };
    return names[evidence];
}
