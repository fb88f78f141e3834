#include "cli/output_tables.h"

#include "cli/terminal.h"

#include "cli/output_file.h"
#include <errno.h>
#include <sys/stat.h>

bool output_next_word(const char **list, const char **word, size_t *len)
{
    if (*list == NULL)
        return false;
    *word = *list;
    *len = strcspn(*list, ",");
    *list = (*list)[*len] == ',' ? *list + *len + 1 : NULL;
    while (*len > 0 && **word == ' ')
        (*word)++, (*len)--;
    while (*len > 0 && (*word)[*len - 1] == ' ')
        (*len)--;
    return true;
}

/* ---- which tables ---- */

static bool is_called(const struct table *table, const char *word, size_t len)
{
    return strlen(table->key) == len && memcmp(table->key, word, len) == 0;
}

/* The number of tables of RESULT before table T with the same key. */
static size_t count_before(const struct result *result, size_t t)
{
    return SUM(size_t, i, t, strcmp(result->tables.at[i]->key, result->tables.at[t]->key) == 0);
}

static void list_keys(const struct result *result, struct buffer *out)
{
    for (size_t t = 0; t < result->tables.count; t++)
        if (count_before(result, t) == 0)
            buffer_printf(out, "%s%s", out->count ? ", " : "", result->tables.at[t]->key);
}

static bool unknown_table(const struct result *result, const char *word, size_t len, struct tpa_error *err)
{
    struct suggest near = suggest_for(word, len);
    SCOPED struct buffer keys = { 0 };
    for (size_t t = 0; t < result->tables.count; t++)
        suggest_consider(&near, result->tables.at[t]->key);
    list_keys(result, &keys);
    if (near.best)
        tpa_fail(err, TPA_NOWHERE, "there is no table '%.*s'; did you mean %s?", (int)len, word, near.best);
    else
        tpa_fail(err, TPA_NOWHERE, "there is no table '%.*s'", (int)len, word);
    tpa_hint(err, "the tables are %s", keys.at);
    return false;
}

static bool check_keys(const struct result *result, const char *list, struct tpa_error *err)
{
    const char *word;
    size_t len;
    while (output_next_word(&list, &word, &len)) {
        bool known = ANY(t, result->tables.count, is_called(result->tables.at[t], word, len));
        if (!known)
            return unknown_table(result, word, len, err);
    }
    return true;
}

static bool output_tables_is_listed(const struct table *table, const char *list)
{
    const char *word;
    size_t len;
    while (output_next_word(&list, &word, &len))
        if (is_called(table, word, len))
            return true;
    return false;
}

bool output_select_tables(struct result *result, const char *keys, struct tpa_error *err)
{
    if (result->tables.count == 0)
        return true;
    if (!check_keys(result, keys, err))
        return false;
    size_t kept = 0;
    for (size_t t = 0; t < result->tables.count; t++) {
        struct table *table = result->tables.at[t];
        if (output_tables_is_listed(table, keys)) {
            result->tables.at[kept++] = table;
            table->detail = false;
        } else {
            table_free(table);
        }
    }
    result->tables.count = kept;
    return true;
}

/* ---- a file for each ---- */

bool output_is_folder(const char *path)
{
    struct stat status;
    size_t len = path ? strlen(path) : 0;
    return len > 0 && (path[len - 1] == '/' || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)));
}

static bool output_tables_make_folder(const char *path, struct tpa_error *err)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    tpa_fail_errno(err, "cannot make this folder");
    return tpa_in_file(err, path);
}

static bool write_table(const struct printer *printer, const struct result *result,
                        const struct print_options *options, const char *path, struct tpa_error *err)
{
    struct output_file file;
    if (!output_file_open(&file, path, err))
        return false;
    if (printer->print(result, options, file.stream, err))
        return output_file_commit(&file, err);
    output_file_discard(&file);
    return false;
}

bool output_to_folder(const struct printer *printer, const struct result *result,
                      const struct print_options *options, const char *path, struct tpa_error *err)
{
    if (!printer->ending) {
        tpa_fail(err, TPA_NOWHERE, "this is a folder, and --format %s writes one text", printer->name);
        tpa_hint(err, "name a file, or say --format arrow, csv or json, which write a file for each table");
        return tpa_in_file(err, path);
    }
    bool good = output_tables_make_folder(path, err);
    SCOPED struct buffer name = { 0 };
    for (size_t t = 0; t < result->tables.count && good; t++) {
        struct result one = *result;
        one.tables.at = &result->tables.at[t];
        one.tables.count = 1;
        size_t before = count_before(result, t);
        buffer_clear(&name);
        buffer_printf(&name, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
                      result->tables.at[t]->key);
        if (before)
            buffer_printf(&name, ".%zu", before + 1);
        buffer_puts(&name, printer->ending);
        good = write_table(printer, &one, options, name.at, err);
    }
    return good;
}

void output_print_joined(const struct result *result)
{
    if (result->tables.count < 2)
        return;
    SCOPED struct buffer keys = { 0 };
    list_keys(result, &keys);
    terminal_print(
        "note: %zu tables follow one another, each after a line \"# KEY\"; --table KEY writes one of them: %s\n",
        result->tables.count, keys.at);
}
