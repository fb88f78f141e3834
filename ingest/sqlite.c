/*
 * sqlite.c - profiles that are SQLite databases: identified by the names of tables.
 *
 * Those names are rarely in the first bytes of a file. So every format of this kind recognises databases by their
 * magic, and each can read all of them.
 */

#include "ingest/ascend/database.h"
#include "ingest/nsys/nsys.h"
#include <strings.h>

static bool has_prefix(const struct database *db, const char *prefix)
{
    return ANY(i, database_table_count(db), strncasecmp(database_table(db, i), prefix, strlen(prefix)) == 0);
}

/* Fail because DB is not a readable profile, with a description. */
static bool fail_unknown(const struct database *db, struct tpa_error *err)
{
    size_t count = database_table_count(db);
    if (count == 0) {
        tpa_fail(err, TPA_NOWHERE, "this is an SQLite database without any table, not a trace");
        tpa_hint(err, "was the export stopped before it had ended?");
    } else if (database_has(db, "StringTable") && has_prefix(db, "CUPTI_ACTIVITY_KIND_")) {
        tpa_fail(err, TPA_NOWHERE, "this is a database of nvprof, which tpa does not read");
        tpa_hint(err,
                 "record again with Nsight Systems: nsys profile PROGRAM; nsys export --type sqlite REPORT");
    } else if (ascend_database_is_analysis(db)) {
        tpa_fail(
            err, TPA_NOWHERE,
            "this database holds results of an Ascend profiler (step and communication times), no events");
        tpa_hint(err, "give the recording beside it, ascend_pytorch_profiler_N.db, or the folder");
    } else if (database_has(db, "run") && database_has(db, "label")) {
        tpa_fail(err, TPA_NOWHERE, "this is a history that tpa nightly keeps, not a trace");
        tpa_hint(err, "tpa nightly --store FILE reads it");
    } else {
        SCOPED struct buffer names = { 0 };
        for (size_t i = 0; i < count && i < 4; i++)
            buffer_printf(&names, "%s%.40s", i ? ", " : "", database_table(db, i));
        tpa_fail(err, TPA_NOWHERE,
                 "this is an SQLite database, but of no profiler that tpa knows (its %zu table%s: %s%s)",
                 count, count == 1 ? "" : "s", names.at, count > 4 ? " ..." : "");
        tpa_hint(err, "'tpa info --formats' lists what can be read");
    }
    return tpa_unread(err, TPA_PASSED_OVER);
}

static bool read_database(struct source *source, struct trace_builder *builder,
                          const struct ingest_options *options, struct tpa_error *err)
{
    struct database *db = database_open(source, err);
    if (!db)
        return false;
    bool ok = nsys_is_one(db)              ? nsys_read(db, source, builder, options, err)
              : rocpd_is_one(db)           ? rocpd_read(db, source, builder, options, err)
              : ascend_database_is_one(db) ? ascend_database_read(db, source, builder, options, err)
                                           : fail_unknown(db, err);
    ok = ok && database_was_read(db, err);
    database_close(db);
    return ok;
}

static int sniff_database(const char *bytes, size_t len)
{
    return database_is_one(bytes, len) ? 90 : 0;
}

/* The same bytes; the first of the formats is used. */
static int sniff_too(const char *bytes, size_t len)
{
    return database_is_one(bytes, len) ? 89 : 0;
}

const struct format format_nsys = {
    .name = "Nsight Systems SQLite",
    .description = "NVIDIA Nsight Systems: nsys export --type sqlite, all schemas since 2020",
    .sniff = sniff_database,
    .read = read_database,
};

const struct format format_rocpd = {
    .name = "rocpd SQLite",
    .description = "AMD rocprofv3 (ROCm 7) and rocprof-sys: NAME_results.db",
    .sniff = sniff_too,
    .read = read_database,
};

const struct format format_rpd = {
    .name = "RPD SQLite",
    .description = "AMD rocmProfileData: NAME.rpd",
    .sniff = sniff_too,
    .read = read_database,
};

const struct format format_ascend = {
    .name = "Ascend SQLite",
    .description = "Huawei torch_npu and msprof: ascend_pytorch_profiler_N.db, msprof_*.db",
    .sniff = sniff_too,
    .read = read_database,
};
