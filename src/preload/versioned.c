/* SPDX-License-Identifier: MIT */
/*
 * Exports the functions that sanitizer runtimes look up by version under glibc's
 * versions too.
 *
 * A look-up by version (dlvsym) skips unversioned exports: the runtime would use
 * glibc's condition variables with Hasp's mutexes. FIRST_VERSION is glibc's first
 * version on this architecture, CONDITION_VERSION the one of its current condition
 * variables. The functions are in a file of their own and call hidden names, because
 * the linker would merge aliases into one versioned symbol, and bind calls of the
 * public name to this file. The recorder's library is built from the same file, with
 * its own hooks.
 */
#include "preload/real.h"

#define VERSIONED(version, name, parameters, arguments)                                \
    __typeof__(name) own_##name __attribute__((visibility("hidden")));                 \
    EXPORT int versioned_##name parameters;                                            \
    EXPORT int versioned_##name parameters                                             \
    {                                                                                  \
        return own_##name arguments;                                                   \
    }                                                                                  \
    __asm__(".symver versioned_" #name ", " #name "@" version ", remove")

#define MUTEX(name) VERSIONED(FIRST_VERSION, name, (pthread_mutex_t * m), (m))
#define CONDITION(name, parameters, arguments)                                         \
    VERSIONED(CONDITION_VERSION, name, parameters, arguments)

VERSIONED(FIRST_VERSION, pthread_mutex_init,
          (pthread_mutex_t * m, const pthread_mutexattr_t *a), (m, a));
MUTEX(pthread_mutex_destroy);
MUTEX(pthread_mutex_lock);
MUTEX(pthread_mutex_trylock);
MUTEX(pthread_mutex_unlock);
CONDITION(pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *a), (c, a));
CONDITION(pthread_cond_destroy, (pthread_cond_t * c), (c));
CONDITION(pthread_cond_signal, (pthread_cond_t * c), (c));
CONDITION(pthread_cond_broadcast, (pthread_cond_t * c), (c));
CONDITION(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m));
CONDITION(pthread_cond_timedwait,
          (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *at),
          (c, m, at));
