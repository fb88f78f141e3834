/*
 * stream.c - writes traces of any size to standard output, for tests of limits (run).
 *
 *     stream events 1000000        a million events with a few names
 *     stream names 1000 4000       a thousand events, each with a name of its own of 4000 bytes
 *     stream string 300000000      one event with a name of so many bytes, between two ordinary ones
 *
 * and so on: see the table at the end. All are Chrome JSON. An event begins a microsecond after the one before, counted
 * from 0, and lasts half of one.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(const char *text)
{
    fputs(text, stdout);
}

/* COUNT times the letter C. */
static void put_run(char c, int64_t count)
{
    static char block[1 << 16];
    memset(block, c, sizeof block);
    for (; count > 0; count -= (int64_t)sizeof block)
        fwrite(block, 1, count < (int64_t)sizeof block ? (size_t)count : sizeof block, stdout);
}

static void begin(void)
{
    put("{\"traceEvents\": [\n");
}

static void end(void)
{
    put("\n]}\n");
}

/* Event number I but for its name, which follows, and its end. */
static void open_event(int64_t i)
{
    printf("%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":%" PRId64
           ",\"dur\":0.5,\"name\":\"",
           i ? ",\n" : "", i);
}

static void put_event(int64_t i, const char *name, const char *rest)
{
    open_event(i);
    printf("%s\"%s}", name, rest);
}

/* What is odd stands between two ordinary events, which show that what follows it is read. */
static void begin_with_first(void)
{
    begin();
    put_event(0, "first", "");
}

static void end_with_last(int64_t i)
{
    put_event(i, "last", "");
    end();
}

/* The odd event itself, up to its name. */
static void open_middle(void)
{
    begin_with_first();
    open_event(1);
}

static void events(int64_t count, int64_t unused)
{
    (void)unused;
    static const char *const names[] = { "aten::mm", "aten::add", "aten::relu" };
    begin();
    for (int64_t i = 0; i < count; i++)
        put_event(i, names[i % 3], "");
    end();
}

static void names(int64_t count, int64_t length)
{
    begin();
    for (int64_t i = 0; i < count; i++) {
        char number[24];
        int digits = snprintf(number, sizeof number, "%" PRId64 "_", i);
        open_event(i);
        put(number);
        put_run('n', length - digits);
        put("\"}");
    }
    end();
}

static void string(int64_t length, int64_t unused)
{
    (void)unused;
    open_middle();
    put_run('s', length);
    put("\"}");
    end_with_last(2);
}

/* Something long in the arguments of an event: BEFORE, a run of letters, AFTER. */
static void argument(const char *before, char letter, int64_t length, const char *after)
{
    open_middle();
    printf("middle\",\"args\":{\"x\":%s", before);
    put_run(letter, length);
    printf("%s}}", after);
    end_with_last(2);
}

static void argument_string(int64_t length, int64_t unused)
{
    (void)unused;
    argument("\"", 'a', length, "\"");
}

static void number(int64_t digits, int64_t unused)
{
    (void)unused;
    argument("", '7', digits, "");
}

static void depth(int64_t levels, int64_t unused)
{
    (void)unused;
    open_middle();
    put("middle\",\"args\":{\"x\":");
    put_run('[', levels);
    put_run(']', levels);
    put("}}");
    end_with_last(2);
}

/* Brackets that nobody closes. */
static void unclosed(int64_t levels, int64_t unused)
{
    (void)unused;
    open_middle();
    put("middle\",\"args\":{\"x\":");
    put_run('[', levels);
}

static void timestamp(int64_t digits, int64_t unused)
{
    (void)unused;
    begin_with_first();
    put(",\n{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"dur\":1,\"name\":\"middle\",\"ts\":1.");
    put_run('0', digits);
    put("}");
    end_with_last(2);
}

static void keys(int64_t count, int64_t unused)
{
    (void)unused;
    open_middle();
    put("middle\",\"args\":{");
    for (int64_t i = 0; i < count; i++)
        printf("%s\"key%" PRId64 "\":%" PRId64, i ? "," : "", i, i);
    put(",\"External id\":4711}}");
    end_with_last(2);
}

static void blanks(int64_t count, int64_t unused)
{
    (void)unused;
    begin_with_first();
    put_run(' ', count);
    end_with_last(1);
}

static void property(int64_t length, int64_t unused)
{
    (void)unused;
    put("{\"stackFrames\": \"");
    put_run('p', length);
    put("\", \"traceEvents\": [\n");
    put_event(0, "first", "");
    put_event(1, "last", "");
    put("\n], \"behind\": [\"");
    put_run('q', length);
    put("\"]}\n");
}

