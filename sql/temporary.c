/* The default file system opens each file; of a temporary one, the table of methods is replaced
 * by a copy that checks where a write ends. */
#include "sql/parts.h"

int64_t temporary_most = INT64_C(4) << 30;

static sqlite3_vfs bounded;               /* the default one, with bounded_open */
static sqlite3_vfs *standard;             /* the default one */
static sqlite3_io_methods methods;        /* of its temporary files, with bounded_write */
static const sqlite3_io_methods *of_file; /* the same as it made them */

static int bounded_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset)
{
    return offset > temporary_most - count ? SQLITE_FULL : of_file->xWrite(file, bytes, count, offset);
}

static int bounded_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got)
{
    (void)vfs;
    const int temporary =
        SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_SUBJOURNAL;
    int code = standard->xOpen(standard, name, file, flags, got);
    if (code != SQLITE_OK || !(flags & temporary) || !file->pMethods)
        return code;
    if (of_file && of_file != file->pMethods)
        return SQLITE_OK; /* of another kind than the first: not met in SQLite's own */
    if (!of_file) {
        methods = *file->pMethods;
        methods.xWrite = bounded_write;
        of_file = file->pMethods;
    }
    file->pMethods = &methods;
    return SQLITE_OK;
}

const char *temporary_vfs(void)
{
    if (bounded.zName)
        return bounded.zName;
    standard = sqlite3_vfs_find(NULL);
    if (!standard)
        return NULL;
    bounded = *standard;
    bounded.zName = "tpa bounded";
    bounded.xOpen = bounded_open;
    bounded.pNext = NULL;
    if (sqlite3_vfs_register(&bounded, 0) == SQLITE_OK)
        return bounded.zName;
    bounded.zName = NULL;
    return NULL;
}
