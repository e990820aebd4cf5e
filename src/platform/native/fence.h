/* SPDX-License-Identifier: MIT */
#ifndef HASP_PLATFORM_NATIVE_FENCE_H
#define HASP_PLATFORM_NATIVE_FENCE_H

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer does not model fences (gcc warns with -Wtsan), but it does model an
 * exchange, and exchanges of one cell are ordered as the fences would be. They order
 * more than fences do, so a race between two threads that both execute fences may be
 * missed; the model checker finds those. */
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
