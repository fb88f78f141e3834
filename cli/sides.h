/*
 * sides.h - the two sides of a comparison: their files and measures.
 *
 *     struct sides_found found;
 *     struct measures *sides[2];
 *     if (!sides_find(call, &args->base, &args->other, &found, err) ||
 *         !sides_measure(call, &args->load, &found, &options, sides, result, err))
 *         return EXIT_TROUBLE;
 *     ...
 *     measures_free(sides[0]), measures_free(sides[1]);
 */
#ifndef TPA_CLI_SIDES_H
#define TPA_CLI_SIDES_H

#include "diff/measure.h"
#include "treediff/work_tree.h"
#include "base/options.h"
#include "base/timeline.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/load.h"

/* The files of both sides; borrowed from the command line. */
struct sides_found {
    const char *const *paths[2];
    size_t counts[2];
};

/* Two operands, or the files of --base and --new. False and ERR if neither is given. */
bool sides_find(const struct invocation *call, const struct opt_list *base, const struct opt_list *other,
                struct sides_found *found, struct tpa_error *err);

struct sides_options {
    struct measure_options measure;
    bool strip_dirs;                /* Python profiles name files without their directories */
    struct work_tree *const *trees; /* one per side, to which its traces are added; NULL: none */
    struct timeline *
        *timelines; /* one per side, set to that of its first file, or left NULL; NULL: none is wanted */
};

/*
 * Measure both sides, file by file, so that only one is in memory. Notices about them go to RESULT. A trace compared
 * with a saved result is analyzed with the same command and options. New, and finished: free both with measures_free.
 * False and ERR, with both NULL, if a file cannot be read or the sides cannot be compared.
 */
bool sides_measure(const struct invocation *call, const struct load_args *load,
                   const struct sides_found *found, const struct sides_options *options,
                   struct measures *sides[2], struct result *result, struct tpa_error *err);

#endif
