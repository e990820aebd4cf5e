/* SPDX-License-Identifier: MIT */
#ifndef HASP_PLATFORM_NATIVE_FENCE_H
#define HASP_PLATFORM_NATIVE_FENCE_H

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer does not model fences (gcc says so with -Wtsan). It does model an
 * exchange, and all fences on one cell are ordered by it as fences are. That orders
 * more than fences do, so a race between two threads that both fence may go unseen; the
 * checked platform looks for those. */
static inline void fence_native(void)
{
    static struct atomic_u32 cell;
    __atomic_exchange_n(&cell.raw, 0, __ATOMIC_SEQ_CST);
}
#else
static inline void fence_native(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

#endif
