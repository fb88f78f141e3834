/* tpafile_records.c - the rows of tpafile_records.h as tables. */
#include "trace/tpafile_records.h"

#define FIELD_ROW(kind, id, type, meaning) { #id, TPAFILE_##type },
#define FIELDS_OF(kind, number, word)                                                                        \
    static const struct tpafile_field_info fields_of_##kind[] = { TPAFILE_##kind##_FIELDS(FIELD_ROW) };      \
    _Static_assert(TPAFILE_##kind##_FIELDS_END <= TPAFILE_MOST_FIELDS,                                       \
                   "more fields than TPAFILE_MOST_FIELDS");
TPAFILE_ROW_KINDS(FIELDS_OF)

#define KIND_ROW(kind, number, word)                                                                         \
    [number] = { #kind, word, TPAFILE_##kind##_FIELDS_END, fields_of_##kind },
const struct tpafile_kind_info tpafile_kinds[TPAFILE_KIND_COUNT] = { TPAFILE_ROW_KINDS(KIND_ROW) };

const struct tpafile_bounds tpafile_bounds[] = {
    [TPAFILE_INT] = { INT64_MIN, INT64_MAX },
    [TPAFILE_BITS] = { INT64_MIN, INT64_MAX },
    [TPAFILE_TIME] = { -TPAFILE_LARGEST, TPAFILE_LARGEST },
    [TPAFILE_MOMENT] = { -TPAFILE_LARGEST, TPAFILE_LARGEST },
    [TPAFILE_WALL] = { -TPAFILE_LATEST_WALL, TPAFILE_LATEST_WALL },
    [TPAFILE_NS] = { 0, TPAFILE_LARGEST },
    [TPAFILE_SIZE] = { 0, TPAFILE_LARGEST },
    [TPAFILE_TEXT] = { 0, TPAFILE_LARGEST },
    [TPAFILE_PLACE] = { 0, UINT32_MAX - 1 },
};
