/* SPDX-License-Identifier: MIT */
/* One turn of a loop that waits for another thread. */
#ifndef HASP_STRUCTURES_TURN_H
#define HASP_STRUCTURES_TURN_H

#include "platform/platform.h"

/* Relaxes; after yield_limit() turns, also yields. *turns is 0 before the first one. */
static inline void wait_a_turn(uint32_t *turns)
{
    if (*turns != yield_limit())
        ++*turns;
    else
        yield();
    relax();
}

#endif
