/* SPDX-License-Identifier: MIT */
/* The memory of the pool that replaces the locks' pools in the explorer; see pool.c. */
#ifndef HASP_EXPLORER_BASE_SLOTS_H
#define HASP_EXPLORER_BASE_SLOTS_H

#include "explorer/base/limits.h"

#include "locks/memory/pool.h"

#include <stddef.h>

enum { WAITER_POOL, SIDE_POOL, CALL_POOL, HOLDS_POOL, BARRIER_POOL }; /* indices */

extern struct pool_slot slots[POOLS][SLOTS + 1];

/* Returns whether the address is in a slot, and in which; `offset` is in bytes. */
bool slot_at(const void *address, int *pool, unsigned *id, size_t *offset);

#endif
