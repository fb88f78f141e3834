/*
 * privileged.c - a program that marks its steps, and is installed setuid by the test: does it run with more privileges than
 * who started it, and what do the functions of tpa_capture.h return there?
 *
 *     privileged libtpa_capture.so
 *     privileged 1, push -1
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*push)(const char *) = NULL;
    *(void **)&push = library ? dlsym(library, "tpa_capture_range_push") : NULL;
    if (!push) {
        printf("no library: %s\n", dlerror());
        return 1;
    }
    printf("privileged %d, push %d\n", getauxval(AT_SECURE) != 0, push("range"));
    return 0;
}
