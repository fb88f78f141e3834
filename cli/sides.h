/*
 * sides.h - the two sides of a comparison: which files make them, and the measures of each.
 *
 *     struct sides_found found;
 *     if (!sides_find(call, &args->base, &args->other, &found, err))
 *         return EXIT_TROUBLE;
 *     for (int i = 0; i < 2 && good; i++)
 *         good = (sides[i] = sides_measure(call, &args->load, &found, i, &options, false, result, err)) != NULL;
 */
#ifndef TPA_CLI_SIDES_H
#define TPA_CLI_SIDES_H

#include "analyze/measure.h"
#include "base/options.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/load.h"

/* The files of both sides; borrowed from the command line. */
struct sides_found {
    const char *const *paths[2];
    size_t counts[2];
};

/* Two operands, or the files of --base and --new. False and ERR when it is neither. */
bool sides_find(const struct invocation *call, const struct opt_list *base, const struct opt_list *other,
                struct sides_found *found, struct tpa_error *err);

/*
 * Take the measures of the files of one SIDE, one after the other, so that it needs the memory of one. What was odd about
 * them goes to RESULT. STRIP_DIRS: Python profiles name files without their directories. New; free with measures_free.
 * NULL and ERR when a file can not be read.
 */
struct measures *sides_measure(const struct invocation *call, const struct load_args *load,
                               const struct sides_found *found, int side,
                               const struct measure_options *options, bool strip_dirs, struct result *result,
                               struct tpa_error *err);

#endif
