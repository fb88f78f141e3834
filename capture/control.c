#include "capture/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool wants_steps(const struct control *control)
{
    return control->settings->first_step <= control->settings->last_step;
}

static bool step_is_wanted(const struct control *control, int64_t step)
{
    return step >= control->settings->first_step && step <= control->settings->last_step;
}

static bool should_record(const struct control *control)
{
    if (!control->armed || control->over || control->paused ||
        (control->settings->window_ns && !control->pace.open))
        return false;
    if (control->settings->range[0] != '\0')
        return control->selected_inside > 0;
    return control->step_wanted;
}

static bool counts_ranges(const struct control *control)
{
    return control->settings->range[0] != '\0';
}

/* A step, or an occurrence of the range, begins: is it selected by --steps and --sample? */
static bool choose_step(struct control *control, int64_t number, int64_t now_ns)
{
    bool wanted = !wants_steps(control) || step_is_wanted(control, number);
    return (wanted || control->settings->sample) && pace_step(&control->pace, number, now_ns) && wanted;
}

static void open_window(struct control *control, int64_t now_ns, const char *why)
{
    if (control->window_end - control->window_first == CONTROL_MOST_WINDOWS) {
        control->window_lost_ns = control->windows[control->window_first++ % CONTROL_MOST_WINDOWS].end_ns;
    }
    control->windows[control->window_end++ % CONTROL_MOST_WINDOWS] =
        (struct control_window){ now_ns, 0, why };
}

/* Until NOW everything was recorded; while recording switches off, only part of it. */
static void close_window(struct control *control, int64_t now_ns)
{
    struct control_window *last = &control->windows[(control->window_end - 1) % CONTROL_MOST_WINDOWS];
    if (control->window_end > control->window_first && last->end_ns == 0)
        last->end_ns = now_ns;
}

/* Under the lock: switch recording on or off as required. WHY is the reported reason when it switches on. */
static void update(struct control *control, const char *why)
{
    bool on = should_record(control);
    if (on == atomic_load(&control->recording))
        return;
    int64_t now = clock_now_ns();
    if (on) {
        if (control->first_on_ns == 0)
            control->first_on_ns = now;
        open_window(control, now, why);
        control->turn(true);
        atomic_store(&control->recording, true);
    } else {
        close_window(control, now);
        atomic_store(&control->recording, false);
        control->turn(false);
    }
    control->pace.switched_ns += clock_now_ns() - now;
}

void control_init(struct control *control, const struct capture_settings *settings, void (*turn)(bool on))
{
    memset(control, 0, sizeof *control);
    control->settings = settings;
    control->turn = turn;
    pthread_mutex_init(&control->lock, NULL);
    control->paused = settings->paused;
    control->begun_ns = clock_now_ns();
    control->step = -1;
    pace_init(&control->pace, settings);
    control->armed = settings->start_after_ns == 0;
    control->step_wanted = settings->sample == 0 && !wants_steps(control);
    pthread_mutex_lock(&control->lock);
    if (control->armed)
        pace_tick(&control->pace, control->begun_ns, 0);
    update(control, "start");
    pthread_mutex_unlock(&control->lock);
}

void control_join(struct control *control, atomic_bool *running)
{
    pthread_mutex_lock(&control->lock);
    atomic_store(running, true);
    if (atomic_load(&control->recording))
        control->turn(true);
    pthread_mutex_unlock(&control->lock);
}

/* Request writing of the ring a little later, unless it is requested already. */
static void want_write(struct control *control, int64_t now_ns, const char *why)
{
    if (control->settings->ring_bytes == 0 || control->write.due_ns != 0)
        return;
    control->write.due_ns = now_ns + CONTROL_WRITE_AFTER_NS;
    snprintf(control->write.why, sizeof control->write.why, "%s", why);
}

static void collect_signals(struct control *control, int64_t now_ns)
{
    unsigned toggles = atomic_exchange(&control->toggles, 0);
    if (toggles > 0 && control->settings->ring_bytes > 0) {
        want_write(control, now_ns, "signal");
    } else if (toggles % 2 == 1) {
        control->paused = !control->paused;
        update(control, "signal");
    }
}

bool control_tick(struct control *control, int64_t now_ns, int64_t own_ns)
{
    pthread_mutex_lock(&control->lock);
    if (!control->armed && now_ns - control->begun_ns >= control->settings->start_after_ns) {
        control->armed = true;
        pace_tick(&control->pace, now_ns, own_ns);
        update(control, "start-after");
    }
    collect_signals(control, now_ns);
    if (control->armed && !control->over) {
        pace_tick(&control->pace, now_ns, own_ns);
        update(control, "window");
    }
    if (!control->over && control->settings->duration_ns > 0 && control->first_on_ns > 0 &&
        now_ns - control->first_on_ns >= control->settings->duration_ns) {
        control->over = true;
        update(control, "");
    }
    bool over = control->over && !control->ended;
    pthread_mutex_unlock(&control->lock);
    return over;
}

int64_t control_next_ns(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    int64_t next = pace_next_change(&control->pace);
    if (control->write.due_ns != 0 && control->write.due_ns < next)
        next = control->write.due_ns;
    pthread_mutex_unlock(&control->lock);
    return next;
}

