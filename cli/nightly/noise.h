/* noise.h - the noise between nights of a store, for `tpa diff --store`. */
#ifndef TPA_CLI_NIGHTLY_NOISE_H
#define TPA_CLI_NIGHTLY_NOISE_H

#include "diff/verdict.h"

/* Set *NOISE to the noise of the step time between the nights of LABEL (NULL: the only one) in the store PATH. False and
 * ERR if there are too few nights to know it. */
bool nightly_noise(const char *path, const char *label, struct noise *noise, struct tpa_error *err);

#endif
