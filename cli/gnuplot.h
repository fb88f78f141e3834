/*
 * gnuplot.h - run gnuplot: a script in, a picture out.
 *
 *     struct buffer image = { 0 };
 *     if (!gnuplot_draw(script.at, script.count, &image, err))
 *         ...                                    // not installed, failed, or timed out
 *
 * The program is $TPA_GNUPLOT, else `gnuplot` on PATH. It reads no settings of the user's, so a picture is the same
 * everywhere, and writes no file.
 */
#ifndef TPA_CLI_GNUPLOT_H
#define TPA_CLI_GNUPLOT_H

#include "base/buffer.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

/* Seconds after which gnuplot is stopped: a thinned picture takes it one. */
enum { GNUPLOT_TIMEOUT_S = 60 };

/* Append the image drawn by the LEN bytes of SCRIPT to IMAGE. Warnings of gnuplot are reported on stderr. False and ERR
 * on failure. */
bool gnuplot_draw(const char *script, size_t len, struct buffer *image, struct tpa_error *err);

#endif
