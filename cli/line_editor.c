/*
 * line_editor.c - see line_editor.h.
 *
 * The terminal is switched to raw input without echo. After each key the line is redrawn, as much of it as fits beside
 * the prompt. Invisible characters are drawn as by escape_terminal().
 */
#include "cli/line_editor.h"

#include "base/escape.h"
#include "cli/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { MOST_LINES = 1000, LONGEST_LINE = 1 << 20 };

/* ---- history ---- */

static void line_editor_keep(struct line_editor *editor, const char *text, size_t len)
{
    if (editor->lines.count == MOST_LINES) {
        free(editor->lines.at[0]);
        memmove(editor->lines.at, editor->lines.at + 1, (MOST_LINES - 1) * sizeof *editor->lines.at);
        editor->lines.count--;
    }
    *VEC_PUSH(&editor->lines) = mem_strndup(text, len);
}

void line_editor_load(struct line_editor *editor, const char *path)
{
    editor->path = path ? mem_strdup(path) : NULL;
    FILE *file = path ? fopen(path, "r") : NULL;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    while (file && (len = getline(&line, &capacity, file)) > 0) {
        len -= line[len - 1] == '\n';
        if (len > 0 && len < LONGEST_LINE)
            line_editor_keep(editor, line, (size_t)len);
    }
    free(line);
    if (file)
        fclose(file);
}

