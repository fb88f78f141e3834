/*
 * process_facts.h - facts of the recorded process from /proc. Unknown texts are "".
 */
#ifndef TPA_CAPTURE_PROCESS_FACTS_H
#define TPA_CAPTURE_PROCESS_FACTS_H

#include <stddef.h>
#include <stdint.h>

/* The path of the executable. PATH, as the texts below, has SIZE bytes and is NUL-terminated. */
void process_executable(char *path, size_t size);

/* The words of the command line, separated by spaces. */
void process_command(char *command, size_t size);

/* The version of NVIDIA's kernel module, "550.54.14". */
void process_driver_name(char *name, size_t size);

/* The name of a thread of this process. */
void process_thread_name(int64_t tid, char *name, size_t size);

/* When the process began, CLOCK_REALTIME in ns; TPAFILE_NONE if unknown. */
int64_t process_start_wall_ns(void);

#endif
