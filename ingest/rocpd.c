#include "ingest/rocpd.h"
bool rocpd_is_one(const struct database *db) { (void)db; return false; }
bool rocpd_read(struct database *db, struct source *source, struct trace_builder *builder,
                const struct ingest_options *options, struct tpa_error *err) {(void)db;(void)source;(void)builder;(void)options; return tpa_fail(err,TPA_NOWHERE,"x");}
