/* control.c - see control.h. */
#include "capture/control.h"

#include <string.h>
#include <time.h>

int64_t control_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

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
    if (!control->armed || control->over || control->paused)
        return false;
    if (control->settings->range[0] != '\0')
        return control->selected_inside > 0;
    return !wants_steps(control) || step_is_wanted(control, control->step);
}

/* Under the lock: make it so. WHY is told when it goes on. */
static void update(struct control *control, const char *why)
{
    bool on = should_record(control);
    if (on == atomic_load(&control->recording))
        return;
    int64_t now = control_now_ns();
    if (on) {
        if (control->first_on_ns == 0)
            control->first_on_ns = now;
        if (control->window_count < CONTROL_MOST_WINDOWS)
            control->windows[control->window_count++] = (struct control_window){ now, 0, why };
        control->turn(true);
        atomic_store(&control->recording, true);
    } else {
        struct control_window *last =
            control->window_count ? &control->windows[control->window_count - 1] : NULL;
        if (last && last->end_ns == 0)
            last->end_ns = now; /* until here all is recorded: while it goes off, only some */
        atomic_store(&control->recording, false);
        control->turn(false);
    }
}

void control_init(struct control *control, const struct capture_settings *settings, void (*turn)(bool on))
{
    *control = (struct control){
        .settings = settings,
        .turn = turn,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .paused = settings->paused,
        .begun_ns = control_now_ns(),
        .step = -1,
    };
    control->armed = settings->start_after_ns == 0;
    pthread_mutex_lock(&control->lock);
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

bool control_tick(struct control *control, int64_t now_ns)
{
    unsigned toggles = atomic_exchange(&control->toggles, 0);
    pthread_mutex_lock(&control->lock);
    if (!control->armed && now_ns - control->begun_ns >= control->settings->start_after_ns) {
        control->armed = true;
        update(control, "start-after");
    }
    if (toggles % 2 == 1) {
        control->paused = !control->paused;
        update(control, "signal");
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

bool control_range_entered(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    int64_t number = control->ranges_entered++;
    bool counts = !wants_steps(control) || step_is_wanted(control, number);
    control->selected_inside += counts;
    update(control, "range");
    pthread_mutex_unlock(&control->lock);
    return counts;
}

void control_range_left(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    if (control->selected_inside > 0)
        control->selected_inside--;
    update(control, "");
    /* All that was asked for is recorded. */
    if (control->selected_inside == 0 && wants_steps(control) &&
        control->ranges_entered > control->settings->last_step)
        control->over = true;
    pthread_mutex_unlock(&control->lock);
}

int64_t control_step(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    int64_t step = ++control->step;
    update(control, "steps");
    if (control->settings->range[0] == '\0' && wants_steps(control) && step > control->settings->last_step)
        control->over = true;
    pthread_mutex_unlock(&control->lock);
    return step;
}

void control_end(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    control->over = control->ended = true;
    update(control, "");
    pthread_mutex_unlock(&control->lock);
}

size_t control_take_windows(struct control *control, struct control_window *windows, size_t count)
{
    pthread_mutex_lock(&control->lock);
    size_t taken = control->window_count < count ? control->window_count : count;
    memcpy(windows, control->windows, taken * sizeof *windows);
    bool keeps_last = taken > 0 && windows[taken - 1].end_ns == 0;
    size_t gone = taken - keeps_last;
    control->window_count -= gone;
    memmove(control->windows, control->windows + gone, control->window_count * sizeof *windows);
    pthread_mutex_unlock(&control->lock);
    return taken;
}
