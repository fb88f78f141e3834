/* Texts first, then the tables that events refer to, then the events in blocks, each of one file. Most events of a
 * trace have one of a few shapes (category, flags, which arguments), so that a byte tells what else there is. Blocks of
 * events are packed on several threads and written in order: the file is the same for any number of them. */
#include "trace/tpafile_save.h"

#include "base/bits.h"
#include "base/parallel.h"
#include "trace/storage.h"

enum { BLOCK_EVENTS = 32768, SAVE_LEVEL = 6 };

/* Traces of fewer events are read in no time, so that being small is what counts. */
enum { SMALL_TRACE = 8192, SMALL_LEVEL = 19 };

struct shape {
    uint64_t args;
    uint16_t category;
    uint8_t flags;
};

struct saver {
    const struct trace *trace;
    struct tpafile_writer *writer;
    size_t block_events;
    int level;
    int64_t first_text; /* number of the text 0; names begin at 1 */
    unsigned arg_count; /* arguments that events have */
    enum trace_arg args[ARG_COUNT];
};

/* COUNT events of a file, or flows, which one thread packs. */
struct block {
    const struct saver *saver;
    struct tpafile_encoder *encoder;
    size_t file, first, count;
    uint64_t *masks;  /* by event of the block: its arguments, by their place in ARGS */
    int64_t *numbers; /* a column */
    VEC_OF(struct shape) shapes;
};

static int64_t text_number(const struct saver *saver, name_id id)
{
    return id == NAME_NONE ? 0 : saver->first_text + id;
}

/* A text that is in neither table. */
static int64_t own_text(struct saver *saver, const char *text)
{
    return text ? tpafile_writer_text(saver->writer, text, strlen(text)) : 0;
}

static void save_texts(struct saver *saver)
{
    const struct names *tables[] = { saver->trace->names, saver->trace->texts };
    for (size_t t = 0; t < 2; t++)
        for (size_t id = 0; id < names_count(tables[t]); id++)
            tpafile_writer_new_text(saver->writer, names_text(tables[t], (name_id)id),
                                    names_length(tables[t], (name_id)id));
    saver->first_text = 1 + (int64_t)names_count(saver->trace->names);
}

/* ---- tables ---- */

/* The first of the keys that files use for it, and the type of its values. */
struct argument {
    const char *keys;
    enum tpafile_argument_type type;
};

static const struct argument arguments[ARG_COUNT] = {
#define TYPE_INT TPAFILE_ARGUMENT_INT
#define TYPE_BOOL TPAFILE_ARGUMENT_INT
#define TYPE_DECIMAL TPAFILE_ARGUMENT_DECIMAL
#define TYPE_TEXT TPAFILE_ARGUMENT_TEXT
#define TYPE_JSON TPAFILE_ARGUMENT_TEXT
#define ARGUMENT_ROW(id, kind, keys) { keys, TYPE_##kind },
    TRACE_ARGS(ARGUMENT_ROW)
};

static void save_arguments(struct saver *saver)
{
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        if (saver->trace->args[arg].count == 0)
            continue;
        saver->args[saver->arg_count++] = (enum trace_arg)arg;
        const char *keys = arguments[arg].keys;
        int64_t row[TPAFILE_ARGUMENT_FIELDS_END] = {
            [TPAFILE_ARGUMENT_KEY] = tpafile_writer_text(saver->writer, keys, strcspn(keys, "|")),
            [TPAFILE_ARGUMENT_TYPE] = arguments[arg].type,
        };
        tpafile_writer_add(saver->writer, TPAFILE_ARGUMENT, row);
    }
}

static int64_t known_or_none(bool known, int64_t value)
{
    return known ? value : TPAFILE_NONE;
}

