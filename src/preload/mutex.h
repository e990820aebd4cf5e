/* SPDX-License-Identifier: MIT */
/* What condition variables need of mutexes beyond the pthread functions. */
#ifndef HASP_PRELOAD_MUTEX_H
#define HASP_PRELOAD_MUTEX_H

#include "locks/lock.h"

/* EPERM for an error-checking mutex that the caller does not hold, else 0. */
int mutex_check_before_wait(struct lock *lock);

#endif
