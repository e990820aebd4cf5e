/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_SPINLOCK_H
#define HASP_PRELOAD_SPINLOCK_H

/* Sets the algorithm of all spin locks of the process, by its index in the list; 0:
 * glibc's. */
void spinlock_use(unsigned index);

#endif
