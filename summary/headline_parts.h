/* headline_parts.h - what the files of the headline share: headline_bars.c says what ran and where the time went, headline_verdict.c
 * what is wrong and why the first change comes first, headline.c lists what to do. Texts that they return are in headline->texts. */
#ifndef TPA_SUMMARY_HEADLINE_PARTS_H
#define TPA_SUMMARY_HEADLINE_PARTS_H

#include "summary/finding_kit.h"

struct headline {
    const struct summary *summary;
    const struct findings *findings;
    struct answer *answer;
    struct arena *texts;
    const struct account_rank *step; /* the account of a step; NULL: none is known */
    /* What the verdict names as the largest part: "the GPU is idle 44.0 % of a step", its share, and the rules that are about it, a set;
     * "": nothing. */
    const char *largest, *part; /* PART: "the communication"; NULL: what the sentence before says */
    double largest_share;
    unsigned rules;
    double
        alone_ns; /* the host worked alone, which is most of the recording, and no price is about it; else 0 */
};

enum { USE_COMPUTING, USE_COMMUNICATION, USE_COPIES, USES };

/* What devices did with their time; double, as times may be absurd. */
struct headline_use {
    int64_t rank;
    double span_ns, used_ns[USES], idle_ns, cause_ns[GAP_CAUSES];
    double before_ns, after_ns;     /* of GAP_HOST: before the first work of steps and after the last */
    int64_t longest_ns[GAP_CAUSES]; /* part of one gap */
};

/* Causes of less than this share of the bar are one part. */
#define LEAST_PART 0.01

/* TEXT as a string; NULL: it has none. */
const char *headline_copy(struct headline *headline, struct text text);

/* NS in the unit of OF_NS. */
const char *headline_time_of(struct headline *headline, double ns, double of_ns);

/* NS in its own unit. */
const char *headline_time(struct headline *headline, double ns);

/* Add what ran: program, devices, ranks, versions, steps. */
void headline_add_facts(struct headline *headline);

/* How many devices worked. */
size_t headline_device_count(const struct gpu *gpu);

/* What the devices of RANK did, of all where that is TABLE_INT_MISSING: in its steps; in all that was recorded where none are marked. */
struct headline_use headline_use_of(const struct summary *summary, int64_t rank);

/* The idle time of CAUSE; APART: of the host without what comes before and after the work of steps, as in the account. */
double headline_cause_of(const struct headline_use *use, enum gap_cause cause, bool apart);

/* ORDER of causes, the longest first. APART: as above. */
void headline_order_causes(const struct headline_use *use, bool apart, enum gap_cause order[GAP_CAUSES]);

/* The share of PART in the steps of RANK. */
double headline_part_share(const struct account_rank *rank, enum account_part part);

/* Of several ranks, the one that communicates, or waits for others in it, for most of its step; NULL: none does. */
const struct account_rank *headline_waiting_rank(const struct headline *headline);

/* What a sum of times in the recording is of: each stream, or thread, counts. */
const char *headline_recorded_word(struct headline *headline);

/* Add bars of a step, or of what was recorded: of devices, else of the host. */
void headline_add_bars(struct headline *headline);

/* Is most communication a wait for ranks that were not recorded? */
bool headline_waits_outside(const struct summary *summary);

/* Which rule FINDING is of; FINDING_RULES: another module's. */
enum finding_rule headline_rule_of(const struct priced_finding *finding);

/* How long was recorded, in ns, for each device that worked, added up. */
double headline_recorded_of_devices(const struct summary *summary);

/* Is what was replayed shorter than this share of the recording? It begins and ends with what launches work. */
bool headline_is_replayed_less(const struct headline *headline, double share);

/* What shares of savings are of: "a step", "19.842ms of the recording". */
const char *headline_whole_word(struct headline *headline);

/* The first finding from which later steps gain; the count of findings when there is none, or when most of what was recorded is what
 * they do not have. */
size_t headline_first_lasting(const struct findings *findings);

/* FINDING as what to do: "launch work in fewer calls". */
const char *headline_change_of(struct headline *headline, const struct priced_finding *finding);

/* Set what is wrong, as the verdict of the answer and as a notice on top of RESULT, and what headline holds of the largest part. */
void headline_add_verdict(struct headline *headline, struct result *result);

#endif