static void save_file(struct saver *saver, size_t index)
{
    const struct trace *trace = saver->trace;
    const struct trace_file *file = &trace->files[index];
    bool first = index == 0;
    int64_t row[TPAFILE_FILE_FIELDS_END] = {
        [TPAFILE_FILE_PATH] = own_text(saver, file->path),
        [TPAFILE_FILE_FORMAT] = own_text(saver, file->format),
        [TPAFILE_FILE_PACKING] = file->packing,
        [TPAFILE_FILE_PACKED_SIZE] = file->packed_size,
        [TPAFILE_FILE_SIZE] = file->size,
        [TPAFILE_FILE_PRODUCER] = file->producer,
        [TPAFILE_FILE_EVENTS] = file->event_count,
        [TPAFILE_FILE_BASE] = known_or_none(file->has_base, file->base_ns),
        [TPAFILE_FILE_WINDOW_START] = known_or_none(file->has_window, file->window_start_ns),
        [TPAFILE_FILE_WINDOW_END] = known_or_none(file->has_window, file->window_end_ns),
        [TPAFILE_FILE_HOST] = own_text(saver, file->host_name),
        [TPAFILE_FILE_TRACE_NAME] = own_text(saver, file->trace_name),
        [TPAFILE_FILE_TRACE_ID] = own_text(saver, file->trace_id),
        [TPAFILE_FILE_RANK] = file->rank,
        [TPAFILE_FILE_WORLD_SIZE] = file->world_size,
        [TPAFILE_FILE_BACKEND] = own_text(saver, file->backend),
        [TPAFILE_FILE_NCCL_VERSION] = own_text(saver, file->nccl_version),
        [TPAFILE_FILE_RECORD_SHAPES] = file->record_shapes,
        [TPAFILE_FILE_PROFILE_MEMORY] = file->profile_memory,
        [TPAFILE_FILE_WITH_STACK] = file->with_stack,
        [TPAFILE_FILE_WITH_FLOPS] = file->with_flops,
        [TPAFILE_FILE_WITH_MODULES] = file->with_modules,
        [TPAFILE_FILE_FLOWS_SEEN] = known_or_none(first, (int64_t)trace->flows_seen),
        [TPAFILE_FILE_SAMPLES_SEEN] = known_or_none(first, (int64_t)trace->samples_seen),
        [TPAFILE_FILE_METADATA_SEEN] = known_or_none(first, (int64_t)trace->metadata_seen),
        [TPAFILE_FILE_NAMES] = known_or_none(first, (int64_t)names_count(trace->names)),
    };
    tpafile_writer_add(saver->writer, TPAFILE_FILE, row);
    FOR_EACH(device, &file->devices) {
        int64_t facts[TPAFILE_FILE_DEVICE_FIELDS_END] = {
            [TPAFILE_FILE_DEVICE_FILE] = (int64_t)index,
            [TPAFILE_FILE_DEVICE_DEVICE] = device->id,
            [TPAFILE_FILE_DEVICE_NAME] = own_text(saver, device->name),
            [TPAFILE_FILE_DEVICE_TOTAL_MEMORY] = device->total_memory,
            [TPAFILE_FILE_DEVICE_COMPUTE_MAJOR] = device->compute_major,
            [TPAFILE_FILE_DEVICE_COMPUTE_MINOR] = device->compute_minor,
            [TPAFILE_FILE_DEVICE_SM_COUNT] = device->sm_count,
            [TPAFILE_FILE_DEVICE_WARP_SIZE] = device->warp_size,
            [TPAFILE_FILE_DEVICE_MAX_THREADS_PER_SM] = device->max_threads_per_sm,
            [TPAFILE_FILE_DEVICE_MAX_THREADS_PER_BLOCK] = device->max_threads_per_block,
            [TPAFILE_FILE_DEVICE_REGISTERS_PER_SM] = device->regs_per_sm,
            [TPAFILE_FILE_DEVICE_SHARED_PER_SM] = device->shared_memory_per_sm,
        };
        tpafile_writer_add(saver->writer, TPAFILE_FILE_DEVICE, facts);
    }
    for (size_t i = 0; i < file->properties.count; i++) {
        int64_t property[TPAFILE_PROPERTY_FIELDS_END] = {
            [TPAFILE_PROPERTY_FILE] = (int64_t)index,
            [TPAFILE_PROPERTY_KEY] = own_text(saver, file->properties.at[i].key),
            [TPAFILE_PROPERTY_VALUE] = own_text(saver, file->properties.at[i].value),
            [TPAFILE_PROPERTY_IS_STRING] = file->properties.at[i].is_string,
        };
        tpafile_writer_add(saver->writer, TPAFILE_PROPERTY, property);
    }
}

