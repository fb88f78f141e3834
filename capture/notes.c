#include "capture/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NOTES = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the variables below */
static struct note waiting[MOST_NOTES];
static size_t waiting_count;

__attribute__((format(printf, 2, 0))) static void queue(struct note *note, const char *fmt, va_list args)
{
    vsnprintf(note->text, sizeof note->text, fmt, args);
    pthread_mutex_lock(&lock);
    if (waiting_count < MOST_NOTES)
        waiting[waiting_count++] = *note;
    pthread_mutex_unlock(&lock);
}

void notes_log(const char *word, const char *fmt, ...)
{
    struct note note = { .word = word, .time_ns = clock_now_ns() };
    va_list args;
    va_start(args, fmt);
    queue(&note, fmt, args);
    va_end(args);
}

void notes_add(const char *word, const char *fmt, ...)
{
    struct note note = { .word = word, .time_ns = clock_now_ns() };
    va_list args;
    va_start(args, fmt);
    queue(&note, fmt, args);
    va_end(args);
    report_note(note.text);
}

size_t notes_collect(struct note *notes, size_t count)
{
    pthread_mutex_lock(&lock);
    size_t taken = waiting_count < count ? waiting_count : count;
    memcpy(notes, waiting, taken * sizeof *notes);
    waiting_count -= taken;
    memmove(waiting, waiting + taken, waiting_count * sizeof *waiting);
    pthread_mutex_unlock(&lock);
    return taken;
}

void notes_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    waiting_count = 0;
}
