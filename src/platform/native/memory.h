/* SPDX-License-Identifier: MIT */
#ifndef HASP_PLATFORM_NATIVE_MEMORY_H
#define HASP_PLATFORM_NATIVE_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Uses a raw system call, because a program may replace mmap() by a function that
 * locks. */
static inline void *map_pages(size_t bytes)
{
    long address = raw_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

#endif
