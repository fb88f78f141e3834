/*
 * sqlite.c - a trace as a SQLite database: the tables of `tpa sql`, for programs that read such files.
 *
 * SQLite writes to a file of its own, which is copied to the output, as that may be a pipe.
 */

#include "cli/convert/parts.h"
#include "cli/output_file.h"
#include "cli/timeline.h"
#include "sql/trace_sql.h"
#include <errno.h>
#include <unistd.h>

static const char *no_functions(size_t index)
{
    (void)index;
    return NULL;
}

/* Copy the whole file FD, from its beginning. */
static bool copy(int fd, FILE *out, struct tpa_error *err)
{
    char bytes[1 << 16];
    off_t at = 0;
    ssize_t got;
    bool good = true;
    while (good && (got = pread(fd, bytes, sizeof bytes, at)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        good = got > 0 && fwrite(bytes, 1, (size_t)got, out) == (size_t)got;
        at += good ? got : 0;
    }
    return good || tpa_fail_errno(err, "cannot copy the database");
}

static bool export_to(const struct trace *trace, const char *path, struct tpa_error *err)
{
    static const struct trace_sql_functions none = { no_functions, NULL };
    struct trace_sql *sql = trace_sql_open(&none, err);
    if (!sql)
        return false;
    SCOPED int64_t *shift_ns = timeline_shifts(trace);
    trace_sql_use(sql, trace, shift_ns);
    bool good = trace_sql_export(sql, path, err);
    trace_sql_free(sql);
    return good;
}

static bool write_sqlite(const struct trace *trace, const struct convert_args *args, FILE *out,
                         struct buffer *summary, struct tpa_error *err)
{
    if (!convert_check_size(trace, args, err))
        return false;
    const char *folder = getenv("TMPDIR");
    struct buffer path = { 0 };
    buffer_printf(&path, "%s/tpa-sqlite-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = output_file_make_temporary(path.at);
    bool good = fd >= 0 || tpa_fail_errno(err, "cannot make a file for SQLite in %s",
                                          folder && *folder ? folder : "/tmp");
    good = good && export_to(trace, path.at, err) && copy(fd, out, err);
    if (fd >= 0)
        close(fd);
    if (fd < 0 || output_file_remove_temporary(path.at))
        buffer_release(&path);
    buffer_printf(summary, "%zu events in a SQLite database\n", trace->event_count);
    timeline_distinguish(summary, trace);
    return good;
}

const struct convert_form convert_sqlite = {
    .name = "sqlite",
    .help = "the tables of tpa sql as a SQLite database",
    .ending = ".sqlite|.db",
    .write_trace = write_sqlite,
    .wants = CONVERT_WANTS_ALL,
    .next = "sqlite3 %s \"select name, sum(dur_ns) from kernels group by name order by 2 desc limit 10\"",
};
