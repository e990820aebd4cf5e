/* SPDX-License-Identifier: MIT */
/* Hooks of prctl and syscall, to notice the installation of a seccomp filter. */
#include "preload/profile/next.h"
#include "preload/seccomp.h"

#include "profiler/session/seccomp_mode.h"

#include <stdarg.h>

/* Arguments that the caller did not pass are read from their registers and passed on,
 * as the C library does. */
EXPORT int prctl(int option, ...)
{
    long rest[4];
    va_list arguments;
    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        rest[i] = va_arg(arguments, long);
    va_end(arguments);
    if (unlikely(installs_filter(SYS_prctl, option)))
        seccomp_mode_begins();
    return next.prctl(option, rest[0], rest[1], rest[2], rest[3]);
}

EXPORT long syscall(long number, ...)
{
    long rest[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        rest[i] = va_arg(arguments, long);
    va_end(arguments);
    if (unlikely(installs_filter(number, rest[0])))
        seccomp_mode_begins();
    return next.syscall(number, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]);
}
