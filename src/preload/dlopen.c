/* SPDX-License-Identifier: MIT */
/*
 * dlopen without RTLD_DEEPBIND: a plug-in bound that way would call the C library's
 * mutex functions on mutexes that it shares with the rest of the program.
 *
 * The loader looks at its caller's return address (for RUNPATH, $ORIGIN, namespaces),
 * so this has to be a tail call, which the optimiser attribute makes sure of in debug
 * builds too.
 */
#include "platform/platform.h"
#include "preload/plan.h"
#include "preload/real.h"

#include <dlfcn.h>

static struct atomic_u32 said;

static __attribute__((noinline)) int without_deepbind(const char *file, int mode)
{
    if (!exchange_relaxed(&said, 1))
        complain("RTLD_DEEPBIND is ignored, so that this plug-in shares the program's "
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
