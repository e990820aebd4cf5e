/* SPDX-License-Identifier: MIT */
/* Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003. */
#ifndef HASP_PLATFORM_XORSHIFT_H
#define HASP_PLATFORM_XORSHIFT_H

#include <stdint.h>

/* Returns the next state. If the first state is not 0, no later one is. */
static inline uint32_t xorshift32(uint32_t state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static inline uint64_t xorshift64(uint64_t state)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

#endif
