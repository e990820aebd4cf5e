/* SPDX-License-Identifier: MIT */
/*
 * The C library's versions of the hooked functions.
 *
 * Each is looked up when first needed, never in an operation of one of Hasp's locks: a
 * look-up takes the loader's lock and on failure allocates memory, which may call back
 * into the interposer. Only names that every supported C library (glibc 2.34 or newer)
 * has are looked up.
 */
#ifndef HASP_PRELOAD_REAL_H
#define HASP_PRELOAD_REAL_H

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* Defines a hidden alias, for versioned.c. */
#define OWN_NAME(name)                                                                 \
    __typeof__(name) own_##name                                                        \
        __attribute__((alias(#name), visibility("hidden"), nothrow, nonnull(1)))

/* Returns the address of a function of the C library, which it keeps in `found`. Ends
 * the process with a message if there is none. */
void *real_look_up(void **found, const char *name);

/* Defines a function that returns the C library's function `name`. The union converts
 * an object pointer to a function pointer, which POSIX allows: -Wpedantic rejects a
 * cast. */
#define DEFINE_REAL(result, name, parameters)                                          \
    result(*real_##name(void)) parameters                                              \
    {                                                                                  \
        static void *found;                                                            \
        union {                                                                        \
            void *object;                                                              \
            result(*function) parameters;                                              \
        } either = {.object = real_look_up(&found, #name)};                            \
        return either.function;                                                        \
    }

#define SYMBOL(result, name, parameters) result(*real_##name(void)) parameters;
#define EXPORT_ONLY(name)
#include "preload/symbols.def"
#undef EXPORT_ONLY
#undef SYMBOL

#endif
