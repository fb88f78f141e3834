/* The thread's table begins empty: a copy of the application's files would keep files
 * open that the application closes, and readers waiting for the end of a pipe would wait for us. */
#include "capture/parts.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK_SIZE = 256 << 10 };

/* Linux 5.9; missing in some C libraries that we are built with. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
enum { UNSHARE_TABLE = 2 };

/* Our own table is a copy of the shared one: close everything in it. */
static void close_copies(void)
{
    DIR *folder = opendir("/proc/thread-self/fd");
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);
        if (end > entry->d_name && *end == '\0' && fd != dirfd(folder))
            close((int)fd);
    }
    closedir(folder);
}

static void *thread_main(void *argument)
{
    struct own_files *files = argument;
    pthread_setname_np(pthread_self(), "tpa-capture-io");
    if (syscall(SYS_close_range, 0, ~0u, UNSHARE_TABLE) != 0 && unshare(CLONE_FILES) == 0)
        close_copies();
    pthread_mutex_lock(&files->lock);
    while (!files->ends) {
        if (!files->work) {
            pthread_cond_wait(&files->changed, &files->lock);
            continue;
        }
        void (*work)(void *) = files->work;
        pthread_mutex_unlock(&files->lock);
        work(files->argument);
        pthread_mutex_lock(&files->lock);
        files->work = NULL;
        pthread_cond_broadcast(&files->changed);
    }
    pthread_mutex_unlock(&files->lock);
    return NULL;
}

bool own_files_start(struct own_files *files)
{
    *files = (struct own_files){ .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_SIZE);
    int result = pthread_create(&files->thread, &small, thread_main, files);
    pthread_attr_destroy(&small);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = result;
    return result == 0;
}

void own_files_run(struct own_files *files, void (*work)(void *argument), void *argument)
{
    pthread_mutex_lock(&files->lock);
    files->argument = argument;
    files->work = work;
    pthread_cond_broadcast(&files->changed);
    while (files->work)
        pthread_cond_wait(&files->changed, &files->lock);
    pthread_mutex_unlock(&files->lock);
}

void own_files_stop(struct own_files *files)
{
    pthread_mutex_lock(&files->lock);
    files->ends = true;
    pthread_cond_broadcast(&files->changed);
    pthread_mutex_unlock(&files->lock);
    pthread_join(files->thread, NULL);
}
