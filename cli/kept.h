/*
 * kept.h - results that a server keeps for the next question: whole, before they are sorted and cut.
 *
 *     struct kept_query query = { call, .without = "sort reverse" };
 *     struct result *result = kept_find(&query);      // NULL: no question made it before
 *     if (!result) {
 *         result = result_open("tpa.gpu/1");
 *         ...
 *         kept = kept_put(&query, result);
 *         if (!kept_branch())
 *             return EXIT_FINE;                          // another process sorts, cuts and prints it
 *     }
 *
 * Who prints a kept result may change it, as it does so in a process that ends with the answer: the one that keeps does not see it.
 * Without kept_begin nothing is kept, and kept_branch() is true.
 */
#ifndef TPA_CLI_KEPT_H
#define TPA_CLI_KEPT_H

#include "cli/command.h"
#include "cli/output.h"

/* What a result depends on: the command, its operands, and its options but for those of printing and those in WITHOUT. */
struct kept_query {
    const struct invocation *call;
    const char *without; /* names of options, separated by blanks */
    uint64_t variant;    /* tells results of one call apart */
    bool is_cut;         /* it depends on --limit, too */
};

/* Keep results of at most MOST bytes together; if that EVICTS, those that were not used for longest go first, and else new ones are not
 * kept. BRANCH: go on in a process that ends with
 * the answer; 1 in it, 0 in the one that keeps, -1 if there can be none. PASSING: this process is to end with its answer; the number is
 * for kept_use() in the one that keeps. */
void kept_begin(int64_t most, bool evicts, int (*branch)(void), void (*passing)(uint64_t used));
bool kept_is_on(void);

/* The result; borrowed, but it may be changed. NULL: it is to be made. */
struct result *kept_find(const struct kept_query *query);

/* Keep RESULT, which then is taken; false if it is too large, or nothing is kept. */
bool kept_put(const struct kept_query *query, struct result *result);

/* Is it for this process to print what was made? */
bool kept_branch(void);

/* Keep RESULT, which is taken, and print it if that is for this process. */
bool kept_output(const struct kept_query *query, struct result *result, const struct output_args *output,
                 struct tpa_error *err);

/* The result with this number was used. */
void kept_use(uint64_t number);

/* Do the words of AHEAD make what the LEN bytes of ASKED need: commands with their options as --NAME=VALUE that differ in those of
 * printing only? */
bool kept_serves(const struct buffer *ahead, const char *asked, size_t len);

#endif