static void save_track(struct saver *saver, const struct track *track)
{
    int64_t row[TPAFILE_TRACK_FIELDS_END] = {
        [TPAFILE_TRACK_FILE] = track->file,
        [TPAFILE_TRACK_PID] = track->pid,
        [TPAFILE_TRACK_TID] = track->tid,
        [TPAFILE_TRACK_PID_TEXT] = text_number(saver, track->pid_text),
        [TPAFILE_TRACK_TID_TEXT] = text_number(saver, track->tid_text),
        [TPAFILE_TRACK_PROCESS_NAME] = text_number(saver, track->process_name),
        [TPAFILE_TRACK_PROCESS_LABELS] = text_number(saver, track->process_labels),
        [TPAFILE_TRACK_THREAD_NAME] = text_number(saver, track->thread_name),
        [TPAFILE_TRACK_PROCESS_SORT_INDEX] = track->process_sort_index,
        [TPAFILE_TRACK_THREAD_SORT_INDEX] = track->thread_sort_index,
    };
    tpafile_writer_add(saver->writer, TPAFILE_TRACK, row);
}

static void save_notice(struct saver *saver, const struct trace_notice *notice)
{
    int64_t row[TPAFILE_NOTICE_FIELDS_END] = {
        [TPAFILE_NOTICE_FILE] = notice->of_all ? TPAFILE_NO_FILE : notice->file,
        [TPAFILE_NOTICE_WORD] = own_text(saver, notice->kind),
        [TPAFILE_NOTICE_TEXT] = own_text(saver, notice->text),
        [TPAFILE_NOTICE_COUNT] = (int64_t)notice->count,
        [TPAFILE_NOTICE_OFFSET] = notice->of_container ? TPA_NOWHERE : notice->offset,
    };
    tpafile_writer_add(saver->writer, TPAFILE_NOTICE, row);
}

static size_t place_of(const struct trace_notice *notice)
{
    return notice->of_all ? 0 : (size_t)notice->file + 1;
}

/* First those of no file, then file by file, as readers take them; else in their order. */
static void tpafile_save_save_notices(struct saver *saver)
{
    const struct trace *trace = saver->trace;
    SCOPED size_t *order = mem_alloc(mem_times(trace->notice_count + 1, sizeof *order));
    SCOPED size_t *first = mem_zalloc(trace->file_count + 2, sizeof *first);
    for (size_t i = 0; i < trace->notice_count; i++)
        first[place_of(&trace->notices[i]) + 1]++;
    for (size_t p = 0; p <= trace->file_count; p++)
        first[p + 1] += first[p];
    for (size_t i = 0; i < trace->notice_count; i++)
        order[first[place_of(&trace->notices[i])]++] = i;
    for (size_t i = 0; i < trace->notice_count; i++)
        save_notice(saver, &trace->notices[order[i]]);
}

static void save_tables(struct saver *saver)
{
    const struct trace *trace = saver->trace;
    save_arguments(saver);
    for (size_t i = 0; i < trace->file_count; i++)
        save_file(saver, i);
    for (size_t i = 0; i < trace->category_count; i++) {
        int64_t row[TPAFILE_CATEGORY_FIELDS_END] = { text_number(saver, trace->categories[i].text) };
        tpafile_writer_add(saver->writer, TPAFILE_CATEGORY, row);
    }
    for (size_t i = 0; i < trace->track_count; i++)
        save_track(saver, &trace->tracks[i]);
    tpafile_save_save_notices(saver);
    tpafile_writer_flush(saver->writer);
}

