/* SPDX-License-Identifier: MIT */
#include "preload/real.h"

#include "platform/platform.h"

#include <dlfcn.h>

void *real_look_up(void **found, const char *name)
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

#define SYMBOL(result, name, parameters) DEFINE_REAL(result, name, parameters)
#define EXPORT_ONLY(name)
#include "preload/symbols.def"
