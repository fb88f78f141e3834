/*
 * make_tpa.h - well-formed files of a fuzzer's choosing: traces, capture logs, profiles and reports as .tpa, and facts.
 *
 *     struct buffer file = { 0 };
 *     make_tpa(choices, count, &file);
 *
 * Checksums, columns and the order of blocks are always right, so that nothing is left out before it is looked into. What
 * the fields hold is chosen by the bytes, and when those are used up by random numbers that they begin: numbers that fit,
 * and numbers from a pool of limits (of 8 to 64 bits, of what tpa takes, doubles that are none). Texts are names that
 * analyses look into, and bytes that act on a terminal, a page, a spreadsheet or a parser.
 */
#ifndef TPA_TESTS_FUZZ_MAKE_TPA_H
#define TPA_TESTS_FUZZ_MAKE_TPA_H

#include "base/buffer.h"
#include <stdint.h>

/* Append a file to BYTES. The same CHOICES make the same file. */
void make_tpa(const uint8_t *choices, size_t count, struct buffer *bytes);

/* Append facts of one to four ranks (figures/facts_file.h) to BYTES. */
void make_facts(const uint8_t *choices, size_t count, struct buffer *bytes);

#endif
