/* lightning.h - read the text that PyTorch Lightning's SimpleProfiler writes, "FIT Profiler Report". */
#ifndef TPA_INGEST_LIGHTNING_H
#define TPA_INGEST_LIGHTNING_H

#include "base/source.h"
#include "trace/actions.h"

/* The certainty that a file that starts with these bytes is such a report: 0 no, 100 certain. */
int lightning_sniff(const char *bytes, size_t len);

/* Read all of SOURCE, which may hold other text around the report. New; free with action_report_free. NULL and ERR on
 * failure. */
struct action_report *lightning_read(struct source *source, struct tpa_error *err);

#endif
