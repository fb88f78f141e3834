#include "base/rows.h"
#include "history/store.h"

#include <math.h>

enum { FORM_WHOLE = 1, FORM_DOUBLES = 2, FORM_RUNS = 3 };

/* llround(), which takes a third of the time of a run of many steps and rows, as it is not inlined. */
static int64_t rounded(double value)
{
    int64_t whole = (int64_t)value;
    double rest = value - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

static void append_number(struct buffer *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buffer_putc(out, (char)(value | 0x80));
    buffer_putc(out, (char)value);
}

/* Whole numbers beyond 2^53 are not stored as integers; they would not round-trip. */
static bool is_whole(double value)
{
    return fabs(value) < 0x1p53;
}

static void samples_append_change(struct buffer *out, int64_t change)
{
    append_number(out, ((uint64_t)change << 1) ^ (uint64_t)(change >> 63));
}

/* Whole numbers as runs of equal ones. */
static void pack_runs(struct buffer *out, const double *values, size_t count)
{
    int64_t before = 0;
    buffer_putc(out, FORM_RUNS);
    append_number(out, count);
    FOR_RUNS(i, next, count, rounded(values[next]) == rounded(values[i])) {
        int64_t here = rounded(values[i]);
        samples_append_change(out, here - before);
        append_number(out, next - i);
        before = here;
    }
}

static size_t count_runs(const double *values, size_t count)
{
    size_t runs = count > 0;
    for (size_t i = 1; i < count; i++)
        runs += rounded(values[i]) != rounded(values[i - 1]);
    return runs;
}

void samples_pack(struct buffer *out, const double *values, size_t count, bool whole)
{
    for (size_t i = 0; i < count; i++)
        whole = whole && is_whole(values[i]);
    /* Is it mostly zeros? An event in one step of thousands is 0 in all others. */
    if (whole && count > 16 && count_runs(values, count) * 4 < count) {
        size_t begin = out->count;
        pack_runs(out, values, count);
        if (count <= (uint64_t)SAMPLES_PER_BYTE * (out->count - begin))
            return;
        out->count = begin;
    }
    buffer_putc(out, whole ? FORM_WHOLE : FORM_DOUBLES);
    append_number(out, count);
    int64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        if (whole) {
            int64_t here = rounded(values[i]), change = here - before;
            samples_append_change(out, change);
            before = here;
            continue;
        }
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int byte = 0; byte < 8; byte++)
            buffer_putc(out, (char)(bits >> 8 * byte));
    }
}

struct input {
    const unsigned char *at, *end;
};

static bool get_number(struct input *in, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        unsigned char byte = *in->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool get_double(struct input *in, double *value)
{
    if (in->end - in->at < 8)
        return false;
    uint64_t bits = 0;
    for (int byte = 0; byte < 8; byte++)
        bits |= (uint64_t)*in->at++ << 8 * byte;
    memcpy(value, &bits, sizeof bits);
    return true;
}

/* Whole numbers in runs of equal ones, COUNT together. */
static bool unpack_runs(struct input *in, uint64_t count, struct samples *samples)
{
    uint64_t bits, before = 0, length;
    while (count > 0) {
        if (!get_number(in, &bits) || !get_number(in, &length) || length == 0 || length > count)
            return false;
        before += (bits >> 1) ^ (0 - (bits & 1));
        count -= length;
        for (; length > 0; length--)
            *VEC_PUSH(samples) = (double)(int64_t)before;
    }
    return in->at == in->end;
}

bool samples_unpack(const void *bytes, size_t size, struct samples *samples)
{
    struct input in = { bytes, (const unsigned char *)bytes + size };
    if (size == 0)
        return false;
    unsigned char form = *in.at++;
    uint64_t count, bits, before = 0;
    if (form == FORM_RUNS)
        return get_number(&in, &count) && count <= (uint64_t)SAMPLES_PER_BYTE * size &&
               unpack_runs(&in, count, samples);
    if ((form != FORM_WHOLE && form != FORM_DOUBLES) || !get_number(&in, &count) ||
        count > (uint64_t)(in.end - in.at)) /* each takes at least a byte */
        return false;
    for (uint64_t i = 0; i < count; i++) {
        double value;
        if (form == FORM_DOUBLES) {
            if (!get_double(&in, &value))
                return false;
        } else {
            if (!get_number(&in, &bits))
                return false;
            before += (bits >> 1) ^ (0 - (bits & 1));
            value = (double)(int64_t)before;
        }
        *VEC_PUSH(samples) = value;
    }
    return in.at == in.end;
}
