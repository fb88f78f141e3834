/*
 * wire_text.h - messages of protocol buffers, written as a text with the number of each field.
 *
 *     wire_text(&out, "1{2'/host:CPU' 3{1=%d", 5);      // a message that is left open, a text, a number
 *     wire_text(&out, "4{1=1 2=1999} }}");              // later texts add to what is open, and close it
 */
#ifndef TPA_TESTS_UNIT_WIRE_TEXT_H
#define TPA_TESTS_UNIT_WIRE_TEXT_H

#include "base/error.h"
#include "cli/convert/parts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static TPA_PRINTF(2, 3) void wire_text(struct buffer *out, const char *format, ...)
{
    static size_t open[16], depth;
    char text[1024], *at = text;
    va_list values;
    va_start(values, format);
    int len = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if ((size_t)len >= sizeof text)
        fail_msg("no room for %d bytes", len);
    if (out->count == 0)
        depth = 0;
    while (*(at += strspn(at, " "))) {
        if (*at == '}') {
            wire_close(out, open[--depth]);
            at++;
            continue;
        }
        uint32_t number = (uint32_t)strtoul(at, &at, 10);
        switch (*at++) {
        case '{': open[depth++] = wire_open(out, number); break;
        case '=': wire_append_number(out, number, strtoll(at, &at, 10)); break;
        case '\'': {
            size_t size = strcspn(at, "'");
            wire_append_text(out, number, at, size);
            at += size + 1;
            break;
        }
        default: fail_msg("not a field: %s", at - 1);
        }
    }
}

#endif
