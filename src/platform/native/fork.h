/* SPDX-License-Identifier: MIT */
/* Telling a forked child from its parent without depending on fork handlers. */
#ifndef HASP_PLATFORM_NATIVE_FORK_H
#define HASP_PLATFORM_NATIVE_FORK_H

#include <stdint.h>

/* A page that the kernel zeroes in every child with a memory of its own
 * (MADV_WIPEONFORK), so that _Fork, raw clone and fork inside libc are noticed too.
 * Points to a never-wiped stand-in until fork_watch() or where the kernel lacks it. */
struct fork_page {
    struct atomic_u32 unforked;
};
extern struct fork_page *fork_page __attribute__((visibility("hidden")));
extern struct atomic_u32 fork_generation_number __attribute__((visibility("hidden")));

void fork_watch(void);

/* In a child: start the next generation (idempotent). Also called by fork handlers. */
void fork_detected(void);

static inline uint32_t fork_generation(void)
{
    if (unlikely(!load_relaxed(&fork_page->unforked)))
        fork_detected();
    return load_relaxed(&fork_generation_number);
}

#endif
