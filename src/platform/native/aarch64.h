/* SPDX-License-Identifier: MIT */
/* aarch64: pause instruction, counters, system call. */
#ifndef HASP_PLATFORM_NATIVE_AARCH64_H
#define HASP_PLATFORM_NATIVE_AARCH64_H

#include <stdint.h>

#define CACHE_LINE 128

/* The words of glibc's spin locks. */
enum { SPINLOCK_FREE = 0, SPINLOCK_HELD = 1 };

/* ISB takes about as long as x86's PAUSE; YIELD is a no-op on most cores. */
static inline void relax(void)
{
    __asm__ volatile("isb" ::: "memory");
}

static inline void fence_after_atomic(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void fence_before_stores(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void prefetch_for_write_at(const void *address)
{
    __builtin_prefetch(address, 1, 3);
}

/* The virtual counter. */
static inline uint64_t ticks(void)
{
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}

/* The same, read when all earlier branches are decided. */
static inline uint64_t ticks_after_all(void)
{
    uint64_t count;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count)::"memory");
    return count;
}

/* Linux lets programs read counters only if the administrator enables it. */
enum { COUNTERS_READABLE = 0 };

static inline uint64_t read_counter(uint32_t index)
{
    (void)index;
    return 0;
}

/* Returns the address that thread-local variables lie behind. */
static inline unsigned char *thread_pointer(void)
{
    unsigned char *pointer;
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

/* Returns the kernel's result, -errno on error; does not touch errno. */
static inline long raw_syscall(long number, long a, long b, long c, long d, long e,
                               long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#endif
