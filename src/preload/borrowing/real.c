/* SPDX-License-Identifier: MIT */
#include "preload/borrowing/real.h"

#include <dlfcn.h>
#include <stddef.h>

static void *look_up(void **found, const char *name)
{
    void *function = __atomic_load_n(found, __ATOMIC_ACQUIRE);
    if (likely(function != NULL))
        return function;
    function = dlsym(RTLD_NEXT, name);
    if (!function)
        die("Hasp needs the GNU C Library 2.34 or newer");
    __atomic_store_n(found, function, __ATOMIC_RELEASE);
    return function;
}

/* As in preload/real.c. */
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
#include "preload/borrowing/symbols.def"
