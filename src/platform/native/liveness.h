/* SPDX-License-Identifier: MIT */
/* Whether a thread of this or another process still exists. */
#ifndef HASP_PLATFORM_NATIVE_LIVENESS_H
#define HASP_PLATFORM_NATIVE_LIVENESS_H

#include <stdbool.h>

struct thread_name;

bool name_this_thread(struct thread_name *name);

/* Takes some microseconds, as it reads /proc. A process that has ended is gone, even if
 * its parent has not waited for it yet. Without /proc, it counts as alive until then,
 * and so does a thread whose id has been reused. */
bool thread_is_gone(const struct thread_name *name);

#define threads_can_die() true

#endif
