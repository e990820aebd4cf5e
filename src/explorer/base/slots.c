/* SPDX-License-Identifier: MIT */
#include "explorer/base/slots.h"

struct pool_slot slots[POOLS][SLOTS + 1];

bool slot_at(const void *address, int *pool, unsigned *id, size_t *offset)
{
    const char *at = address;
    for (*pool = 0; *pool < POOLS; (*pool)++) {
        const char *from = (const char *)slots[*pool];
        if (at >= from && at < from + sizeof slots[*pool]) {
            *id = (unsigned)((size_t)(at - from) / sizeof slots[0][0]);
            *offset = (size_t)(at - from) % sizeof slots[0][0];
            return true;
        }
    }
    return false;
}
