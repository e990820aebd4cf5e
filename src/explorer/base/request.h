/* SPDX-License-Identifier: MIT */
/* The operation that a thread is about to perform. */
#ifndef HASP_EXPLORER_BASE_REQUEST_H
#define HASP_EXPLORER_BASE_REQUEST_H

#include "platform/platform.h"

enum operation {
    OP_NONE,
    OP_START,
    OP_LOAD,
    OP_STORE,
    OP_CHANGE,
    OP_COMPARE,
    OP_FENCE,
    OP_LIGHT,
    OP_HEAVY,
    OP_HEAVY_END, /* in a heavy barrier */
    OP_RELAX,
    OP_DEADLINE,
    OP_PARK,
    OP_ASLEEP, /* parked, and not woken yet */
    OP_WOKEN,
    OP_UNPARK,
    OP_REQUEUE,
    OP_CHOOSE,
    OP_FORK,
    OP_DONE,
    /* Only in counterexamples: */
    OP_READ,
    OP_WRITE,
    OP_TAKE,
    OP_GIVE,
    OP_REACHED, /* by the heavy barrier of another thread */
};

enum half { HALF_NONE, HALF_LOW, HALF_HIGH };

struct request {
    uint8_t operation, order, change, deadline;
    uint16_t cell, other;
    uint8_t half; /* of a 64-bit cell that a thread sleeps on; 0: it has 32 bits */
    uint8_t unused[7]; /* states are compared bytewise */
    uint64_t operand, expected;
    const char *function, *text;
};

/* Returns the new value after a read-modify-write of `size` bytes that read
 * `before`. */
uint64_t changed_value(const struct request *request, unsigned size, uint64_t before);

#endif
