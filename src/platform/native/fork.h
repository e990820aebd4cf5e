/* SPDX-License-Identifier: MIT */
/* Detects that this process is a forked child, without relying on fork handlers. */
#ifndef HASP_PLATFORM_NATIVE_FORK_H
#define HASP_PLATFORM_NATIVE_FORK_H

#include <stdint.h>

/* A page that the kernel zeroes in every child that has its own address space
 * (MADV_WIPEONFORK), which also detects _Fork, raw clone and forks inside libc. Points
 * to a static variable until fork_watch(), and where the kernel lacks the feature. */
struct fork_page {
    struct atomic_u32 unforked; /* 0 after a fork that was not detected yet */
    /* 1 while a thread starts a new generation: only one of the threads that notice the
     * fork may do so. On the page, so that a raw clone does not inherit a 1. */
    struct atomic_u32 detecting;
};
extern struct fork_page *fork_page __attribute__((visibility("hidden")));
extern struct atomic_u32 fork_generation_number __attribute__((visibility("hidden")));

void fork_watch(void);

/* Called in a child whose page has been wiped. Starts the next generation, once. */
void fork_detected(void);

/* Called by fork handlers in the child. Some systems do not wipe the page, even if they
 * report that they do (user-mode emulation). */
void fork_in_child(void);

enum { UNFORKED_EVER = 1, UNFORKED_SINCE = 2 }; /* values of `unforked` */

static inline bool is_forked_child(void)
{
    return load_relaxed(&fork_page->unforked) != UNFORKED_EVER;
}

static inline uint32_t fork_generation(void)
{
    /* Acquire: pairs with the release in fork_detected, so that a thread that finds the
     * fork detected also sees the new generation. */
    if (unlikely(!load_acquire(&fork_page->unforked)))
        fork_detected();
    return load_relaxed(&fork_generation_number);
}

#endif
