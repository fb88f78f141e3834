/*
 * own_files.h - files that the application cannot take away from us.
 *
 * A process has one table of open files for all its threads, and its numbers are used again. An application that
 * closes a number twice, or closes numbers that are not its own, closes our file; its next one gets the number, and
 * what we then write goes into that. To look whose file it is does not help: it may change between the look and
 * the write. So what the writer does with files it has done by a thread that has a table for itself:
 *
 *     own_files_start(&files);
 *     own_files_run(&files, write_block, &job);        // write_block(&job) is called there, and has returned
 *     own_files_stop(&files);
 *
 * File descriptors that such a function opens mean nothing elsewhere, and forked children do not inherit them. Where
 * the kernel refuses a table (before Linux 5.9 in a container), the thread shares that of the process.
 */
#ifndef TPA_CAPTURE_OWN_FILES_H
#define TPA_CAPTURE_OWN_FILES_H

#include <pthread.h>
#include <stdbool.h>

/* Read no field of it. */
struct own_files {
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    void (*work)(void *argument); /* to be called; NULL when it was */
    void *argument;
    bool ends;
};

/* Start the thread, on which all signals are blocked. False, with errno, when there can be none. */
bool own_files_start(struct own_files *files);

/* Have WORK called with ARGUMENT, and wait for it. From one thread at a time. */
void own_files_run(struct own_files *files, void (*work)(void *argument), void *argument);

/* End the thread, which closes what is open in its table. */
void own_files_stop(struct own_files *files);

#endif
