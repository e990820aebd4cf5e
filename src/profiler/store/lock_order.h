/* SPDX-License-Identifier: MIT */
/*
 * The order of locks: which were acquired while which others were held. A pair is a
 * record of its own in the trace, made the first time, with the stack of that time.
 */
#ifndef HASP_PROFILER_STORE_LOCK_ORDER_H
#define HASP_PROFILER_STORE_LOCK_ORDER_H

#include "profiler/store/series.h"

static inline uint64_t lock_order_hash(uint32_t outer, uint32_t inner)
{
    return ((uint64_t)outer << 32 | inner) * 0x9e3779b97f4a7c15u;
}

/* The record of a pair, or NULL. */
struct trace_lock_order *lock_order_find(uint32_t outer, uint32_t inner);

/* Whether one more pair may be had. */
bool lock_order_has_space(void);

/* The record of its pair, which is this one where there was none; NULL: no space. */
struct trace_lock_order *lock_order_add(const struct trace_lock_order *record);

void lock_order_forget(void);

#endif
