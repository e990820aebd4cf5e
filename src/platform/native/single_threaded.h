/* SPDX-License-Identifier: MIT */
/* Tells whether this process has one thread, which glibc publishes since 2.32. */
#ifndef HASP_PLATFORM_NATIVE_SINGLE_THREADED_H
#define HASP_PLATFORM_NATIVE_SINGLE_THREADED_H

#include <stdbool.h>
#include <sys/single_threaded.h>

static inline bool single_threaded(void)
{
    return __libc_single_threaded;
}

#endif
