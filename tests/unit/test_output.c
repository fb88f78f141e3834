
#include "tests/unit/unit.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- columns and rows ---------------------------------------------------------------------------------------- */

/* Two tables of five rows: "ops" with name, count, time (optional); "steps" with step and time. */
static struct result *make_result(void)
{
    static const struct table_column ops[] = {
        { "name", "Name", TABLE_NAME, "" },
        { "count", "Count", TABLE_COUNT, "", 0, "calls ncalls" },
        { "time", "Time", TABLE_NS, "", TABLE_OPTIONAL },
    };
    static const struct table_column steps[] = {
        { "step", "Step", TABLE_COUNT, "" },
        { "time", "Time", TABLE_NS, "" },
    };
    struct result *result = result_open("tpa.test/1");
    result_add_table(result, table_open("ops", NULL, ops, 3));
    result_add_table(result, table_open("steps", NULL, steps, 2));
    for (int64_t i = 0; i < 5; i++) {
        table_set_int(result->tables.at[0], table_add_row(result->tables.at[0]), 1, i);
        table_set_int(result->tables.at[1], table_add_row(result->tables.at[1]), 1, 10 * i);
    }
    return result;
}

TEST(columns_are_chosen_in_the_requested_order)
{
    struct result *result = make_result();
    assert_true(output_select_columns(result, "time, ncalls", NULL));
    assert_int_equal(result->tables.count, 2);
    const struct table *ops = result->tables.at[0];
    assert_int_equal(ops->column_count, 2);
    assert_string_equal(ops->columns[0].key, "time");
    assert_int_equal(ops->columns[0].flags, 0); /* requested: no longer optional */
    assert_string_equal(ops->columns[1].key, "count");
    assert_int_equal(table_cell(ops, 4, 1)->i, 4);
    assert_int_equal(result->tables.at[1]->column_count, 1);
    result_free(result);
}

TEST(tables_without_the_columns_are_left_out)
{
    struct result *result = make_result();
    assert_true(output_select_columns(result, "step", NULL));
    assert_int_equal(result->tables.count, 1);
    assert_string_equal(result->tables.at[0]->key, "steps");
    result_free(result);
}

TEST(all_shows_optional_columns)
{
    struct result *result = make_result();
    assert_true(output_select_columns(result, "all", NULL));
    assert_int_equal(result->tables.at[0]->column_count, 3);
    assert_int_equal(result->tables.at[0]->columns[2].flags, 0);
    result_free(result);
}

TEST(unknown_columns_get_a_suggestion)
{
    struct result *result = make_result();
    struct tpa_error err = { 0 };
    assert_false(output_select_columns(result, "name,conut", &err));
    assert_string_equal(err.message, "there is no column 'conut'; did you mean count?");
    assert_false(output_select_columns(result, "name,", &err));
    assert_string_equal(err.message, "there is no column ''");
    result_free(result);
}

TEST(limits_apply_to_each_table)
{
    struct result *result = make_result();
    output_limit_rows(result, &(struct limit){ .is_share = true, .share = 0.4 });
    assert_int_equal(result->tables.at[0]->row_count, 2);
    assert_int_equal(result->tables.at[1]->row_count, 2);
    assert_int_equal(result->tables.at[0]->total_rows, 5);
    result_free(result);
}

/* --- files --------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/tpa-test-output.XXXXXX";
static char path[sizeof folder + 32];

static int open_folder(void **state)
{
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/out.txt", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char name[sizeof folder + 300];
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(name);
    }
    if (directory)
        closedir(directory);
    return rmdir(folder);
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_holds(const char *name, const char *expected)
{
    char text[100] = "";
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

TEST_WITHIN(a_file_appears_when_it_is_whole, open_folder, remove_folder)
{
    struct output_file file;
    write_file(path, "old");
    chmod(path, 0640);
    assert_true(output_file_open(&file, path, NULL));
    fputs("new", file.stream);
    fflush(file.stream);
    assert_holds(path, "old");
    assert_true(output_file_commit(&file, NULL));
    assert_holds(path, "new");
    assert_int_equal(files_in_folder(), 1);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

TEST_WITHIN(a_new_file_is_as_readable_as_others, open_folder, remove_folder)
{
    struct output_file file;
    mode_t mask = umask(027);
    assert_true(output_file_open(&file, path, NULL));
    assert_true(output_file_commit(&file, NULL));
    umask(mask);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

TEST_WITHIN(giving_up_leaves_the_old_file, open_folder, remove_folder)
{
    struct output_file file;
    write_file(path, "old");
    assert_true(output_file_open(&file, path, NULL));
    fputs("half", file.stream);
    output_file_discard(&file);
    assert_holds(path, "old");
    assert_int_equal(files_in_folder(), 1);
}

TEST_WITHIN(a_link_goes_on_pointing_at_the_file, open_folder, remove_folder)
{
    struct output_file file;
    char link[sizeof path];
    snprintf(link, sizeof link, "%s/link", folder);
    write_file(path, "old");
    assert_int_equal(symlink("out.txt", link), 0);
    assert_true(output_file_open(&file, link, NULL));
    fputs("new", file.stream);
    assert_true(output_file_commit(&file, NULL));
    assert_holds(path, "new");
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

TEST_WITHIN(devices_are_written_directly_and_full_ones_are_errors, open_folder, remove_folder)
{
    struct output_file file;
    struct tpa_error err = { 0 };
    assert_true(output_file_open(&file, "/dev/null", &err));
    fputs("gone", file.stream);
    assert_true(output_file_commit(&file, &err));
    assert_true(output_file_open(&file, "/dev/full", &err));
    fputs("too much", file.stream);
    assert_false(output_file_commit(&file, &err));
    assert_string_equal(err.message, "cannot write this file: No space left on device");
    assert_string_equal(err.file, "/dev/full");
}

TEST_WITHIN(what_can_not_be_opened_is_an_error, open_folder, remove_folder)
{
    struct output_file file;
    struct tpa_error err = { 0 };
    assert_false(output_file_open(&file, "/nowhere/at/all", &err));
    assert_string_equal(err.message, "cannot write this file: No such file or directory");
    assert_false(output_file_open(&file, folder, &err));
    assert_string_equal(err.message, "cannot write this file: Is a directory");
}

TEST_WITHIN(a_signal_removes_the_half_file, open_folder, remove_folder)
{
    const int signals[] = { SIGTERM, SIGINT, SIGHUP };
    for (size_t i = 0; i < 3; i++) {
        write_file(path, "old");
        pid_t child = fork();
        if (child == 0) {
            struct output_file file;
            output_set_up();
            if (output_file_open(&file, path, NULL)) {
                fputs("half", file.stream);
                fflush(file.stream);
                raise(signals[i]);
            }
            _exit(0); /* not reached */
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_holds(path, "old");
        assert_int_equal(files_in_folder(), 1);
    }
}

/* --- terminal ------------------------------------------------------------------------------------------------ */

TEST(the_width_is_that_of_columns_or_100)
{
    setenv("COLUMNS", "132", 1);
    assert_int_equal(terminal_width(-1), 132);
    setenv("COLUMNS", "3", 1);
    assert_int_equal(terminal_width(-1), 20);
    setenv("COLUMNS", "wide", 1);
    assert_int_equal(terminal_width(-1), 100);
    unsetenv("COLUMNS");
    assert_int_equal(terminal_width(-1), 100);
    assert_false(terminal_takes_color(-1));
}
