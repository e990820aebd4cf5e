/* SPDX-License-Identifier: MIT */
/*
 * prctl and syscall, hooked for one reason: a program that installs a seccomp filter
 * may forbid membarrier, which the biased release needs, on pain of death. Before the
 * filter is in place the bias ends.
 */
#include "preload/dispatch.h"
#include "preload/real.h"
#include "preload/seccomp.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

static void filter_comes(void)
{
    dispatch_stop_bias();
    barrier_forbid();
}

static long result_of(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/* Arguments that the caller did not pass are read as whatever the registers hold, and
 * go to the kernel, which ignores them: as the C library's own functions do. */
EXPORT int prctl(int option, ...)
{
    long rest[4];
    va_list arguments;
    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        rest[i] = va_arg(arguments, long);
    va_end(arguments);
    if (unlikely(installs_filter(SYS_prctl, option)))
        filter_comes();
    return (int)result_of(
        raw_syscall(SYS_prctl, option, rest[0], rest[1], rest[2], rest[3], 0));
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
        filter_comes();
    return result_of(
        raw_syscall(number, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]));
}