void line_editor_add(struct line_editor *editor, const char *text)
{
    char *line = mem_strdup(text);
    for (char *at = line; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    bool again = editor->lines.count && strcmp(editor->lines.at[editor->lines.count - 1], line) == 0;
    if (*line && !again) {
        line_editor_keep(editor, line, strlen(line));
        int fd = editor->path ? open(editor->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
        FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;
        if (file) { /* failing to save it is not an error */
            fprintf(file, "%s\n", line);
            fclose(file);
        } else if (fd >= 0) {
            close(fd);
        }
    }
    free(line);
}

void line_editor_release(struct line_editor *editor)
{
    for (size_t i = 0; i < editor->lines.count; i++)
        free(editor->lines.at[i]);
    VEC_FREE(&editor->lines);
    free(editor->path);
    editor->path = NULL;
}

/* ---- keys ---- */

enum key { KEY_UP = 256, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_HOME, KEY_END, KEY_DELETE, KEY_OTHER, KEY_NONE };

#define CONTROL(letter) ((letter) - '@')

static int read_byte(void)
{
    unsigned char byte;
    ssize_t count;
    do {
        count = read(STDIN_FILENO, &byte, 1);
    } while (count == -1 && errno == EINTR);
    return count == 1 ? byte : KEY_NONE;
}

/* The sequence after an escape: "[A" and the like; numbers with '~'. */
static int read_escape(void)
{
    int byte = read_byte(), number = 0;
    if (byte != '[' && byte != 'O')
        return KEY_OTHER;
    while ((byte = read_byte()) >= '0' && byte <= ';')
        number = byte <= '9' ? number * 10 % 1000 + byte - '0' : 0;
    switch (byte) {
    case 'A': return KEY_UP;
    case 'B': return KEY_DOWN;
    case 'C': return KEY_RIGHT;
    case 'D': return KEY_LEFT;
    case 'H': return KEY_HOME;
    case 'F': return KEY_END;
    case '~':
        return number == 3                  ? KEY_DELETE
               : number == 1 || number == 7 ? KEY_HOME
               : number == 4 || number == 8 ? KEY_END
                                            : KEY_OTHER;
    default: return byte == KEY_NONE ? KEY_NONE : KEY_OTHER;
    }
}

static int read_key(void)
{
    int byte = read_byte();
    return byte == 0x1b ? read_escape() : byte;
}

/* ---- the line ---- */

struct editing {
    struct line_editor *editor;
    struct buffer *line;
    size_t at;      /* of the cursor, in bytes */
    size_t history; /* index of the shown line; lines.count: the new one */
    char *fresh;    /* the new line while another is shown */
    const char *prompt;
};

static bool is_inside(const char *text, size_t at)
{
    return ((unsigned char)text[at] & 0xc0) == 0x80;
}

static size_t before(const struct editing *editing, size_t at)
{
    while (at > 0 && is_inside(editing->line->at, --at)) {}
    return at;
}

static size_t behind(const struct editing *editing, size_t at)
{
    while (at < editing->line->count && is_inside(editing->line->at, ++at)) {}
    return at;
}

/* Whether KEY ends the input if the line is empty: Ctrl-D. If typed while a query ran in canonical mode, it is read as
 * NUL here: Linux converts end-of-file in that way when canonical mode is switched off. */
static bool ends_input(int key)
{
    return key == CONTROL('D') || key == '\0';
}

/* Draw the prompt and as much of the line as fits, the cursor in it. */
static void draw(const struct editing *editing)
{
    size_t width = terminal_width(STDOUT_FILENO),
           room = width > strlen(editing->prompt) + 2 ? width - strlen(editing->prompt) - 1 : 8;
    struct buffer text = { 0 }, shown = { 0 };
    size_t first = editing->at, column = 0;
    while (first > 0) { /* so that the cursor still fits */
        size_t previous = before(editing, first);
        buffer_clear(&shown);
        column += escape_terminal(&shown, editing->line->at + previous, first - previous);
        if (column >= room)
            break;
        first = previous;
    }
    column = escape_terminal(&text, editing->line->at + first, editing->at - first);
    size_t end = editing->at, used = column;
    while (end < editing->line->count) {
        buffer_clear(&shown);
        size_t next = behind(editing, end);
        used += escape_terminal(&shown, editing->line->at + end, next - end);
        if (used > room)
            break;
        buffer_add(&text, shown.at, shown.count);
        end = next;
    }
    printf("\r%s%s\x1b[K\r\x1b[%zuC", editing->prompt, text.at ? text.at : "",
           strlen(editing->prompt) + column);
    fflush(stdout);
    buffer_release(&text);
    buffer_release(&shown);
}

static void set_line(struct editing *editing, const char *text)
{
    buffer_clear(editing->line);
    buffer_puts(editing->line, text);
    editing->at = editing->line->count;
}

static void print_history(struct editing *editing, size_t index)
{
    if (index > editing->editor->lines.count)
        return;
    if (editing->history == editing->editor->lines.count) {
        free(editing->fresh);
        editing->fresh = mem_strdup(editing->line->at);
    }
    editing->history = index;
    set_line(editing,
             index == editing->editor->lines.count ? editing->fresh : editing->editor->lines.at[index]);
}

/* Remove the bytes from FIRST to END from the line. */
static void cut(struct editing *editing, size_t first, size_t end)
{
    struct buffer *line = editing->line;
    memmove(line->at + first, line->at + end, line->count - end + 1);
    line->count -= end - first;
    editing->at = first;
}

static void insert(struct editing *editing, char byte)
{
    struct buffer *line = editing->line;
    if (line->count >= LONGEST_LINE)
        return;
    buffer_putc(line, byte);
    memmove(line->at + editing->at + 1, line->at + editing->at, line->count - 1 - editing->at);
    line->at[editing->at++] = byte;
}

static size_t word_before(const struct editing *editing)
{
    size_t at = editing->at;
    while (at > 0 && editing->line->at[at - 1] == ' ')
        at--;
    while (at > 0 && editing->line->at[at - 1] != ' ')
        at--;
    return at;
}

static void press(struct editing *editing, int key)
{
    size_t count = editing->line->count;
    switch (key) {
    case KEY_UP:
    case CONTROL('P'): print_history(editing, editing->history - (editing->history > 0)); break;
    case KEY_DOWN:
    case CONTROL('N'): print_history(editing, editing->history + 1); break;
    case KEY_LEFT:
    case CONTROL('B'): editing->at = before(editing, editing->at); break;
    case KEY_RIGHT:
    case CONTROL('F'): editing->at = behind(editing, editing->at); break;
    case KEY_HOME:
    case CONTROL('A'): editing->at = 0; break;
    case KEY_END:
    case CONTROL('E'): editing->at = count; break;
    case KEY_DELETE:
    case CONTROL('D'): cut(editing, editing->at, behind(editing, editing->at)); break;
    case 0x7f:
    case CONTROL('H'): cut(editing, before(editing, editing->at), editing->at); break;
    case CONTROL('K'): cut(editing, editing->at, count); break;
    case CONTROL('U'): cut(editing, 0, editing->at); break;
    case CONTROL('W'): cut(editing, word_before(editing), editing->at); break;
    case CONTROL('L'): fputs("\x1b[H\x1b[2J", stdout); break;
    case '\t': insert(editing, ' '); break;
    default:
        if (key >= ' ' && key < 256)
            insert(editing, (char)key);
    }
}

static enum line_end edit(struct editing *editing)
{
    for (;;) {
        draw(editing);
        int key = read_key();
        if (key == '\r' || key == '\n')
            return LINE_READ;
        if (key == CONTROL('C'))
            return LINE_GIVEN_UP;
        if (key == KEY_NONE || (ends_input(key) && editing->line->count == 0))
            return LINE_NO_MORE;
        press(editing, key);
    }
}

enum line_end line_editor_read(struct line_editor *editor, const char *prompt, struct buffer *line)
{
    struct editing editing = {
        .editor = editor, .line = line, .history = editor->lines.count, .prompt = prompt
    };
    struct termios usual;
    buffer_clear(line);
    buffer_puts(line, "");
    if (tcgetattr(STDIN_FILENO, &usual) != 0)
        return LINE_NO_MORE;
    struct termios raw = usual;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    enum line_end end = edit(&editing);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
    fputs(end == LINE_GIVEN_UP ? "^C\n" : "\n", stdout);
    fflush(stdout);
    free(editing.fresh);
    return end;
}
