/* SPDX-License-Identifier: MIT */
/*
 * Tells ThreadSanitizer what orders the program's threads.
 *
 * A program that is compiled with it links a library that is not. It would miss how one
 * thread hands a lock over to another inside the library, and report races in correct
 * programs.
 */
#ifndef HASP_PLATFORM_NATIVE_SANITIZER_H
#define HASP_PLATFORM_NATIVE_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#define TELL_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TELL_SANITIZER 1
#endif
#endif

#ifdef TELL_SANITIZER
#include <sanitizer/tsan_interface.h>
enum { TELLS_SANITIZER = 1 };
#else
enum { TELLS_SANITIZER = 0 };
#endif

/* The caller has acquired the lock at this address. */
static inline void note_acquired(void *lock)
{
#ifdef TELL_SANITIZER
    __tsan_acquire(lock);
#else
    (void)lock;
#endif
}

/* The caller is about to release the lock at this address. */
static inline void note_release(void *lock)
{
#ifdef TELL_SANITIZER
    __tsan_release(lock);
#else
    (void)lock;
#endif
}

#endif
