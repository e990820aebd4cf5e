/* SPDX-License-Identifier: MIT */
/* Operations that order all of a thread's accesses. */
#ifndef HASP_EXPLORER_MEMORY_FENCES_H
#define HASP_EXPLORER_MEMORY_FENCES_H

#include "explorer/base/model.h"

void memory_fence(struct thread *thread); /* sequentially consistent */

/* The order among futex calls: the thread sees what earlier fences and calls published,
 * and publishes what it has seen. */
void memory_order_parking(struct thread *thread);

/* In the child process every thread sees the newest values, and only those. */
void memory_fork(void);

#endif
