/*
 * call_names.c - which calls would be recorded with a CUPTI, which need not have a GPU: a line each, "+" or "-" and the
 * name.
 *
 *     call_names libcupti.so.13
 */
#include "capture/parts.h"

#include <stdio.h>

static struct capture_calls *calls; /* of the process, and never freed: as in the library */

int main(int argc, char **argv)
{
    struct cupti cupti;
    char why[1024];
    if (argc != 2 || !cupti_open(&cupti, argv[1], why, sizeof why)) {
        fprintf(stderr, "call_names: %s\n", argc == 2 ? why : "give the path of a CUPTI");
        return 2;
    }
    calls = capture_calls_open(&cupti, false);
    for (int api = 0; calls && api < CAPTURE_API_COUNT; api++)
        for (int cbid = 0; cbid < CAPTURE_MOST_CALLS; cbid++)
            if (calls->names[api][cbid])
                printf("%c %s\n", calls->wanted[api][cbid] ? '+' : '-', calls->names[api][cbid]);
    return 0;
}
