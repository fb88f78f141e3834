/* The thread blocks all signals: they belong to the thread that runs the statement. */
#include "sql/parts.h"
#include "base/moment.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { LOOK_EVERY_NS = 50000000 }; /* at *INTERRUPTED: a handler of signals cannot wake the thread */

struct watchdog {
    sqlite3 *db;
    const atomic_int *interrupted;
    watchdog_give_up *give_up;
    int64_t deadline_ns; /* INT64_MAX: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done; /* under LOCK */
};

/* Wait until UNTIL_NS or the end of the statement. Is it done? LOCK is held. */
static bool wait_until(struct watchdog *dog, int64_t until_ns)
{
    struct timespec until = { .tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000 };
    int code = 0;
    while (!dog->done && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&dog->changed, &dog->lock, &until);
    return dog->done;
}

static bool is_interrupted(const struct watchdog *dog)
{
    return dog->interrupted && *dog->interrupted;
}

static void *watch(void *context)
{
    struct watchdog *dog = context;
    bool too_long = false;
    pthread_mutex_lock(&dog->lock);
    while (!dog->done && !too_long && !is_interrupted(dog)) {
        int64_t now_ns = moment_steady(), next_ns = dog->deadline_ns;
        if (dog->interrupted && next_ns > now_ns + LOOK_EVERY_NS)
            next_ns = now_ns + LOOK_EVERY_NS;
        wait_until(dog, next_ns);
        too_long = moment_steady() >= dog->deadline_ns;
    }
    if (!dog->done)
        sqlite3_interrupt(dog->db);
    if (!dog->done && !wait_until(dog, moment_steady() + WATCHDOG_GRACE_NS) && dog->give_up)
        dog->give_up(too_long);
    pthread_mutex_unlock(&dog->lock);
    return NULL;
}

struct watchdog *watchdog_begin(sqlite3 *db, int64_t limit_ns, const atomic_int *interrupted,
                                watchdog_give_up *give_up)
{
    if (!limit_ns && !interrupted)
        return NULL;
    struct watchdog *dog = mem_zalloc(1, sizeof *dog);
    int64_t now_ns = moment_steady();
    bool endless = !limit_ns || limit_ns > INT64_MAX - now_ns;
    *dog = (struct watchdog){ .db = db,
                              .interrupted = interrupted,
                              .give_up = give_up,
                              .deadline_ns = endless ? INT64_MAX : now_ns + limit_ns };
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&dog->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&dog->lock, NULL);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&dog->thread, NULL, watch, dog) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return dog;
    pthread_cond_destroy(&dog->changed); /* without a thread the progress handler alone keeps the limit */
    pthread_mutex_destroy(&dog->lock);
    free(dog);
    return NULL;
}

void watchdog_end(struct watchdog *dog)
{
    if (!dog)
        return;
    pthread_mutex_lock(&dog->lock);
    dog->done = true;
    pthread_cond_signal(&dog->changed);
    pthread_mutex_unlock(&dog->lock);
    pthread_join(dog->thread, NULL);
    pthread_cond_destroy(&dog->changed);
    pthread_mutex_destroy(&dog->lock);
    free(dog);
}
