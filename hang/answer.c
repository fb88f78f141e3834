/* answer.c - the first screen of a post-mortem: see hang.h. */
#include "hang/hang.h"

/* What to do about a cause: ACTION, behind which its ranks stand where it ends in a space, and a line to run or to change. */
static const struct {
    const char *action, *code;
} remedies[HANG_CLASSES] = {
    [HANG_MISMATCH_OP] = { "Issue the same operation on all ranks: look at ", NULL },
    [HANG_MISMATCH_ORDER] = { "Issue operations in the same order on all ranks: look at ", NULL },
    [HANG_MISMATCH_DTYPE] = { "Pass tensors of the same type on all ranks: look at ", NULL },
    [HANG_MISMATCH_SIZE] = { "Pass tensors of the same size on all ranks: look at ", NULL },
    [HANG_DEVICE_STOPPED] = { "Look for errors of the device of ", "dmesg | grep -i xid; nvidia-smi -q" },
    [HANG_FAILED_BEFORE] = { "Read the watchdog's lines in the log of ", NULL },
    [HANG_DEADLOCK_ORDER] = { "Use the groups in the same order on all ranks: look at ", NULL },
    [HANG_DEADLOCK] = { "Let the ranks not wait for each other in a circle", NULL },
    [HANG_NEVER_ENTERED] = { "See which line of Python is running on ", "py-spy dump --pid PID" },
    [HANG_NOT_STARTED] = { "See what else runs on the device of ", "nvidia-smi; dmesg | grep -i xid" },
    [HANG_NO_DUMP] = { "Find out what became of ", "dmesg | grep -i oom" },
    [HANG_RING_TOO_SHORT] = { "Record more operations", "TORCH_FR_BUFFER_SIZE=20000" },
    [HANG_IN_FLIGHT] = { "Look at the network", "NCCL_DEBUG=INFO" },
};

struct screen {
    struct answer *answer;
    struct arena *texts;
    struct buffer text;
};

/* The text so far, which begins anew. */
static const char *take(struct screen *screen)
{
    const char *kept =
        arena_strndup(screen->texts, screen->text.at ? screen->text.at : "", screen->text.count);
    buffer_clear(&screen->text);
    return kept;
}

static void add_fact(struct screen *screen, const char *label, const char *text)
{
    if (text && *text)
        *VEC_PUSH(&screen->answer->facts) = (struct answer_fact){ label, text };
}

/* What the job runs, as far as its first dump tells: the line that issued its newest operation, and where its collectives are. */
static void add_program(struct screen *screen, const struct hang_job *job)
{
    static const char *const backends[] = { [FLIGHT_DEVICE] = "on devices, NCCL or the like",
                                            [FLIGHT_GLOO] = "on hosts, gloo",
                                            [FLIGHT_HOOK] = "on which device is not recorded" };
    const struct flight *flight = job->flight;
    const struct flight_dump *dump = job->dumps.count ? &flight->dumps.at[job->dumps.at[0]] : NULL;
    const struct flight_entry *newest =
        dump && dump->count ? &flight->entries.at[dump->first + dump->count - 1] : NULL;
    const char *call = newest && newest->call != NAME_NONE ? names_text(flight->texts, newest->call) : NULL;
    const char *folder = call ? strrchr(call, '/') : NULL;
    add_fact(screen, call ? "Called from" : "Program", folder ? folder + 1 : call ? call : "not recorded");
    add_fact(screen, "Collectives", newest ? backends[flight->ops.at[newest->op].writer] : "none recorded");
    if (dump)
        add_fact(screen, "Written by", "PyTorch Flight Recorder");
}

