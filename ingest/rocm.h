/* rocm.h - names used by AMD's profilers, for the readers of their files (rocpd.c, rpd.c, rocprof_json.c). */
#ifndef TPA_INGEST_ROCM_H
#define TPA_INGEST_ROCM_H

#include "ingest/recorder.h"

/* The kind of a host record, by its domain ("HIP_RUNTIME_API_EXT", "hip_api"; NULL or "": not recorded) and its name: a
 * call of HIP, of HSA, or of another library, or an annotation of the user (roctx). */
enum recorder_kind rocm_host_kind(const char *domain, const char *name);

/* Returns the kind of records of DOMAIN, as above; RECORDER_KINDS if it depends on their names. */
enum recorder_kind rocm_domain_kind(const char *domain);

/* "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice" -> "Memcpy HtoD"; other names are unchanged. */
name_id rocm_copy_name(struct recorder *recorder, const char *name);

/* The number of blocks in one dimension: AMD records grids in work-items. RECORDER_NONE if unknown. */
int64_t rocm_blocks(int64_t work_items, int64_t block);

/* Does memory of this level (rocprofv3) occupy the device? A range of addresses does not. */
bool rocm_is_memory(const char *level);

#endif
