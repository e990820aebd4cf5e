/* SPDX-License-Identifier: MIT */
/*
 * Hooks prctl and syscall to notice when a program installs a seccomp filter. The
 * filter may kill the process when it calls membarrier, which the biased release needs,
 * or prctl, which asks for time-slice extensions, so both end before the filter is
 * installed. A program that registers restartable sequences of its own, as tcmalloc
 * does, must run them on its own threads, so it borrows no section from then on.
 */
#include "preload/borrowing/borrowing.h"
#include "preload/dispatch.h"
#include "preload/real.h"
#include "preload/seccomp.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

static void before_filter(void)
{
    dispatch_stop_bias();
    borrow_stop();
    barrier_forbid();
    time_extension_forbid();
}

static long result_of(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/* Reads all possible arguments, as glibc does: those that the caller did not pass are
 * whatever the registers hold, and the kernel ignores them. */
EXPORT int prctl(int option, ...)
{
    long rest[4];
    va_list arguments;
    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        rest[i] = va_arg(arguments, long);
    va_end(arguments);
    before_kernel();
    if (unlikely(installs_filter(SYS_prctl, option)))
        before_filter();
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
    before_kernel();
    if (unlikely(installs_filter(number, rest[0])))
        before_filter();
    if (unlikely(number == SYS_rseq))
        borrow_stop(); /* the kernel restarts sequences of its own thread only */
    return result_of(
        raw_syscall(number, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]));
}
