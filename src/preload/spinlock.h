/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_SPINLOCK_H
#define HASP_PRELOAD_SPINLOCK_H

/* Selects the algorithm of all spin locks of the process; NULL or "": glibc's. Ends the
 * process with a message if there is none of that name. */
void spinlock_choose(const char *name);

#endif
