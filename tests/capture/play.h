/* play.h - the parts of the program that plays an application on a GPU; see play.c. */
#ifndef TPA_TESTS_CAPTURE_PLAY_H
#define TPA_TESTS_CAPTURE_PLAY_H

#include "tests/capture/fake_cupti.h"
#include <stdint.h>
#include <stdio.h>

/* Emit a random record that begins at START; the line that dump_log prints of it goes to EXPECT. */
void play_record(uint64_t *state, uint64_t start, uint32_t tid, FILE *expect);

/* Emit a device, a context and a stream. */
void play_environment(FILE *expect);

/* Ranges and marks of every kind that NVTX has, on this thread and another; their lines, without times, to EXPECT. */
void play_nvtx(FILE *expect);

/* Short forms for scripts. */
void play_push(const char *name);
void play_pop(void);

#endif