/* Something of its own for each event, written as FORMAT makes it of its number. */
static void each(int64_t count, const char *name, const char *category, const char *tid, const char *argument)
{
    begin();
    for (int64_t i = 0; i < count; i++) {
        printf("%s{\"ph\":\"X\",\"pid\":1,\"ts\":%" PRId64 ",\"dur\":0.5,\"name\":\"%s\",\"cat\":\"%s",
               i ? ",\n" : "", i, name, category);
        if (!tid && !argument)
            printf("%" PRId64, i);
        printf("\",\"tid\":%s", tid ? tid : "1");
        if (tid)
            printf("%" PRId64, i);
        if (argument)
            printf(",\"args\":{\"Call stack\":\"%s%" PRId64 "\"}", argument, i);
        put("}");
    }
    end();
}

static void categories(int64_t count, int64_t unused)
{
    (void)unused;
    each(count, "op", "c", NULL, NULL);
}

static void tracks(int64_t count, int64_t unused)
{
    (void)unused;
    each(count, "op", "cpu_op", "1", NULL); /* a digit in front, so that no number begins with 0 */
}

static void texts(int64_t count, int64_t unused)
{
    (void)unused;
    each(count, "op", "cpu_op", NULL, "file.py(1): f");
}

/* Ends that nothing began. */
static void ends(int64_t count, int64_t unused)
{
    (void)unused;
    begin_with_first();
    for (int64_t i = 0; i < count; i++)
        printf(",\n{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%" PRId64 "}", i);
    end();
}

/* Each event calls the next. */
static void nested(int64_t count, int64_t unused)
{
    (void)unused;
    begin();
    for (int64_t i = 0; i < count; i++)
        printf("%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"f%" PRId64
               "\",\"pid\":1,\"tid\":1,\"ts\":%" PRId64 ",\"dur\":%" PRId64 "}",
               i ? ",\n" : "", i % 10, i, 2 * (count - i));
    end();
}

/* COUNT steps with an operator, a launch and a kernel in each. */
static void steps(int64_t count, int64_t unused)
{
    (void)unused;
    begin();
    for (int64_t i = 0; i < count; i++) {
        int64_t ts = 1000 * i;
        printf("%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%" PRId64
               "\",\"pid\":1,\"tid\":1,\"ts\":%" PRId64 ",\"dur\":900},\n",
               i ? ",\n" : "", i, ts);
        printf("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":%" PRId64
               ",\"dur\":100,\"args\":{\"External id\":%" PRId64 "}},\n",
               ts + 10, i + 1);
        printf(
            "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%" PRId64
            ",\"dur\":10,\"args\":{\"correlation\":%" PRId64 "}},\n",
            ts + 20, i + 1);
        printf("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":%" PRId64
               ",\"dur\":500,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%" PRId64 "}}",
               ts + 50, i + 1);
    }
    end();
}

/* A Python profile (marshal) of COUNT functions, each called by the one before. */
static void put_long(int64_t value)
{
    for (int i = 0; i < 4; i++)
        putchar((int)(value >> (8 * i)) & 0xff);
}

static void put_function(int64_t i)
{
    char name[32];
    int len = snprintf(name, sizeof name, "f%" PRId64, i);
    printf("(%c%c%c%c", 3, 0, 0, 0);
    putchar('u'), put_long(4), put("a.py");
    putchar('i'), put_long(i % 1000000);
    putchar('u'), put_long(len), put(name);
}

static void profile(int64_t count, int64_t unused)
{
    (void)unused;
    putchar('{');
    for (int64_t i = 0; i < count; i++) {
        put_function(i);
        putchar('('), put_long(5);
        putchar('i'), put_long(1), putchar('i'), put_long(1);
        putchar('i'), put_long(1), putchar('i'), put_long(2);
        putchar('{');
        if (i) {
            put_function(i - 1);
            putchar('('), put_long(4);
            for (int k = 0; k < 4; k++)
                putchar('i'), put_long(1);
        }
        putchar('0');
    }
    putchar('0');
}

static const struct {
    const char *name;
    void (*write)(int64_t, int64_t);
} kinds[] = {
    { "events", events }, { "names", names },     { "string", string },     { "argument", argument_string },
    { "number", number }, { "depth", depth },     { "unclosed", unclosed }, { "timestamp", timestamp },
    { "keys", keys },     { "blanks", blanks },   { "property", property }, { "categories", categories },
    { "tracks", tracks }, { "texts", texts },     { "ends", ends },         { "nested", nested },
    { "steps", steps },   { "profile", profile },
};

int main(int argc, char **argv)
{
    static char buffer[1 << 20];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && argc >= 3; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        kinds[i].write(strtoll(argv[2], NULL, 10), argc > 3 ? strtoll(argv[3], NULL, 10) : 0);
        return ferror(stdout) != 0;
    }
    fputs("usage: stream KIND COUNT [LENGTH]\n", stderr);
    return 2;
}
