/* SPDX-License-Identifier: MIT */
/*
 * Lock order: the pairs of locks in which the inner one was acquired while the outer
 * one was held. Each pair has one record, with the stack of its first occurrence.
 */
#ifndef HASP_PROFILER_STORE_LOCK_ORDER_H
#define HASP_PROFILER_STORE_LOCK_ORDER_H

#include "profiler/store/series.h"

static inline uint64_t lock_order_hash(uint32_t outer, uint32_t inner)
{
    return ((uint64_t)outer << 32 | inner) * 0x9e3779b97f4a7c15u;
}

/* Returns the record of a pair, or NULL. */
struct trace_lock_order *lock_order_find(uint32_t outer, uint32_t inner);

/* Returns whether another pair fits. */
bool lock_order_has_space(void);

/* Adds a pair unless it exists. Returns its record, or NULL when there is no space. */
struct trace_lock_order *lock_order_add(const struct trace_lock_order *record);

void lock_order_forget(void);

#endif
