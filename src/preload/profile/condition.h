/* SPDX-License-Identifier: MIT */
/* The recorded operations, shared with the C11 functions. */
#ifndef HASP_PRELOAD_PROFILE_CONDITION_H
#define HASP_PRELOAD_PROFILE_CONDITION_H

#include "preload/profile/next.h"

int condition_init(pthread_cond_t *, const pthread_condattr_t *,
                   void *caller) RECORD_HIDDEN;
int condition_destroy(pthread_cond_t *, void *caller) RECORD_HIDDEN;
int condition_signal(pthread_cond_t *, void *caller) RECORD_HIDDEN;
int condition_broadcast(pthread_cond_t *, void *caller) RECORD_HIDDEN;
int condition_wait(pthread_cond_t *, pthread_mutex_t *, void *caller) RECORD_HIDDEN;
int condition_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *,
                        void *caller) RECORD_HIDDEN;

#endif
