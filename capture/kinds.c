/* Linked into the library and into the program, so it uses nothing but libc. */
#include "capture/kinds.h"

#include <string.h>

const struct capture_kind_row capture_kinds[CAPTURE_KIND_COUNT] = {
#define CAPTURE_KIND_ROW(id, word, what) { word, what },
    CAPTURE_KINDS(CAPTURE_KIND_ROW)
#undef CAPTURE_KIND_ROW
};

static uint32_t find_kind(const char *word, size_t len)
{
    if (len == 3 && memcmp(word, "all", 3) == 0)
        return CAPTURE_ALL_KINDS;
    for (unsigned i = 0; i < CAPTURE_KIND_COUNT; i++)
        if (strlen(capture_kinds[i].word) == len && memcmp(capture_kinds[i].word, word, len) == 0)
            return UINT32_C(1) << i;
    return 0;
}

bool capture_kinds_parse(const char *text, uint32_t *kinds, const char **bad, size_t *bad_len)
{
    uint32_t with = 0, without = 0;
    for (const char *word = text;; word++) {
        size_t len = strcspn(word, ",");
        bool negated = len > 3 && memcmp(word, "no-", 3) == 0;
        uint32_t found = negated ? find_kind(word + 3, len - 3) : find_kind(word, len);
        if (found == 0) {
            *bad = word;
            *bad_len = len;
            return false;
        }
        if (negated)
            without |= found;
        else
            with |= found;
        word += len;
        if (*word == '\0')
            break;
    }
    *kinds = (with ? with : CAPTURE_ALL_KINDS) & ~without;
    return true;
}
