/* SPDX-License-Identifier: MIT */
/* x86-64: pause instruction, counters, system call. */
#ifndef HASP_PLATFORM_NATIVE_X86_64_H
#define HASP_PLATFORM_NATIVE_X86_64_H

#include <stdint.h>

/* Two 64-byte lines: the adjacent-line prefetcher transfers them as a pair. */
#define CACHE_LINE 128

/* The words of glibc's spin locks. */
enum { SPINLOCK_FREE = 1, SPINLOCK_HELD = 0 };

static inline void relax(void)
{
    __builtin_ia32_pause();
}

/* One instruction that compares memory with a register; compilers emit a load and a
 * comparison for an atomic load. Every load is an acquire load on this processor. */
static inline bool equals_native(const struct atomic_u64 *cell, uint64_t value)
{
    bool equal;
    __asm__ volatile("cmpq %2, %1"
                     : "=@ccz"(equal)
                     : "m"(cell->raw), "r"(value)
                     : "memory");
    return equal;
}

#define equals_relaxed(c, v) equals_native(c, v)
#define equals_acquire(c, v) equals_native(c, v)

/* Locked instructions are full fences. */
static inline void fence_after_atomic(void)
{
    __asm__ volatile("" : : : "memory");
}

/* The processor does not reorder a store with an earlier access. */
static inline void fence_before_stores(void)
{
    __asm__ volatile("" : : : "memory");
}

/* Processors without the instruction treat it as a no-op. */
static inline void prefetch_for_write_at(const void *address)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
}

/* The time-stamp counter. */
static inline uint64_t ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* The same, read when all earlier instructions have completed. */
static inline uint64_t ticks_after_all(void)
{
    uint32_t processor;
    return __builtin_ia32_rdtscp(&processor);
}

/* Performance counters that the kernel lets programs read. */
enum { COUNTERS_READABLE = 1 };

static inline uint64_t read_counter(uint32_t index)
{
    return (uint64_t)__builtin_ia32_rdpmc((int)index);
}

/* Returns the address that thread-local variables lie before. */
static inline unsigned char *thread_pointer(void)
{
    unsigned char *pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer)); /* the ABI keeps it there */
    return pointer;
}

/* Returns the kernel's result, -errno on error; does not touch errno. */
static inline long raw_syscall(long number, long a, long b, long c, long d, long e,
                               long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
