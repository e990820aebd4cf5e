/* SPDX-License-Identifier: MIT */
/* Recognises calls that install a seccomp filter, for the hooks of prctl and syscall.
 * */
#ifndef HASP_PRELOAD_SECCOMP_H
#define HASP_PRELOAD_SECCOMP_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Returns whether system call `number` with this first argument installs a filter. */
static inline bool installs_filter(long number, long first)
{
    if (number == SYS_seccomp)
        return first == SECCOMP_SET_MODE_FILTER || first == SECCOMP_SET_MODE_STRICT;
    return number == SYS_prctl && first == PR_SET_SECCOMP;
}

#endif
