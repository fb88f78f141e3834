/*
 * Steps and ranges from C. Runs with and without `tpa capture`: what it calls is looked up at run time.
 *
 *     cc samples/capture/steps.c -o steps -ldl
 *     tpa capture -o steps.tpa -- ./steps
 */
#include <capture/tpa_capture.h> /* installed: <tpa_capture.h> */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int (*next_step)(void);
static int (*push)(const char *name);
static int (*pop)(void);

static void find_functions(void)
{
    const char *path = getenv("TPA_CAPTURE_LIBRARY"); /* set by `tpa capture` */
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    if (!library)
        return;
    next_step = (int (*)(void))dlsym(library, "tpa_capture_step");
    push = (int (*)(const char *))dlsym(library, "tpa_capture_range_push");
    pop = (int (*)(void))dlsym(library, "tpa_capture_range_pop");
}

static void work(const char *name, long ms)
{
    if (push)
        push(name);
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL); /* launch kernels here */
    if (pop)
        pop();
}

int main(void)
{
    find_functions();
    for (int i = 0; i < 5; i++) {
        if (next_step)
            next_step();
        work("load", 2);
        work("train", 5);
    }
    return 0;
}
