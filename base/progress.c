#include "base/progress.h"

#include "base/escape.h"
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

static int64_t progress_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

struct progress progress_begin(FILE *out)
{
    struct progress progress = { 0 };
    if (isatty(fileno(out))) {
        progress.out = out;
        progress.begun_ns = progress_now_ns();
    }
    return progress;
}

/* The end of WHAT, which is the most informative part of a path. */
static void add_name(struct buffer *out, const char *what)
{
    enum { LONGEST = 40 };
    size_t len = strlen(what);
    if (len > LONGEST) {
        what += len - LONGEST;
        while (((unsigned char)*what & 0xc0) == 0x80) /* do not start inside a character */
            what++;
        buffer_puts(out, "...");
    }
    escape_terminal(out, what, strlen(what));
}

void progress_line(struct buffer *out, const char *what, int64_t done, int64_t total, int64_t elapsed_ns)
{
    add_name(out, what);
    if (total > 0)
        buffer_printf(out, "  %d%%", done < total ? (int)(100.0 * (double)done / (double)total) : 100);
    if (done <= 0 || elapsed_ns <= 0)
        return;
    double per_second = (double)done / ((double)elapsed_ns / (double)SECOND_NS);
    buffer_printf(out, "  %.0f MB/s", per_second / 1e6);
    if (total >= done) {
        int64_t left_s = (int64_t)((double)(total - done) / per_second + 0.5);
        buffer_printf(out, "  %" PRId64 ":%02" PRId64 " left", left_s / 60, left_s % 60);
    }
}

void progress_print(struct progress *progress, const char *what, int64_t done, int64_t total)
{
    if (progress->out == NULL)
        return;
    int64_t now = progress_now_ns();
    if (now - progress->begun_ns < SECOND_NS || now - progress->shown_ns < SECOND_NS / 6)
        return;
    progress->shown_ns = now;
    SCOPED struct buffer line = { 0 };
    progress_line(&line, what, done, total, now - progress->begun_ns);
    fprintf(progress->out, "\r%s\033[K", line.at);
    fflush(progress->out);
}

void progress_end(struct progress *progress)
{
    if (progress->out && progress->shown_ns != 0) {
        fputs("\r\033[K", progress->out);
        fflush(progress->out);
    }
    progress->out = NULL;
}
