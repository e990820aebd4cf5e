/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* <linux/prctl.h> of Linux 7.0 */
enum { RSEQ_SLICE_EXTENSION = 79, SLICE_EXTENSION_SET = 2, SLICE_EXTENSION_ENABLE = 1 };
enum { TURNS = 1000 }; /* of the wait for enable(), which takes less than one */

/* Of glibc since 2.35. The size is 0 if it has registered no area. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

struct atomic_u64 time_extension_area __attribute__((aligned(CACHE_LINE)));
static struct atomic_u32 refused;  /* no further thread calls prctl */
static struct atomic_u32 enabling; /* threads in enable() */

static bool is_enabled(ptrdiff_t area)
{
    const volatile uint32_t *flags =
        (const volatile void *)(thread_pointer() + area + TIME_EXTENSION_FLAGS);
    return *flags & TIME_EXTENSION_ENABLED;
}

/* Asks the kernel, unless a seccomp filter might kill the process for it. The fence
 * pairs with the one in time_extension_forbid(), which waits for threads that it
 * missed. */
static bool enable(void)
{
    bool enabled = false;
    fetch_add_relaxed(&enabling, 1);
    fence_seq_cst();
    if (!load_relaxed(&refused))
        enabled = raw_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) == 0 &&
                  raw_syscall(SYS_prctl, RSEQ_SLICE_EXTENSION, SLICE_EXTENSION_SET,
                              SLICE_EXTENSION_ENABLE, 0, 0, 0) == 0;
    fetch_add_release(&enabling, UINT32_MAX); /* subtract one */
    return enabled;
}

bool time_extension_prepare(void)
{
    if (load_relaxed(&refused))
        return false;
    bool has_area = &__rseq_size && &__rseq_offset && __rseq_size;
    if (has_area && (is_enabled(__rseq_offset) || enable())) {
        store_relaxed(&time_extension_area, (uint64_t)__rseq_offset);
        return true;
    }
    store_relaxed(&refused, 1);
    return false;
}

/* The wait ends after a while, because a forked child still counts the threads of its
 * parent that were in enable(). */
void time_extension_forbid(void)
{
    store_relaxed(&refused, 1);
    fence_seq_cst();
    for (int turns = 0; turns < TURNS && load_acquire(&enabling); turns++)
        yield();
}

/* A sandbox may forbid rseq_slice_yield(), but it needs futexes. Nobody sleeps here. */
void time_extension_yield(void)
{
    unpark(&refused, 1);
}
