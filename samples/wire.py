"""The wire format of protocol buffers, as far as the scripts that make samples need it.

    message(number(1, 7), text(2, "name"), message_in(3, number(1, 8)))
"""

import struct


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def fixed64(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def message(*parts):
    return b"".join(parts)


def message_in(field, *parts):
    return text(field, message(*parts))