bool control_collect_write(struct control *control, int64_t now_ns, char *why, size_t why_size)
{
    pthread_mutex_lock(&control->lock);
    bool due = control->write.due_ns != 0 && now_ns >= control->write.due_ns;
    if (due) {
        snprintf(why, why_size, "%s", control->write.why);
        control->write.due_ns = 0;
    }
    pthread_mutex_unlock(&control->lock);
    return due;
}

void control_pause(struct control *control, bool pause)
{
    pthread_mutex_lock(&control->lock);
    control->paused = pause;
    update(control, "call");
    pthread_mutex_unlock(&control->lock);
}

bool control_is_range(const struct control *control, const char *name, size_t len, const char *domain)
{
    const struct capture_settings *settings = control->settings;
    size_t wanted = strlen(settings->range);
    if (wanted == 0 || len < wanted || (len > wanted && !settings->range_is_prefix) ||
        memcmp(name, settings->range, wanted) != 0)
        return false;
    return settings->range_domain[0] == '\0' || strcmp(settings->range_domain, domain) == 0;
}

/* Step NUMBER took DURATION. */
static void judge_step(struct control *control, int64_t number, int64_t duration_ns, int64_t now_ns)
{
    char why[sizeof control->write.why];
    int64_t usual_ns;
    if (control->settings->slow == 0 || !pace_is_slow(&control->pace, duration_ns, &usual_ns))
        return;
    snprintf(why, sizeof why, "step %" PRId64 " took %.3f ms, %.2f times the usual %.3f ms", number,
             (double)duration_ns / 1e6, (double)duration_ns / (double)usual_ns, (double)usual_ns / 1e6);
    want_write(control, now_ns, why);
}

bool control_range_entered(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    int64_t now = clock_now_ns(), number = control->ranges_entered++;
    bool counts = choose_step(control, number, now);
    if (counts && control->selected_inside++ == 0)
        control->inside_since_ns = now;
    update(control, "range");
    pace_step_begun(&control->pace, clock_now_ns());
    pthread_mutex_unlock(&control->lock);
    return counts;
}

void control_range_left(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    if (control->selected_inside > 0 && --control->selected_inside == 0) {
        int64_t now = clock_now_ns();
        judge_step(control, control->ranges_entered - 1, now - control->inside_since_ns, now);
    }
    update(control, "");
    /* All that was requested has been recorded. */
    if (control->selected_inside == 0 && wants_steps(control) &&
        control->ranges_entered > control->settings->last_step)
        control->over = true;
    pthread_mutex_unlock(&control->lock);
}

int64_t control_step(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    int64_t now = clock_now_ns(), step = ++control->step;
    if (!counts_ranges(control)) {
        if (step > 0)
            judge_step(control, step - 1, now - control->step_ns, now);
        control->step_wanted = choose_step(control, step, now);
        update(control, "steps");
        pace_step_begun(&control->pace, clock_now_ns());
        control->over |= wants_steps(control) && step > control->settings->last_step;
    }
    control->step_ns = clock_now_ns();
    pthread_mutex_unlock(&control->lock);
    return step;
}

void control_describe_begin(const struct control *control)
{
    const struct capture_settings *settings = control->settings;
    const char *fewer = settings->budget > 0 ? " or fewer, to keep to the budget" : "";
    if (settings->sample)
        notes_log("sampled", "one step in %" PRId64 "%s is recorded", settings->sample, fewer);
    if (settings->window_ns)
        notes_log("sampled", "%.3f s in every %.3f s%s are recorded", (double)settings->window_ns / 1e9,
                  (double)settings->period_ns / 1e9, fewer);
}

void control_describe_end(struct control *control)
{
    const struct capture_settings *settings = control->settings;
    char text[400];
    pthread_mutex_lock(&control->lock);
    bool steps = settings->sample || settings->slow > 0 || wants_steps(control);
    bool none = counts_ranges(control) ? control->ranges_entered == 0 : steps && control->step < 0;
    pace_describe(&control->pace, text, sizeof text);
    pthread_mutex_unlock(&control->lock);
    if (none && counts_ranges(control))
        notes_add("no_steps", "no NVTX range called %.200s was seen: nothing was recorded", settings->range);
    else if (none)
        notes_add("no_steps",
                  "no step was seen: call tpa_capture_step, or give the NVTX range of a step by --range");
    else if (text[0])
        notes_add("left_out", "%s", text);
}

void control_end(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    control->over = control->ended = true;
    update(control, "");
    pthread_mutex_unlock(&control->lock);
}

size_t control_collect_windows(struct control *control, struct control_window *windows, size_t count)
{
    size_t taken = 0;
    pthread_mutex_lock(&control->lock);
    size_t at = control->window_first;
    for (; at < control->window_end && taken < count; at++)
        windows[taken++] = control->windows[at % CONTROL_MOST_WINDOWS];
    bool keeps_last = taken > 0 && windows[taken - 1].end_ns == 0;
    control->window_first = at - keeps_last;
    pthread_mutex_unlock(&control->lock);
    return taken;
}

bool control_lost_windows(struct control *control, int64_t since_ns)
{
    pthread_mutex_lock(&control->lock);
    bool lost = control->window_lost_ns > since_ns;
    if (lost)
        control->window_lost_ns = 0;
    pthread_mutex_unlock(&control->lock);
    return lost;
}
