/* SPDX-License-Identifier: MIT */
#include "preload/profile/next.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#define NEXT(result, name, parameters, arguments)                                      \
    static result first_##name parameters                                              \
    {                                                                                  \
        next_find();                                                                   \
        return next.name arguments;                                                    \
    }
#include "preload/profile/next.def"
#undef NEXT

#define NEXT(result, name, parameters, arguments) .name = first_##name,
struct next next = {
#include "preload/profile/next.def"
};
#undef NEXT

/* A function that this C library lacks is replaced by one that reports it. */
static void *find(const char *name, void *missing)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found ? found : missing;
}

static void lacks(void)
{
    die("the C library lacks a function that the program calls; "
        "it must be the GNU C Library 2.34 or newer");
}

/* Returns whether both addresses are in the same library. */
static bool together(const void *one, const void *other)
{
    Dl_info first, second;
    return dladdr(one, &first) && dladdr(other, &second) &&
           first.dli_fbase == second.dli_fbase;
}

/* POSIX, unlike C, allows a conversion from object to function pointer. */
void next_find(void)
{
    union {
        void (*function)(void);
        void *object;
    } missing = {.function = lacks};
#define NEXT(result, name, parameters, arguments)                                      \
    *(void **)(void *)&next.name = find(#name, missing.object);
#include "preload/profile/next.def"
#undef NEXT
    const char *(*version)(void) = gnu_get_libc_version;
    record_hands_over = !together(*(void **)(void *)&next.pthread_mutex_lock,
                                  *(void **)(void *)&version);
}
