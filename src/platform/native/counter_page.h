/* SPDX-License-Identifier: MIT */
/*
 * Reads a performance counter through the mapped page of its perf event, without a
 * system call: the protocol that perf_event_open(2) describes under cap_user_rdpmc.
 */
#ifndef HASP_PLATFORM_NATIVE_COUNTER_PAGE_H
#define HASP_PLATFORM_NATIVE_COUNTER_PAGE_H

#include "platform/platform.h"

#include <linux/perf_event.h>

typedef uint64_t counter_reader(uint32_t index);

/* Returns false while the event has no hardware counter, for example because other
 * events use all of them. */
static inline bool counter_read_through(const struct perf_event_mmap_page *page,
                                        counter_reader *reader, uint64_t *value)
{
    uint32_t sequence, index;
    uint64_t count;
    do { /* the kernel updates the page when it deschedules the thread */
        sequence = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        index = *(const volatile __u32 *)&page->index;
        if (!COUNTERS_READABLE || !page->cap_user_rdpmc || !index || !page->pmc_width)
            return false;
        const unsigned unused = 64u - page->pmc_width;
        count = (uint64_t)((int64_t)(reader(index - 1) << unused) >> unused);
        count += (uint64_t)*(const volatile __s64 *)&page->offset;
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the kernel writes on this CPU */
    } while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != sequence);
    *value = count;
    return true;
}

#endif
