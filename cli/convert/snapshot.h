/* snapshot.h - memory snapshots in the forms that `tpa convert` writes. */
#ifndef TPA_CLI_CONVERT_SNAPSHOT_H
#define TPA_CLI_CONVERT_SNAPSHOT_H

#include "cli/convert/convert.h"

/* Stacks with the bytes that they had in use at the peak of each device. */
bool convert_snapshot_folded(const struct snapshots *snapshots, const struct convert_args *args, FILE *out,
                             struct buffer *summary, struct tpa_error *err);

/* The entries as rows. */
bool convert_snapshot_csv(const struct snapshots *snapshots, const struct convert_args *args, FILE *out,
                          struct buffer *summary, struct tpa_error *err);

#endif
