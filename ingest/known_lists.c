/* A list is in one of a few slots from that of its hash on, or replaces another: so
 * a malicious file that fills the slots gains nothing. */
#include "ingest/known_lists.h"

enum { SLOTS = 16384, LOOKED_AT = 8, BYTES_MOST = 8 << 20 };

static inline uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Two chains of multiplications, for instruction-level parallelism. */
uint64_t known_lists_hash(const uint8_t *bytes, size_t len)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t a = len, b = ~(uint64_t)len, last;
    for (; len >= 16; len -= 16, bytes += 16) {
        a = (a ^ word_at(bytes)) * odd;
        b = (b ^ word_at(bytes + 8)) * odd;
        a ^= a >> 32;
        b ^= b >> 32;
    }
    if (len >= 8) {
        a = (a ^ word_at(bytes)) * odd;
        a ^= a >> 32;
        len -= 8;
        bytes += 8;
    }
    last = 0;
    memcpy(&last, bytes, len);
    b = (b ^ last) * odd;
    a = (a ^ b ^ b >> 32) * odd;
    return a ^ a >> 32;
}

/* The slot of these bytes, or a slot for them. */
static struct known_list *known_lists_slot_of(const struct known_lists *lists, const uint8_t *bytes,
                                              size_t len, uint64_t hash)
{
    struct known_list *slot = NULL;
    for (size_t i = 0; i < LOOKED_AT; i++) {
        slot = &lists->slots[(hash + i) & (SLOTS - 1)];
        if (slot->length == 0 || (slot->hash == hash && slot->length == len &&
                                  memcmp(lists->bytes.at + slot->first, bytes, len) == 0))
            break;
    }
    return slot;
}

static void follow(struct known_lists *lists, const struct known_list *slot)
{
    uint32_t number = (uint32_t)(slot - lists->slots);
    lists->slots[lists->last].next = number;
    lists->last = number;
}

bool known_lists_guess(struct known_lists *lists, const uint8_t *bytes, const uint8_t *end, size_t *len,
                       uint64_t *value)
{
    if (!lists->slots)
        return false;
    uint32_t number = lists->slots[lists->last].next;
    const struct known_list *slot = &lists->slots[number];
    if (slot->length == 0 || bytes >= end || (size_t)(end - bytes) < slot->length ||
        memcmp(lists->bytes.at + slot->first, bytes, slot->length) != 0)
        return false;
    lists->last = number;
    *len = slot->length;
    *value = slot->value;
    return true;
}

bool known_lists_find(struct known_lists *lists, const uint8_t *bytes, size_t len, uint64_t hash,
                      uint64_t *value)
{
    if (!lists->slots)
        return false;
    const struct known_list *slot = known_lists_slot_of(lists, bytes, len, hash);
    if (slot->hash != hash || slot->length != len || memcmp(lists->bytes.at + slot->first, bytes, len) != 0)
        return false;
    follow(lists, slot);
    *value = slot->value;
    return true;
}

void known_lists_add(struct known_lists *lists, const uint8_t *bytes, size_t len, uint64_t hash,
                     uint64_t value)
{
    if (len > BYTES_MOST)
        return;
    if (!lists->slots)
        lists->slots = mem_zalloc(SLOTS, sizeof *lists->slots);
    if (lists->bytes.count + len > BYTES_MOST)
        known_lists_clear(lists);
    size_t first = lists->bytes.count;
    VEC_RESERVE(&lists->bytes, len);
    memcpy(lists->bytes.at + first, bytes, len);
    lists->bytes.count += len;
    struct known_list *slot = known_lists_slot_of(lists, bytes, len, hash);
    *slot = (struct known_list){
        .hash = hash, .first = (uint32_t)first, .length = (uint32_t)len, .value = value
    };
    follow(lists, slot);
}

void known_lists_clear(struct known_lists *lists)
{
    if (lists->bytes.count)
        memset(lists->slots, 0, SLOTS * sizeof *lists->slots);
    lists->bytes.count = 0;
}

void known_lists_release(struct known_lists *lists)
{
    free(lists->slots);
    VEC_FREE(&lists->bytes);
}
