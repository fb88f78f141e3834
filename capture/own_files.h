/*
 * own_files.h - files that the application cannot close.
 *
 * A process has one table of open files for all its threads, and file descriptors are reused. An application that
 * closes a number twice, or closes numbers that are not its own, closes our file; its next one gets the number, and our
 * next write goes to that file. Checking the descriptor first does not help: it may change between the check and the
 * write. So the writer accesses files on a thread with a file table of its own:
 *
 *     own_files_start(&files);
 *     own_files_run(&files, write_block, &job);        // calls write_block(&job) there and waits for it
 *     own_files_stop(&files);
 *
 * File descriptors that such a function opens mean nothing elsewhere, and forked children do not inherit them. Where
 * the kernel refuses a table (before Linux 5.9 in a container), the thread shares the table of the process.
 */
#ifndef TPA_CAPTURE_OWN_FILES_H
#define TPA_CAPTURE_OWN_FILES_H

#include <pthread.h>
#include <stdbool.h>

/* The fields are private. */
struct own_files {
    pthread_t thread;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t changed;
    void (*work)(void *argument); /* function to call; NULL after the call */
    void *argument;
    bool ends;
};

/* Start the thread, on which all signals are blocked. False, with errno set, if that fails. */
bool own_files_start(struct own_files *files);

/* Call WORK with ARGUMENT on the thread, and wait for it. From one thread at a time. */
void own_files_run(struct own_files *files, void (*work)(void *argument), void *argument);

/* End the thread, which closes all files in its table. */
void own_files_stop(struct own_files *files);

#endif
