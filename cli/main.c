/* main.c - the program: find the command, read its options, run it, report errors, and check that all output was
 * written. */
#include "cli/command_run.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "cli/parts.h"
#include "report/json_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Print the error as one line of JSON, for programs that request it: TPA_ERRORS=json. */
static void print_error_json(const struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    struct json_writer json = { .text = &text };
    json_begin_object(&json);
    json_add_text(&json, "error", err->message);
    json_add_text(&json, "file", err->file[0] ? err->file : NULL);
    json_key(&json, "offset");
    if (err->offset == TPA_NOWHERE)
        json_emit_null(&json);
    else
        json_emit_integer(&json, err->offset);
    json_add_text(&json, "context", err->context[0] ? err->context : NULL);
    json_add_text(&json, "hint", err->hint[0] ? err->hint : NULL);
    json_end_object(&json);
    fprintf(stderr, "%s\n", text.at);
}

static void main_print_error(const struct command *command, const struct tpa_error *err)
{
    const char *form = getenv("TPA_ERRORS");
    char program[64] = "tpa";
    if (command && err->file[0] == '\0')
        snprintf(program, sizeof program, "tpa %s", command->name);
    fflush(stdout);
    if (form && strcmp(form, "json") == 0) {
        print_error_json(err);
        return;
    }
    tpa_error_print(err, program, stderr);
}

static void print_help(const struct command *command)
{
    SCOPED struct buffer text = { 0 };
    help_command(command, terminal_width(STDOUT_FILENO), &text);
    fwrite(text.at, 1, text.count, stdout);
}

/* Run COMMAND on the COUNT words of ARGV that follow its name. */
static int run_command(const struct command *command, int count, char **argv)
{
    struct tpa_error err = { 0 };
    struct buffer document = { 0 };
    struct command_outcome outcome = command_run(command, count, argv, &document, &err);
    if (outcome.help_wanted)
        print_help(command);
    if (document.count)
        fwrite(document.at, 1, document.count, stdout);
    buffer_release(&document);
    if (err.failed)
        main_print_error(command, &err);
    return outcome.exit_code;
}

static void set_up_process(void)
{
    output_set_up();
    mem_return_large_blocks();

    /* The descriptor of a closed standard stream must not be reused for a file: results would be written into it. It is
     * opened for reading only, so that writing to a closed stdout fails. */
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDONLY) != fd)
            _exit(EXIT_TROUBLE);

    /* For the width of characters, which is the same wherever tpa runs: a report must not depend on the locale. Never
     * LC_ALL: a comma as decimal point would reach printf. */
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        setlocale(LC_CTYPE, "");
}

/* Was all output written? A reader that closed the pipe is not an error. */
static int finish_stdout(int exit_code)
{
    errno = 0;
    bool arrived = fflush(stdout) == 0 && !ferror(stdout) && fclose(stdout) == 0;
    if (arrived || output_reader_is_gone() || exit_code == EXIT_TROUBLE) /* trouble was reported already */
        return exit_code;
    fprintf(stderr, "tpa: cannot write to standard output: %s\n",
            errno ? strerror(errno) : "an earlier write failed");
    return EXIT_TROUBLE;
}

/* The version, the commit it was built from, and what it was built with. */
static void print_version(void)
{
    printf("tpa " TPA_VERSION " (%s)\nwith %s\n", version_commit, version_features);
}

/* Is WORD a file name (existing or not) instead of a command? Then the command is summary. No command has a '.' or '/'
 * in its name. */
static bool is_input(const char *word)
{
    struct tpa_error ignored = { 0 };
    return strpbrk(word, "./") || strcmp(word, "-") == 0 ||
           (access(word, F_OK) == 0 && !command_find(word, &ignored));
}

/* Is WORD, "--batch" or "--batch=4", an option of the summary? */
static bool is_summary_option(const char *word)
{
    size_t len = strcspn(word, "=");
    for (const struct opt *row = cmd_summary.options; !opt_is_end(row); row++)
        if (row->name &&
            (word[1] == '-' ? strlen(row->name) + 2 == len && strncmp(word + 2, row->name, len - 2) == 0
                            : row->letter == word[1] && row->letter))
            return true;
    return false;
}

