/*
 * probe.c - do what hardening must stop: tests/hardening/run looks at how each of these ends.
 *
 *     hardening_probe heap | stack | constants | code
 *
 * Built with the options of every program here. One that gets to its end prints that nothing stopped it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* One byte too many into memory whose size is known at run time only, which _FORTIFY_SOURCE=2 does not see. */
static void overrun_heap(size_t size)
{
    char *memory = malloc(size);
    if (!memory)
        return;
    memset(memory, 'x', size + 1);
    printf("%c\n", memory[size - 1]);
    free(memory);
}

/* Past the end of an array on the stack, byte by byte, so that no checked function is called. */
__attribute__((noinline)) static void smash_stack(size_t size)
{
    char array[16];
    volatile char *at = array;
    for (size_t i = 0; i < size; i++)
        at[i] = 'x';
}

/* A table of pointers: the loader fills it in, then it must be read-only. */
static const char *const table[] = { "one", "two" };

static void write_constants(void)
{
    const char *volatile *entry = (const char *volatile *)(uintptr_t)&table[0];
    *entry = "three";
}

/* Call what lies on the stack. On x86 it is a function that returns at once. */
static void run_data(void)
{
    volatile unsigned char bytes[16] = { 0xc3 };
    void (*function)(void);
    volatile unsigned char *at = bytes;
    memcpy(&function, &at, sizeof function);
    function();
}

int main(int argc, char **argv)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    const char *what = argc > 1 ? argv[1] : "";
    size_t size = 32 * (size_t)argc; /* not known to the compiler */
    if (!strcmp(what, "heap"))
        overrun_heap(size);
    else if (!strcmp(what, "stack"))
        smash_stack(size);
    else if (!strcmp(what, "constants"))
        write_constants();
    else if (!strcmp(what, "code"))
        run_data();
    else
        return 2;
    puts("nothing stopped it");
    return 0;
}
