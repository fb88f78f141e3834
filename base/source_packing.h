/* source_packing.h - how an input is packed. */
#ifndef TPA_BASE_SOURCE_PACKING_H
#define TPA_BASE_SOURCE_PACKING_H

enum source_packing { SOURCE_PLAIN, SOURCE_GZIP, SOURCE_ZSTD };

#endif
