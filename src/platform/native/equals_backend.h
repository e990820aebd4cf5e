/* SPDX-License-Identifier: MIT */
/* One instruction, where there is one: compilers load an atomic word first. */
#ifndef HASP_PLATFORM_NATIVE_EQUALS_BACKEND_H
#define HASP_PLATFORM_NATIVE_EQUALS_BACKEND_H

#if defined(__x86_64__)
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
#else
#define equals_relaxed(c, v) (load_relaxed(c) == (v))
#define equals_acquire(c, v) (load_acquire(c) == (v))
#endif

#endif
