/*
 * rpd.c - the database of rocmProfileData (schema version 2).
 *
 *     rocpd_api        id, pid, tid, start, end, apiName_id, args_id     calls of HIP; markers are "UserMarker"
 *     rocpd_op         id, gpuId, queueId, start, end, description_id, opType_id
 *     rocpd_api_ops    api_id, op_id       which call launched which work
 *     rocpd_kernelapi  of a call: grid and block; rocpd_copyapi: bytes, of the call's copy
 *     rocpd_string     id, string
 *
 * Ids of calls are those of the whole file: they serve as correlation ids.
 */
#define _GNU_SOURCE /* strcasestr */
#include "ingest/sqlite_open.h"
#include "base/search.h"
#include "base/rows.h"

#include "ingest/rocm.h"
#include "ingest/step_guess.h"

struct row {
    int64_t id;
    int64_t numbers[7];
    const char *text;
};

struct rows {
    VEC_OF(struct row); /* by id */
};

struct rpd {
    struct database *db;
    struct arena arena;
    struct recorder *recorder;
    struct step_guess *guess;
    struct rows strings, launches, kernels, copies; /* launches: the call of an op */
};

static const struct key by_id[] = { ASC(struct row, id), KEY_END };

static const struct row *rpd_find_row(const struct rows *rows, int64_t id)
{
    size_t i = PLACE(k, rows->count, rows->at[k].id < id);
    return i < rows->count && rows->at[i].id == id ? &rows->at[i] : NULL;
}

/* Read the COUNT columns of TABLE: the id, then numbers; or the id and a text. */
static void rpd_read_rows(struct rpd *rpd, const char *table, const char *const *columns, size_t count,
                          bool text, struct rows *rows)
{
    FOR_ROWS(scan, table_scan_begin(rpd->db, &scan, table, columns, count), true) {
        struct row row = { 0 };
        size_t len;
        if (!table_scan_int(&scan, 0, &row.id))
            continue;
        if (text) {
            const char *found = table_scan_text(&scan, 1, &len);
            row.text = found ? arena_strndup(&rpd->arena, found, len) : NULL;
        }
        for (size_t i = 1; i < count && !text; i++)
            row.numbers[i - 1] = table_scan_int_or(&scan, i, RECORDER_NONE);
        *VEC_PUSH(rows) = row;
    }
    SORT(rows, by_id);
}

static const char *string_of(const struct rpd *rpd, int64_t id)
{
    const struct row *row = rpd_find_row(&rpd->strings, id);
    return row && row->text ? row->text : "";
}

static bool read_calls(struct rpd *rpd, struct trace_builder *builder, struct tpa_error *err)
{
    enum { ID, PID, TID, START, END, NAME, ARGS, COLUMNS };
    static const char *const columns[COLUMNS] = {
        "id", "pid", "tid", "start", "end", "apiName_id", "args_id"
    };
    bool ok = true;
    FOR_ROWS(scan, table_scan_begin(rpd->db, &scan, "rocpd_api", columns, COLUMNS), ok) {
        int64_t pid = table_scan_int_or(&scan, PID, 0), tid = table_scan_int_or(&scan, TID, pid);
        if (!rpd->recorder)
            rpd->recorder = recorder_open(builder, pid, NULL);
        const char *name = string_of(rpd, table_scan_int_or(&scan, NAME, RECORDER_NONE));
        bool marker = strcmp(name, "UserMarker") == 0;
        if (marker)
            name = string_of(rpd, table_scan_int_or(&scan, ARGS, RECORDER_NONE));
        enum recorder_kind kind = marker ? RECORDER_ANNOTATION : rocm_host_kind(NULL, name);
        int64_t start_ns = table_scan_int_or(&scan, START, RECORDER_NONE);
        int64_t end_ns = table_scan_int_or(&scan, END, RECORDER_NONE);
        if (recorder_event(rpd->recorder, kind, recorder_thread_of(rpd->recorder, pid, tid),
                           recorder_name(rpd->recorder, name, strlen(name)), start_ns, end_ns, 0)) {
            if (kind == RECORDER_HIP)
                recorder_arg(rpd->recorder, ARG_CORRELATION, table_scan_int_or(&scan, ID, RECORDER_NONE));
            else if (kind == RECORDER_ANNOTATION)
                step_guess_record(rpd->guess, name, strlen(name), step_guess_thread(pid, tid), start_ns,
                                  end_ns);
        }
        ok = recorder_flush(rpd->recorder, err);
    }
    if (!rpd->recorder)
        rpd->recorder = recorder_open(builder, 0, NULL);
    return ok;
}

