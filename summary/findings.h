/*
 * findings.h - what to change, and what it would save: rules, each priced by replaying the trace with its edit.
 *
 *     struct findings *findings = findings_analyze(&summary);
 *     for (size_t i = 0; i < findings->count; i++)
 *         printf("%s saves at best %" PRId64 " ns of a step\n", findings->at[i].title.at, findings->at[i].saves_ns);
 *     arena_free(findings);
 *
 * A rule names a change that a user can make, finds where in the trace it would help, and has an edit of whatif/edits.h. What it
 * saves is the step time now less that of the replay with the edit alone; below FINDINGS_LEAST_SHARE of a step it is not
 * a finding. So a wait that ends the recording saves nothing, and neither does a copy that nothing waited for. The edits of all
 * findings are replayed together, too: their savings do not add up.
 */
#ifndef TPA_SUMMARY_FINDINGS_H
#define TPA_SUMMARY_FINDINGS_H

#include "base/buffer.h"
#include "base/memory.h"
#include "whatif/edits.h"
#include "whatif/whatif.h"
#include "summary/unexplained.h"

#define FINDINGS_LEAST_SHARE 0.005

struct priced_finding {
    struct text rule;    /* "data_loading": stable, for scripts */
    const char *section; /* of the report, which shows more */
    struct text title;   /* "the loop waits for the next batch" */
    struct text action;  /* "Load batches beside the loop" */
    int64_t saves_ns;    /* of a step, at best */
    int64_t saves_low_ns,
        saves_high_ns; /* the same at the ends of what contention costs; missing if none was measured */
    int64_t then_ns;   /* the step time less that */
    double saves_share;
    int64_t time_ns;   /* of what the edit touches, added up over the recording */
    int64_t count;     /* how many events that is */
    struct text where; /* operator, line of source, ranks; missing when unknown */
    struct text
        place; /* the event in a timeline where it is; missing: WHERE begins with it, or it is idle time */
    struct text advice; /* what to do */
    struct text
        with; /* "rank 13 in time": what the price takes for granted besides the change; missing: nothing */
    struct text was,
        code;          /* a line of the user's code before and after; missing: it is new, or none is known */
    struct text check; /* a command that shows the prediction */
    bool once; /* what is saved is only in the first step, which later steps do not have: they save nothing */
    bool unexplained; /* SAVES_NS is what nothing was recorded of: to find out why saves nothing yet */
    const char *const *
        replaces; /* operators in whose place the change has another, up to NULL; NULL: those that it makes faster */
    bool
        of_longest; /* without devices: it replaces the operator that takes longest, or makes most of its time shorter */
    struct edit edit;
};

/* Do later steps gain from FINDING? */
static inline bool finding_is_change(const struct priced_finding *finding)
{
    return !finding->once && !finding->unexplained;
}

/* "up to", before what FINDING saves: it is the most. "about" where the edit itself is an estimate that may be exceeded. */
static inline const char *finding_price_word(const struct priced_finding *finding)
{
    return finding->edit.kind == EDIT_FUSE ? "about" : "up to";
}

struct findings {
    VEC_OF(struct priced_finding); /* what saves most first */
    bool priced; /* false: nothing that takes time was recorded, and there are no findings */
    const char
        *withheld; /* why no price would be right, so that there are no findings; NULL: they are priced */
    const char *recipe;        /* where nothing is priced: how to record it, or what was recorded */
    bool only_memory;          /* and that is memory */
    bool has_steps;            /* else the whole recording is the step */
    int64_t step_ns;           /* the step time: that of the account (analyze/account.h) */
    bool single_step;          /* there is no next one */
    struct buffer elsewhere;   /* larger figures that other commands have, and why the saving here is less */
    bool is_capture;           /* most of the recording is the capture of a graph */
    struct buffer unexplained; /* idle time that no finding explains, in a sentence */
    struct unexplained of_unexplained;
    struct step_bound bound; /* with the edits of all findings */
    bool priced_host;        /* some findings are about what the host does */
    double overhead_share;   /* of the recording: the profiler's own events */
    bool has_frames;
    int64_t
        together_ns; /* with the edits of all changes, finding_is_change, or of the best alone if that is less; step_ns when
                        there are none */
    struct buffer quiet;  /* rules that looked and found nothing worth it: "copies, allocation" */
    struct buffer blind;  /* rules that could not look, with how to record what they need */
    bool no_launches;     /* devices worked, and nothing of what the host did for them was recorded */
    const char *unpriced; /* what takes time, and could not be priced; NULL: nothing known */
    struct text
        half; /* without findings, or where they save less: a command, by which what takes longest takes half of its time */
    double half_saves_share; /* what that saves */
    int64_t half_saves_ns;   /* the same */
    const char *longest;     /* what it is: "kernel" */
    struct text longest_name;
    struct text longest_advice;  /* what to do about it; missing: not known */
    bool allocates_at_first_use; /* most of what allocation costs is gone without first uses */
    int64_t end_wait_ns;         /* the wait with which the recording ends; 0: none */
    struct text end_wait;        /* its call */
};

/* Is none of FINDINGS more than a pause to be explained, which saves nothing yet? True without findings. */
static inline bool findings_are_pauses(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->at[i].unexplained)
            return false;
    return true;
}

/* Does what takes longest, half as long, save so much more than all that was found that it comes first? Than a pause to be explained,
 * which saves nothing yet, it saves more; than a change twice as much. */
static inline bool findings_longest_first(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct priced_finding *finding = &findings->at[i];
        if ((finding->unexplained ? 1 : 2) * finding->saves_share > findings->half_saves_share)
            return false;
    }
    return findings->count > 0 && findings->half.at;
}

/* Is there a part of a step, LARGEST_SHARE (0..1) of it, for the rest of which no change was found? All changes together then save less than
 * half of it, and it is not known what else would be the limit. */
static inline bool findings_leave_rest(const struct findings *findings, double largest_share)
{
    double saves_ns = (double)findings->step_ns - (double)findings->together_ns;
    return findings->bound.kind == BOUND_UNKNOWN && 2 * saves_ns < largest_share * (double)findings->step_ns;
}

/* What the rules find in the trace of SUMMARY, whose gpu, gaps, transfers and features are filled in. New; free with
 * arena_free (NULL is allowed). */
struct findings *findings_analyze(struct summary *summary);

/* Add the table "findings", the answer on top, what they save together and which rules found nothing to RESULT. */
void findings_add_result(const struct findings *findings, struct result *result);

#endif