static void add_facts(struct screen *screen, const struct hang *hang, const struct hang_job *job)
{
    if (hang->jobs.count > 1)
        add_fact(screen, "Jobs",
                 arena_printf(screen->texts, "%zu, and of these %s", hang->jobs.count, job->name));
    add_program(screen, job);
    add_fact(screen, "State", hang_state_word(job->state));
    hang_add_proofs(&screen->text, job->proof);
    for (size_t i = 0; i < screen->text.count; i++)
        screen->text.at[i] = screen->text.at[i] == '_' ? ' ' : screen->text.at[i];
    add_fact(screen, "Proof", take(screen));
    hang_add_count(&screen->text, job->dumps.count);
    buffer_puts(&screen->text, " of ");
    hang_add_count(&screen->text, job->world);
    add_fact(screen, "Ranks with a dump", take(screen));
    if (job->culprits.count)
        hang_add_rank_words(&screen->text, job->culprits, false);
    add_fact(screen, "Held up by", take(screen));
    if (job->suspects.count)
        hang_add_rank_words(&screen->text, job->suspects, false);
    add_fact(screen, "Suspects", take(screen));
}

static void answer_add_cause(struct screen *screen, struct hang_job *job, const struct hang_cause *cause)
{
    struct answer_finding finding = { .section = "causes", .command = "tpa hang" };
    struct hang_ranks ranks = cause->ranks.count ? cause->ranks : cause->between;
    const char *action = remedies[cause->class].action;
    size_t len = strlen(action);
    bool names_ranks = action[len - 1] == ' ';
    buffer_puts(&screen->text, action);
    if (names_ranks && ranks.count)
        hang_add_rank_words(&screen->text, ranks, false);
    finding.action = take(screen);
    hang_add_cause(&screen->text, job, cause, true, hang_is_in_doubt(job, cause));
    finding.title = take(screen);
    if (strncmp(screen->answer->verdict, finding.title, strlen(finding.title)) == 0)
        finding.title = NULL; /* the verdict has said so */
    finding.where = cause->ranks.count ? hang_last_call(job, cause->ranks.at[0]) : NULL;
    if (finding.where)
        finding.where = arena_printf(screen->texts, "last call: %s", finding.where);
    finding.code = remedies[cause->class].code;
    size_t waiting = cause->direct.count + cause->indirect.count;
    if (waiting) {
        buffer_puts(&screen->text, "frees ");
        hang_add_count(&screen->text, waiting);
        buffer_puts(&screen->text, " of ");
        hang_add_count(&screen->text, job->world);
        buffer_printf(&screen->text, " ranks, which %s for it", waiting == 1 ? "waits" : "wait");
        finding.saves = take(screen);
    }
    *VEC_PUSH(&screen->answer->findings) = finding;
}

void hang_add_answer(struct hang *hang, struct result *result)
{
    struct screen screen = { .answer = result_answer(result), .texts = &result->arena };
    struct hang_job *job = hang->jobs.count ? hang->jobs.at[0] : NULL;
    for (size_t j = 1; j < hang->jobs.count; j++)
        if (hang->jobs.at[j]->state > job->state)
            job = hang->jobs.at[j];
    if (!job)
        return;
    screen.answer->verdict = arena_strndup(screen.texts, job->verdict, strlen(job->verdict));
    screen.answer->findings_title = "What to do next";
    add_facts(&screen, hang, job);
    for (size_t c = 0; c < job->causes.count; c++)
        answer_add_cause(&screen, job, &job->causes.at[c]);
    if (job->state == HANG_WAITING)
        *VEC_PUSH(&screen.answer->findings) = (struct answer_finding){
            .title = "in one set of dumps a long wait looks the same as a hang",
            .action = "Take a second set of dumps a minute later",
            .advice =
                "with the same operations pending it is a hang; the watchdog's lines in the logs tell it, too",
            .section = "waits",
            .command = "tpa hang",
        };
    if (screen.answer->findings.count == 0)
        screen.answer->nothing =
            "Nothing needs to be done: no rank holds the job up. If it hangs later, write the dumps "
            "of all ranks again.";
    buffer_release(&screen.text);
}
