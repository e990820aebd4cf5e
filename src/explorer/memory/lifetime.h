/* SPDX-License-Identifier: MIT */
/* Checks that memory is still in use when a thread accesses it. The lock is in use
 * until its last user has destroyed it, a slot until it is given back to its pool. */
#ifndef HASP_EXPLORER_MEMORY_LIFETIME_H
#define HASP_EXPLORER_MEMORY_LIFETIME_H

#include <stdbool.h>

/* Ends the run if the memory at `address` must not be accessed. */
void expect_in_use(const void *address, bool writes);

/* From now on, ends the run if a thread accesses the lock. Also ends it at once if an
 * earlier store to the lock may still take effect. */
void lock_is_destroyed(void);

#endif
