/*
 * completion.h - shell completion scripts, generated from the commands' rows.
 *
 * Each script is self-contained: it does not start tpa and needs no other completion package.
 */
#ifndef TPA_CLI_COMPLETION_H
#define TPA_CLI_COMPLETION_H

#include "base/buffer.h"

/* Append the whole completion script of the shell to OUT. */
void completion_bash(struct buffer *out);
void completion_zsh(struct buffer *out);
void completion_fish(struct buffer *out);

#endif
