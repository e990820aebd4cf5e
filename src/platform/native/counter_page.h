/* SPDX-License-Identifier: MIT */
/*
 * A counter of the processor through the page of its perf event, without a system call:
 * the protocol of perf_event_open(2), under cap_user_rdpmc.
 */
#ifndef HASP_PLATFORM_NATIVE_COUNTER_PAGE_H
#define HASP_PLATFORM_NATIVE_COUNTER_PAGE_H

#include "platform/platform.h"

#include <linux/perf_event.h>

typedef uint64_t counter_reader(uint32_t index);

/* False while the event has no counter of its own, as when others use them all. */
static inline bool counter_read_through(const struct perf_event_mmap_page *page,
                                        counter_reader *reader, uint64_t *value)
{
    uint32_t sequence, index;
    uint64_t count;
    do { /* the kernel writes it when it takes the thread off the processor */
        sequence = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        index = *(const volatile __u32 *)&page->index;
        if (!COUNTERS_READABLE || !page->cap_user_rdpmc || !index || !page->pmc_width)
            return false;
        const unsigned unused = 64u - page->pmc_width;
        count = (uint64_t)((int64_t)(reader(index - 1) << unused) >> unused);
        count += (uint64_t)*(const volatile __s64 *)&page->offset;
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the kernel is on this processor */
    } while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != sequence);
    *value = count;
    return true;
}

#endif
