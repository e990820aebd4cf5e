/* SPDX-License-Identifier: MIT */
/*
 * Intel's restricted transactional memory, encoded as bytes so that no compiler option
 * is needed. Other architectures are treated as processors without RTM.
 *
 * A processor whose CPUID does not offer RTM may raise an invalid opcode at any of
 * these instructions, so rtm_listed() comes first. XEND outside a transaction is a
 * general protection fault.
 */
#ifndef HASP_PLATFORM_NATIVE_RTM_H
#define HASP_PLATFORM_NATIVE_RTM_H

#include <stdbool.h>
#include <stdint.h>

enum rtm_listing {
    RTM_ABSENT,       /* other architecture, or not in CPUID */
    RTM_ALWAYS_ABORT, /* in CPUID with RTM_ALWAYS_ABORT: disabled by microcode */
    RTM_LISTED,       /* may still abort always; only a commit shows that it works */
};

#if defined(__x86_64__)

#include <cpuid.h>

static inline enum rtm_listing rtm_listed(void)
{
    enum { LEAF = 7, RTM = 1 << 11, ALWAYS_ABORT = 1 << 11 };
    unsigned a, b, c, d;
    if (!__get_cpuid_count(LEAF, 0, &a, &b, &c, &d))
        return RTM_ABSENT;
    if (d & ALWAYS_ABORT)
        return RTM_ALWAYS_ABORT;
    return b & RTM ? RTM_LISTED : RTM_ABSENT;
}

/* Returns UINT32_MAX; after an abort it returns a second time, with the status. */
static inline __attribute__((always_inline)) uint32_t rtm_begin(void)
{
    uint32_t status = UINT32_MAX;
    __asm__ volatile(".byte 0xc7, 0xf8; .long 0" : "+a"(status) : : "memory");
    return status;
}

static inline __attribute__((always_inline)) void rtm_commit(void)
{
    __asm__ volatile(".byte 0x0f, 0x01, 0xd5" : : : "memory");
}

/* A macro, because the code is part of the instruction. */
#define rtm_abort(code)                                                                \
    __asm__ volatile(".byte 0xc6, 0xf8, %P0" : : "i"(code) : "memory")

#else

static inline enum rtm_listing rtm_listed(void)
{
    return RTM_ABSENT;
}

static inline uint32_t rtm_begin(void)
{
    return 0;
}

static inline void rtm_commit(void)
{
}

#define rtm_abort(code) ((void)(code))

#endif

#endif
