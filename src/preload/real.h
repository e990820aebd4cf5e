/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions behind the hooked ones.
 *
 * Looked up one by one when first needed, never on a path of a lock that is Hasp's: the
 * look-up takes the loader's lock and, on failure, allocates, which may call back into
 * us. Only names that every supported C library (glibc >= 2.34) has are looked up.
 */
#ifndef HASP_PRELOAD_REAL_H
#define HASP_PRELOAD_REAL_H

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* A hidden second name, for versioned.c. */
#define OWN_NAME(name)                                                                 \
    __typeof__(name) own_##name                                                        \
        __attribute__((alias(#name), visibility("hidden"), nothrow, nonnull(1)))

#define SYMBOL(result, name, parameters) result(*real_##name(void)) parameters;
#define EXPORT_ONLY(name)
#include "preload/symbols.def"
#undef EXPORT_ONLY
#undef SYMBOL

#endif