/* ---- events ---- */

/* Which arguments the events have. */
static void collect_masks(struct block *block)
{
    const struct saver *saver = block->saver;
    event_id first = (event_id)block->first, end = (event_id)(first + block->count);
    memset(block->masks, 0, block->count * sizeof *block->masks);
    for (unsigned a = 0; a < saver->arg_count; a++) {
        const uint64_t *present = saver->trace->args[saver->args[a]].present;
        uint64_t bit = UINT64_C(1) << a;
        for (event_id from = first; from < end; from = (from / 64 + 1) * 64) {
            uint64_t bits = present[from / 64] >> from % 64;
            if (end - from < 64)
                bits &= (UINT64_C(1) << (end - from)) - 1;
            for (; bits; bits &= bits - 1)
                block->masks[from - first + (event_id)__builtin_ctzll(bits)] |= bit;
        }
    }
}

/* The shape of each event into block->numbers, the distinct ones into block->shapes. */
static void collect_shapes(struct block *block)
{
    const struct trace *trace = block->saver->trace;
    size_t first = block->first;
    block->shapes.count = 0;
    SCOPED_OBJECT struct names *keys = names_open();
    for (size_t i = 0; i < block->count; i++) {
        struct shape shape = { 0 };
        shape.args = block->masks[i];
        shape.category = trace->category[first + i];
        shape.flags = trace->flags[first + i];
        const struct shape *last = block->shapes.count ? &block->shapes.at[block->numbers[i - 1]] : NULL;
        if (last && last->args == shape.args && last->category == shape.category &&
            last->flags == shape.flags) {
            block->numbers[i] = block->numbers[i - 1];
            continue;
        }
        unsigned char key[11];
        memcpy(key, &shape.args, 8);
        memcpy(key + 8, &shape.category, 2);
        key[10] = shape.flags;
        name_id id = names_add(keys, (const char *)key, sizeof key);
        if (id == block->shapes.count)
            *VEC_PUSH(&block->shapes) = shape;
        block->numbers[i] = id;
    }
}

static void save_shapes(struct block *block)
{
    struct tpafile_encoder *encoder = block->encoder;
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE, block->numbers, block->count);
    size_t count = block->shapes.count;
    for (size_t i = 0; i < count; i++)
        block->numbers[i] = block->shapes.at[i].category;
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_CATEGORY, block->numbers, count);
    for (size_t i = 0; i < count; i++)
        block->numbers[i] = block->shapes.at[i].flags;
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_FLAGS, block->numbers, count);
    for (size_t i = 0; i < count; i++)
        block->numbers[i] = (int64_t)block->shapes.at[i].args;
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_ARGS, block->numbers, count);
}

/* How many values of the column come before EVENT. */
static size_t tpafile_save_count_before(const struct trace_arg_column *column, event_id event)
{
    size_t before = column->rank[event / 512];
    for (event_id word = event / 512 * 8; word < event / 64; word++)
        before += bits_count(column->present[word]);
    return before + bits_count(column->present[event / 64] & ((UINT64_C(1) << event % 64) - 1));
}

static void save_argument(struct block *block, unsigned place)
{
    const struct saver *saver = block->saver;
    const struct trace_arg_column *column = &saver->trace->args[saver->args[place]];
    bool is_text = arguments[saver->args[place]].type == TPAFILE_ARGUMENT_TEXT;
    size_t at = tpafile_save_count_before(column, (event_id)block->first);
    size_t count = tpafile_save_count_before(column, (event_id)(block->first + block->count)) - at;
    packed_read_values(&column->values, at, count, block->numbers);
    for (size_t i = 0; is_text && i < count; i++)
        block->numbers[i] = text_number(saver, (name_id)block->numbers[i]);
    tpafile_encode_column(block->encoder, TPAFILE_EVENTS_ARG + place, block->numbers, count);
}

