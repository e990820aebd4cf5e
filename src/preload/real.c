/* SPDX-License-Identifier: MIT */
#include "preload/real.h"

#include "platform/platform.h"

#include <dlfcn.h>

static void *look_up(void **found, const char *name)
{
    void *function = __atomic_load_n(found, __ATOMIC_ACQUIRE);
    if (likely(function != NULL))
        return function;
    function = dlsym(RTLD_NEXT, name);
    if (!function) {
        complain("the C library does not have ", name);
        die("Hasp needs the GNU C Library 2.34 or newer");
    }
    __atomic_store_n(found, function, __ATOMIC_RELEASE);
    return function;
}

/* Converts an object pointer to a function pointer, which POSIX allows, by a union,
 * because -Wpedantic rejects a cast. */
#define SYMBOL(result, name, parameters)                                               \
    result(*real_##name(void)) parameters                                              \
    {                                                                                  \
        static void *found;                                                            \
        union {                                                                        \
            void *object;                                                              \
            result(*function) parameters;                                              \
        } either = {.object = look_up(&found, #name)};                                 \
        return either.function;                                                        \
    }
#define EXPORT_ONLY(name)
#include "preload/symbols.def"
