/* SPDX-License-Identifier: MIT */
/*
 * dlopen without RTLD_DEEPBIND, with which a plug-in would call glibc's mutex functions
 * on mutexes that it shares with the rest of the program.
 *
 * The loader uses its caller's return address (for RUNPATH, $ORIGIN, namespaces), so
 * this has to be a tail call; the optimiser attribute ensures that in debug builds too.
 */
#include "platform/platform.h"
#include "preload/plan.h"
#include "preload/real.h"

#include <dlfcn.h>

static struct atomic_u32 reported;

static __attribute__((noinline)) int without_deepbind(const char *file, int mode)
{
    if (!exchange_relaxed(&reported, 1))
        complain("ignoring RTLD_DEEPBIND, so that the plug-in uses the program's "
                 "locks: ",
                 file ? file : "(the program)");
    return mode & ~RTLD_DEEPBIND;
}

EXPORT __attribute__((optimize("optimize-sibling-calls"))) void *
dlopen(const char *file, int mode)
{
    void *(*real)(const char *, int) = real_dlopen();
    plan_expect_modules();
    if (unlikely(mode & RTLD_DEEPBIND))
        mode = without_deepbind(file, mode);
    return real(file, mode);
}