/* A task of parallel_run. */
static void pack_events(void *context, size_t part)
{
    struct block *block = (struct block *)context + part;
    const struct trace *trace = block->saver->trace;
    struct tpafile_encoder *encoder = block->encoder;
    size_t first = block->first, count = block->count;
    tpafile_encode_begin(encoder, TPAFILE_EVENTS, (uint32_t)count);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_FILE, &(int64_t){ (int64_t)block->file }, 1);
    packed_read_values(&trace->start_ns, first, count, block->numbers);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_START, block->numbers, count);
    packed_read_values(&trace->dur_ns, first, count, block->numbers);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_DURATION, block->numbers, count);
    for (size_t i = 0; i < count; i++)
        block->numbers[i] = 1 + (int64_t)trace->name[first + i];
    tpafile_encode_column(encoder, TPAFILE_EVENTS_NAME, block->numbers, count);
    for (size_t i = 0; i < count; i++)
        block->numbers[i] = trace->track[first + i];
    tpafile_encode_column(encoder, TPAFILE_EVENTS_TRACK, block->numbers, count);
    collect_masks(block);
    collect_shapes(block);
    save_shapes(block);
    for (unsigned place = 0; place < block->saver->arg_count; place++)
        save_argument(block, place);
}

/* The fields of FLOW are flow_columns' in the same order. */
_Static_assert(TPAFILE_FLOW_TIME == (int)FLOW_TIME && TPAFILE_FLOW_ID == (int)FLOW_ID &&
                   TPAFILE_FLOW_TRACK == (int)FLOW_TRACK && TPAFILE_FLOW_PHASE == (int)FLOW_PHASE &&
                   TPAFILE_FLOW_CATEGORY == (int)FLOW_CATEGORY && TPAFILE_FLOW_NAME == (int)FLOW_NAME &&
                   TPAFILE_FLOW_BIND_ENCLOSING == (int)FLOW_BIND_ENCLOSING,
               "a column of flows is a field");

/* A task of parallel_run. */
static void pack_flows(void *context, size_t part)
{
    struct block *block = (struct block *)context + part;
    const struct flow_columns *flows = &block->saver->trace->storage->flows;
    tpafile_encode_begin(block->encoder, TPAFILE_FLOW, (uint32_t)block->count);
    for (unsigned column = 0; column < FLOW_COLUMNS; column++) {
        const struct packed values = { flows->of[column].blocks.at, flows->of[column].words };
        packed_read_values(&values, block->first, block->count, block->numbers);
        bool is_text = column == FLOW_CATEGORY || column == FLOW_NAME;
        for (size_t i = 0; is_text && i < block->count; i++)
            block->numbers[i] = text_number(block->saver, (name_id)block->numbers[i]);
        tpafile_encode_column(block->encoder, column, block->numbers, block->count);
    }
}

/* Blocks that are packed at the same time, two for each thread, and written in order. */
struct pool {
    struct saver *saver;
    unsigned workers;
    struct block *blocks;
    size_t count, filled;
};

/* As many as there is memory for, at least 1. */
static struct pool open_pool(struct saver *saver)
{
    unsigned workers = parallel_parts(saver->trace->workers, saver->trace->event_count);
    size_t most = workers > 1 ? 2 * (size_t)workers : 1;
    struct pool pool = { .saver = saver, .workers = workers };
    pool.blocks = mem_alloc(mem_times(most, sizeof *pool.blocks));
    for (; pool.count < most; pool.count++) {
        struct tpafile_encoder *encoder =
            pool.count ? tpafile_encoder_open(saver->level) : tpafile_writer_encoder(saver->writer);
        if (!encoder)
            break;
        pool.blocks[pool.count] = (struct block){
            .saver = saver,
            .encoder = encoder,
            .masks = mem_alloc(mem_times(saver->block_events, sizeof *pool.blocks->masks)),
            .numbers = mem_alloc(mem_times(saver->block_events, sizeof *pool.blocks->numbers)),
        };
    }
    return pool;
}

