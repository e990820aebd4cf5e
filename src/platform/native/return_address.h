/* SPDX-License-Identifier: MIT */
/* Recognises return addresses by the call instruction in front of them. */
#ifndef HASP_PLATFORM_NATIVE_RETURN_ADDRESS_H
#define HASP_PLATFORM_NATIVE_RETURN_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { CALL_BYTES = 8 }; /* enough for the longest call */

/* Returns whether the last of these CALL_BYTES bytes may be the end of a call. */
static inline bool ends_in_call(const uint8_t code[CALL_BYTES])
{
    const uint8_t *end = code + CALL_BYTES;
#if defined(__x86_64__)
    if (end[-5] == 0xe8) /* relative */
        return true;
    for (int length = 2; length <= 7; length++) { /* through a register or memory */
        const uint8_t *call = end - length;
        const unsigned mode = call[1] >> 6, base = call[1] & 7;
        if (call[0] != 0xff || (call[1] >> 3 & 7) != 2)
            continue;
        const bool wide = mode == 2 || (mode == 0 && base == 5);
        const int displacement = mode == 1 ? 1 : wide ? 4 : 0;
        if (length == 2 + (mode != 3 && base == 4) + displacement)
            return true;
    }
    return false;
#else
    const uint32_t last = (uint32_t)end[-4] | (uint32_t)end[-3] << 8 |
                          (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24;
    return last >> 26 == 0x25 || (last & 0xfffffc1f) == 0xd63f0000; /* BL, BLR */
#endif
}

#endif
