/*
 * gnuplot.h - run gnuplot: a script in, a picture out.
 *
 *     struct buffer image = { 0 };
 *     if (!gnuplot_draw(script.at, script.count, &image, err))
 *         ...                                    // it is not installed, it failed, or it took too long
 *
 * The program is what $TPA_GNUPLOT names, else `gnuplot` on PATH. It reads no settings of the user's, so a picture is
 * the same everywhere, and writes no file.
 */
#ifndef TPA_CLI_GNUPLOT_H
#define TPA_CLI_GNUPLOT_H

#include "base/buffer.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

/* Seconds after which gnuplot is stopped: a thinned picture takes it one. */
enum { GNUPLOT_TIMEOUT_S = 60 };

/* Append what LEN bytes of SCRIPT draw to IMAGE. What gnuplot warns of is reported on stderr. */
bool gnuplot_draw(const char *script, size_t len, struct buffer *image, struct tpa_error *err);

#endif