static void free_pool(struct pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        struct block *block = &pool->blocks[i];
        if (i)
            tpafile_encoder_free(block->encoder);
        EACH(free, block->masks, block->numbers);
        VEC_FREE(&block->shapes);
    }
    free(pool->blocks);
}

static void write_pool(struct pool *pool, parallel_task *pack)
{
    parallel_run(pool->workers, pool->filled, pack, pool->blocks);
    for (size_t i = 0; i < pool->filled; i++)
        tpafile_writer_emit_from(pool->saver->writer, pool->blocks[i].encoder, pool->blocks[i].count);
    pool->filled = 0;
}

/* COUNT events or flows from FIRST on, of FILE, in blocks. */
static void save_blocks(struct pool *pool, parallel_task *pack, size_t file, size_t first, size_t count)
{
    size_t most = pool->saver->block_events;
    for (size_t at = 0; at < count; at += most) {
        struct block *block = &pool->blocks[pool->filled++];
        block->file = file;
        block->first = first + at;
        block->count = count - at < most ? count - at : most;
        if (pool->filled == pool->count)
            write_pool(pool, pack);
    }
}

static void save_events_and_flows(struct saver *saver)
{
    const struct trace *trace = saver->trace;
    struct pool pool = open_pool(saver);
    for (size_t i = 0; i < trace->file_count; i++)
        save_blocks(&pool, pack_events, i, trace->files[i].first_event, trace->files[i].event_count);
    write_pool(&pool, pack_events);
    save_blocks(&pool, pack_flows, 0, 0, trace->flow_count);
    write_pool(&pool, pack_flows);
    free_pool(&pool);
}

static void save_samples(struct saver *saver)
{
    const struct trace *trace = saver->trace;
    FOR_EACH_OF(sample, trace->samples, trace->sample_count) {
        int64_t bits;
        memcpy(&bits, &sample->value, sizeof bits);
        int64_t row[TPAFILE_SAMPLE_FIELDS_END] = {
            [TPAFILE_SAMPLE_TIME] = sample->ts_ns,
            [TPAFILE_SAMPLE_TRACK] = sample->track,
            [TPAFILE_SAMPLE_COUNTER] = text_number(saver, sample->counter),
            [TPAFILE_SAMPLE_VALUE] = bits,
        };
        tpafile_writer_add(saver->writer, TPAFILE_SAMPLE, row);
    }
}

bool tpafile_save(const struct trace *trace, const struct tpafile_save_options *options,
                  struct tpafile_written *written)
{
    struct saver saver = {
        .trace = trace,
        .block_events = options->block_events ? options->block_events : BLOCK_EVENTS,
        .level = trace->event_count < SMALL_TRACE ? SMALL_LEVEL : SAVE_LEVEL,
    };
    saver.writer = tpafile_writer_open(&(struct tpafile_writer_options){
        .sink = options->sink,
        .context = options->context,
        .level = saver.level,
        .rows = (uint32_t)saver.block_events,
        .wall_ns = trace->file_count && trace->files[0].has_base ? trace->files[0].base_ns : 0,
    });
    if (!saver.writer)
        return false;
    save_texts(&saver);
    save_tables(&saver);
    save_events_and_flows(&saver);
    save_samples(&saver);
    bool ok = tpafile_writer_close(saver.writer, TPAFILE_NONE, 0);
    if (written)
        *written = *tpafile_writer_written(saver.writer);
    tpafile_writer_free(saver.writer);
    return ok;
}