/* Do options of the summary stand before its input, as in "--batch 4 a.json b.json"? A command among the words is meant. */
static bool are_summary_words(int count, char **argv)
{
    bool has_input = false;
    struct tpa_error ignored = { 0 };
    for (int i = 1; i < count; i++) {
        has_input |= argv[i][0] != '-' && is_input(argv[i]);
        if (argv[i][0] != '-' && command_find(argv[i], &ignored))
            return false;
    }
    return has_input && is_summary_option(argv[0]);
}

/* Change COMMAND to the one that a mode among its COUNT words of ARGV stands for, and remove that word. Returns the new COUNT. */
static int apply_mode(const struct command **command, int count, char **argv)
{
    for (int i = 0; i < count && strcmp(argv[i], "--") != 0 && !(*command)->runs_program; i++) {
        const struct command_mode *mode =
            strncmp(argv[i], "--", 2) == 0 ? command_mode_of(*command, argv[i]) : NULL;
        if (!mode)
            continue;
        struct tpa_error ignored = { 0 };
        *command = command_find(mode->stands_for, &ignored);
        memmove(argv + i, argv + i + 1, (size_t)(count - i - 1) * sizeof *argv);
        return count - 1;
    }
    return count;
}

enum { STACK_NEEDED = 768 << 10, STACK_PAGE = 4096 };

/* A function of its own: with -fstack-clash-protection it touches its frame as soon as it is called. */
__attribute__((noinline)) static void touch_stack(void)
{
    char room[STACK_NEEDED];
    volatile char *touched = room;
    /* From its near end: Linux may refuse to skip pages. */
    for (size_t i = STACK_NEEDED; i > 0; i -= STACK_PAGE)
        touched[i - 1] = 0;
}

/* With a limit on the address space (ulimit -v), a stack that grows into what is left of it ends the program
 * by a signal, where an allocation would end it with a message. So the stack grows at the start, where the
 * room for it is checked. */
static void grow_stack(void)
{
    struct rlimit space, stack;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY ||
        getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur < 2 * (rlim_t)STACK_NEEDED)
        return;
    void *room = mmap(NULL, STACK_NEEDED, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        mem_out_of_memory(STACK_NEEDED);
    munmap(room, STACK_NEEDED);
    touch_stack();
}

int main(int argc, char **argv)
{
    set_up_process();
    grow_stack();
    if (argc < 2) {
        SCOPED struct buffer text = { 0 };
        help_overview(terminal_width(STDERR_FILENO), &text);
        fwrite(text.at, 1, text.count, stderr);
        return EXIT_TROUBLE;
    }

    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 || strcmp(word, "version") == 0) {
        print_version();
        return finish_stdout(EXIT_FINE);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return finish_stdout(run_command(&cmd_help, argc - 2, argv + 2));

    bool is_option = word[0] == '-' && word[1] != '\0';
    if (is_option ? are_summary_words(argc - 1, argv + 1) : is_input(word))
        return finish_stdout(run_command(&cmd_summary, argc - 1, argv + 1));

    struct tpa_error err = { 0 };
    const struct command *command = NULL;
    if (is_option) {
        static const char *const known[] = { "--version", "--help" };
        struct suggest near = suggest_for(word, strlen(word));
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            suggest_consider(&near, known[i]);
        tpa_fail(&err, TPA_NOWHERE, near.best ? "unknown option %s; did you mean %s?" : "unknown option %s",
                 word, near.best);
        tpa_hint(&err, "options follow the command: tpa COMMAND [OPTIONS] FILE...");
    } else {
        command = command_find(word, &err);
    }
    if (command == NULL) {
        struct buffer document = { 0 };
        command_error_document(NULL, argc - 1, argv + 1, &err, &document);
        if (document.count)
            fwrite(document.at, 1, document.count, stdout);
        buffer_release(&document);
        main_print_error(NULL, &err);
        return finish_stdout(EXIT_TROUBLE);
    }
    int count = apply_mode(&command, argc - 2, argv + 2);
    return finish_stdout(run_command(command, count, argv + 2));
}
