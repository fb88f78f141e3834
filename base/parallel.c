#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_WORKERS = 64 };

size_t parallel_worth = 100000;

struct run {
    parallel_task *task;
    void *context;
    size_t parts;
    atomic_size_t next;
};

unsigned parallel_workers(unsigned requested)
{
    long processors = requested ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    return requested ? requested : processors < 1 ? 1 : (unsigned)processors;
}

unsigned parallel_parts(unsigned workers, size_t count)
{
    size_t worth = count / parallel_worth;
    if (workers > MOST_WORKERS)
        workers = MOST_WORKERS;
    return worth < workers ? (worth ? (unsigned)worth : 1) : (workers ? workers : 1);
}

static void *parallel_work(void *argument)
{
    struct run *run = argument;
    for (size_t part; (part = atomic_fetch_add(&run->next, 1)) < run->parts;)
        run->task(run->context, part);
    return NULL;
}

void parallel_run(unsigned workers, size_t parts, parallel_task *task, void *context)
{
    struct run run = { .task = task, .context = context, .parts = parts };
    pthread_t threads[MOST_WORKERS];
    unsigned started = 0;
    while (started + 1 < workers && started + 1 < parts && started < MOST_WORKERS &&
           pthread_create(&threads[started], NULL, parallel_work, &run) == 0)
        started++; /* fewer threads than requested only make it slower */
    parallel_work(&run);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}
