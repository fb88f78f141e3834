/* words.h - how the results are named: for tables, pictures and sentences. All texts of struct buffer are appended. */
#ifndef TPA_HANG_WORDS_H
#define TPA_HANG_WORDS_H

#include "base/buffer.h"
#include "hang/job.h"

/* "never_entered", "stuck", "timed_out", "no_dump". */
const char *hang_class_word(enum hang_class class);
const char *hang_state_word(enum hang_state state);
const char *hang_doubt_word(enum hang_doubt doubt);

/* "timed_out, mismatch". */
void hang_add_proofs(struct buffer *out, unsigned proof);

/* A number with separators of thousands: "9,991". */
void hang_add_count(struct buffer *out, size_t count);

/* "0-2, 7", for people; "[0, 1, 2, 7]", for programs. */
void hang_add_ranks(struct buffer *out, struct hang_ranks ranks, bool for_people);

/* "rank 3", "ranks 3 and 5", "ranks 0-2 and 7", "1,024 ranks (0-1023)"; with UPPER, a capital. */
void hang_add_rank_words(struct buffer *out, struct hang_ranks ranks, bool upper);

/* "EXPERT_MODEL_PARALLEL_GROUP"; its name where it has no description. */
const char *hang_group_title(const struct hang_job *job, uint32_t group);

/* "all_reduce #6 of default_pg"; of a send or receive "recv 1<-0 of pp". */
void hang_add_operation(struct buffer *out, const struct hang_job *job, uint32_t group, int64_t seq,
                        name_id op);

/* "train.py:88" of the newest entry of RANK; NULL: not recorded. */
const char *hang_last_call(const struct hang_job *job, uint32_t rank);

/* One sentence about CAUSE, without waiters and without its stop; with UPPER, a capital. IN_DOUBT: its ranks are suspects
 * only. */
void hang_add_cause(struct buffer *out, const struct hang_job *job, const struct hang_cause *cause,
                    bool upper, bool in_doubt);

/* One sentence about a doubt of JOB. */
void hang_add_doubt(struct buffer *out, struct hang_job *job, enum hang_doubt doubt);

/* Does CAUSE name its ranks as culprits, rather than as suspects or not at all? */
bool hang_names_culprits(enum hang_class class);

#endif
