/* SPDX-License-Identifier: MIT */
/* The whole state as bytes, to return to it and to recognise it. */
#ifndef HASP_EXPLORER_EXECUTION_STATE_H
#define HASP_EXPLORER_EXECUTION_STATE_H

#include "explorer/base/model.h"

#include <stddef.h>

/* The first STATE_HEAD bytes must be restored but do not distinguish states, except
 * that from STATE_LAST on they name the thread that ran last, which matters where
 * preemptions are counted. */
enum {
    STATE_BYTES = 2 << 20,
    STATE_LAST = THREADS * sizeof(struct iteration),
    STATE_HEAD = STATE_LAST + 8,
};

size_t state_save(unsigned char *into); /* returns the number of bytes */
void state_restore(const unsigned char *from);

#endif
