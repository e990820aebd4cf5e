/* SPDX-License-Identifier: MIT */
/*
 * The next definitions of the hooked functions: libhasp.so's or the C library's.
 *
 * Each pointer initially refers to a function that looks all of them up and then calls
 * the right one. So a hook works before any constructor has run, and costs one indirect
 * jump afterwards.
 */
#ifndef HASP_PRELOAD_PROFILE_NEXT_H
#define HASP_PRELOAD_PROFILE_NEXT_H

#include "profiler/record/record.h"

#include <pthread.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* A hidden second name, for versioned.c. */
#define OWN_NAME(name)                                                                 \
    __typeof__(name) own_##name                                                        \
        __attribute__((alias(#name), visibility("hidden"), nothrow, nonnull(1)))

/* An old name that programs are still linked to. */
#define OLD_NAME(name)                                                                 \
    __typeof__(name) __##name                                                          \
        __attribute__((alias(#name), visibility("default"), nothrow, nonnull(1)))

#define NEXT(result, name, parameters, arguments) result(*name) parameters;
struct next {
#include "preload/profile/next.def"
};
#undef NEXT
extern struct next next RECORD_HIDDEN;

/* Looks all of them up, at start-up or at the first call before that. */
void next_find(void);

#endif
