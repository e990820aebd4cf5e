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

/* In a child whose page is wiped: starts the next generation, once. */
void fork_detected(void);

/* In a child that knows itself to be one (fork handlers): for systems that do not wipe,
 * some of which say that they do (user-mode emulation). */
void fork_in_child(void);

static inline uint32_t fork_generation(void)
{
    if (unlikely(!load_relaxed(&fork_page->unforked)))
        fork_detected();
    return load_relaxed(&fork_generation_number);
}

#endif
