/* SPDX-License-Identifier: MIT */
/* What threads share in the recorder's own tables. */
#ifndef HASP_PROFILER_STORE_SHARING_H
#define HASP_PROFILER_STORE_SHARING_H

#include "platform/platform.h"

/* Short mutual exclusion among our own threads. */
void brief_lock(struct atomic_u32 *);
void brief_unlock(struct atomic_u32 *);

/* Sums that several threads add to. */
static inline void add_shared(uint64_t *sum, uint64_t more)
{
    fetch_add_relaxed((struct atomic_u64 *)(void *)sum, more);
}

#endif