/* Determine the kind and name of WORK of this type and description. */
static void settle_kind(const struct rpd *rpd, struct recorder_work *work, const char *type,
                        const char *description)
{
    bool is_copy = strcasestr(type, "Copy") != NULL, is_fill = strcasestr(type, "Fill") != NULL;
    const char *name = *description ? description : type;
    work->kind = is_copy                       ? RECORDER_MEMCPY
                 : is_fill                     ? RECORDER_MEMSET
                 : strcasestr(type, "Barrier") ? RECORDER_SYNC
                                               : RECORDER_KERNEL;
    if (is_copy)
        work->name = rocm_copy_name(rpd->recorder, type);
    else if (is_fill && !*description)
        work->name = recorder_name(rpd->recorder, "Memset (Device)", 15);
    else
        work->name = recorder_name(rpd->recorder, name, strlen(name));
}

static bool read_work(struct rpd *rpd, struct tpa_error *err)
{
    enum { ID, GPU, QUEUE, START, END, DESCRIPTION, TYPE, COLUMNS };
    static const char *const columns[COLUMNS] = { "id",  "gpuId",          "queueId",  "start",
                                                  "end", "description_id", "opType_id" };
    bool ok = true;
    FOR_ROWS(scan, table_scan_begin(rpd->db, &scan, "rocpd_op", columns, COLUMNS), ok) {
        struct recorder_work work = RECORDER_WORK_NONE;
        const struct row *launch = rpd_find_row(&rpd->launches, table_scan_int_or(&scan, ID, RECORDER_NONE));
        work.correlation = launch ? launch->numbers[0] : RECORDER_NONE;
        work.device = table_scan_int_or(&scan, GPU, 0);
        work.stream = table_scan_int_or(&scan, QUEUE, RECORDER_NONE);
        table_scan_int(&scan, START, &work.start_ns);
        table_scan_int(&scan, END, &work.end_ns);
        settle_kind(rpd, &work, string_of(rpd, table_scan_int_or(&scan, TYPE, RECORDER_NONE)),
                    string_of(rpd, table_scan_int_or(&scan, DESCRIPTION, RECORDER_NONE)));
        const struct row *shape =
            work.kind == RECORDER_KERNEL ? rpd_find_row(&rpd->kernels, work.correlation) : NULL;
        for (size_t i = 0; shape && i < 3; i++) {
            work.grid[i] = shape->numbers[i];
            work.block[i] = shape->numbers[3 + i];
        }
        if (shape)
            work.static_shared = shape->numbers[6];
        const struct row *copy = work.kind == RECORDER_MEMCPY || work.kind == RECORDER_MEMSET
                                     ? rpd_find_row(&rpd->copies, work.correlation)
                                     : NULL;
        if (copy)
            work.bytes = copy->numbers[0];
        recorder_work(rpd->recorder, &work);
        ok = recorder_flush(rpd->recorder, err);
    }
    return ok;
}

bool rpd_is_one(const struct database *db)
{
    return database_has(db, "rocpd_op") || database_has(db, "rocpd_api");
}

bool rpd_read(struct database *db, struct source *source, struct trace_builder *builder,
              struct tpa_error *err)
{
    static const char *const strings[] = { "id", "string" }, *const launches[] = { "op_id", "api_id" },
                             *const
                                 kernels[] = { "api_ptr_id", "gridX",      "gridY",      "gridZ",
                                               "workgroupX", "workgroupY", "workgroupZ", "groupSegmentSize" },
                             *const copies[] = { "api_ptr_id", "size" };
    struct rpd rpd = { .db = db, .guess = step_guess_open() };
    struct trace_file *file = trace_builder_current_file(builder);
    file->format = "RPD SQLite";
    file->producer = PRODUCER_ROCPROF;
    file->packed_size = source_packed_size(source);
    file->size = database_size(db);
    rpd_read_rows(&rpd, "rocpd_string", strings, 2, true, &rpd.strings);
    rpd_read_rows(&rpd, "rocpd_api_ops", launches, 2, false, &rpd.launches);
    rpd_read_rows(&rpd, "rocpd_kernelapi", kernels, 8, false, &rpd.kernels);
    rpd_read_rows(&rpd, "rocpd_copyapi", copies, 2, false, &rpd.copies);
    bool ok = read_calls(&rpd, builder, err) && read_work(&rpd, err);
    if (ok) {
        recorder_finish(rpd.recorder);
        ok = recorder_append(rpd.recorder, err);
        recorder_describe(rpd.recorder);
        step_guess_notice(rpd.guess, builder);
        database_notice(db, builder);
    }
    step_guess_free(rpd.guess);
    recorder_free(rpd.recorder);
    EACH(VEC_FREE, &rpd.strings, &rpd.launches, &rpd.kernels, &rpd.copies);
    arena_release(&rpd.arena);
    return ok;
}
