#include "capture/pace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Regardless of the cost, recording is tried again after this many steps, or after an hour. */
enum { RAREST_STEP = 1 << 20 };
#define RAREST_WINDOW_NS INT64_C(3600000000000)

void pace_init(struct pace *pace, const struct capture_settings *settings)
{
    *pace = (struct pace){ .settings = settings };
    pace->every = settings->sample ? settings->sample : settings->period_ns;
    if (settings->sample == 1 && settings->budget > 0)
        pace->every = 2;
    pace->next = settings->sample && settings->first_step <= settings->last_step ? settings->first_step : 0;
    pace->open = settings->window_ns == 0 && settings->sample == 0;
}

/* ---- medians ---- */

static void add_time(struct pace_times *times, int64_t duration_ns)
{
    times->at[times->count++ % PACE_TIMES] = duration_ns;
}

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The lower median. */
static int64_t median(const struct pace_times *times)
{
    int64_t sorted[PACE_TIMES];
    size_t count = times->count < PACE_TIMES ? (size_t)times->count : PACE_TIMES;
    if (count == 0)
        return 0;
    memcpy(sorted, times->at, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    return sorted[(count - 1) / 2];
}

/* ---- the budget ---- */

/* The smallest whole number that is at least COST / (SHARE * BASE), clamped to the two limits. */
static int64_t interval_for(double cost, double base, double share, int64_t least, int64_t most)
{
    double exact = cost / (share * base);
    if (!(exact < (double)most))
        return most;
    int64_t whole = (int64_t)exact;
    whole += (double)whole < exact;
    return whole < least ? least : whole;
}

static void weigh_steps(struct pace *pace)
{
    if (pace->on.count < PACE_LEAST || pace->off.count < PACE_LEAST)
        return;
    pace->base_ns = median(&pace->off);
    int64_t more = median(&pace->on) - pace->base_ns;
    pace->cost_ns = (more > 0 ? more : 0) + pace->switched_ns / pace->recorded;
    int64_t least = pace->settings->sample < 2 ? 2 : pace->settings->sample;
    pace->every = interval_for((double)pace->cost_ns, pace->base_ns > 0 ? (double)pace->base_ns : 1,
                               pace->settings->budget, least, RAREST_STEP);
}

bool pace_step(struct pace *pace, int64_t number, int64_t now_ns)
{
    const struct capture_settings *settings = pace->settings;
    if (settings->sample == 0)
        return true;
    if (pace->begun_ns > 0) {
        int64_t took = now_ns - pace->begun_ns - (pace->switched_ns - pace->switched_before);
        add_time(pace->open ? &pace->on : &pace->off, took > 0 ? took : 0);
    }
    if (settings->budget > 0)
        weigh_steps(pace);
    pace->seen++;
    pace->open = number >= pace->next;
    if (pace->open) {
        pace->recorded++;
        pace->next = number + pace->every;
    }
    return pace->open;
}

void pace_step_begun(struct pace *pace, int64_t now_ns)
{
    pace->begun_ns = now_ns;
    pace->switched_before = pace->switched_ns;
}

/* ---- windows ---- */

static void weigh_window(struct pace *pace, int64_t now_ns, int64_t own_ns)
{
    const struct capture_settings *settings = pace->settings;
    pace->cost_ns = own_ns + pace->switched_ns - pace->own_before;
    pace->base_ns = now_ns - pace->window_start_ns;
    pace->every =
        interval_for((double)pace->cost_ns, 1, settings->budget, settings->period_ns,
                     settings->period_ns > RAREST_WINDOW_NS ? settings->period_ns : RAREST_WINDOW_NS);
    pace->next = pace->window_start_ns + pace->every;
}

void pace_tick(struct pace *pace, int64_t now_ns, int64_t own_ns)
{
    if (pace->settings->window_ns == 0)
        return;
    if (pace->open && now_ns - pace->window_start_ns >= pace->settings->window_ns)
        pace->open = false;
    if (pace->open || now_ns < pace->next)
        return;
    /* The planned time has come; but the full cost of the last window, which is known only now, may postpone it. */
    if (pace->recorded > 0 && pace->settings->budget > 0)
        weigh_window(pace, now_ns, own_ns);
    if (now_ns < pace->next)
        return;
    pace->open = true;
    pace->recorded++;
    pace->window_start_ns = now_ns;
    pace->own_before = own_ns + pace->switched_ns;
    pace->next = now_ns + pace->every;
}

int64_t pace_next_change(const struct pace *pace)
{
    if (pace->settings->window_ns == 0)
        return INT64_MAX;
    return pace->open ? pace->window_start_ns + pace->settings->window_ns : pace->next;
}

bool pace_is_slow(struct pace *pace, int64_t duration_ns, int64_t *usual_ns)
{
    *usual_ns = median(&pace->usual);
    bool slow = pace->settings->slow > 0 && pace->usual.count >= PACE_SLOW_AFTER &&
                (double)duration_ns > pace->settings->slow * (double)*usual_ns;
    add_time(&pace->usual, duration_ns);
    pace->slow += slow;
    return slow;
}

/* ---- the report ---- */

static void describe_steps(const struct pace *pace, char *text, size_t size)
{
    const struct capture_settings *settings = pace->settings;
    char cost[200] = "";
    if (settings->budget > 0 && pace->base_ns > 0)
        snprintf(cost, sizeof cost,
                 "; a recorded step took %.3f ms more than the %.3f ms of the others, so one in %" PRId64
                 " keeps to the budget of %g %%",
                 (double)pace->cost_ns / 1e6, (double)pace->base_ns / 1e6, pace->every,
                 settings->budget * 100);
    else if (settings->budget > 0)
        snprintf(cost, sizeof cost, "; too few to measure what a recorded step costs");
    snprintf(text, size, "%" PRId64 " of %" PRId64 " steps were recorded, and %" PRId64 " left out%s",
             pace->recorded, pace->seen, pace->seen - pace->recorded, cost);
}

static void describe_windows(const struct pace *pace, char *text, size_t size)
{
    const struct capture_settings *settings = pace->settings;
    char cost[200] = "";
    if (settings->budget > 0 && pace->base_ns > 0)
        snprintf(cost, sizeof cost,
                 "; the last cost %.3f ms of our time, so one each %.3f s keeps to the budget of %g %%",
                 (double)pace->cost_ns / 1e6, (double)pace->every / 1e9, settings->budget * 100);
    bool one = pace->recorded == 1;
    snprintf(text, size, "%" PRId64 " window%s of %.3f s %s recorded, and the time %s left out%s",
             pace->recorded, one ? "" : "s", (double)settings->window_ns / 1e9, one ? "was" : "were",
             one ? "outside it" : "between them", cost);
}

void pace_describe(const struct pace *pace, char *text, size_t size)
{
    text[0] = '\0';
    if (pace->settings->sample && pace->seen > 0)
        describe_steps(pace, text, size);
    else if (pace->settings->window_ns && pace->recorded > 0)
        describe_windows(pace, text, size);
}
