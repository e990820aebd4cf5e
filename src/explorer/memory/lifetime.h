/* SPDX-License-Identifier: MIT */
/* Whether memory is still in use when somebody accesses it: the lock until its last
 * user has destroyed it, slots until they are given back to their pool. */
#ifndef HASP_EXPLORER_MEMORY_LIFETIME_H
#define HASP_EXPLORER_MEMORY_LIFETIME_H

#include <stdbool.h>

/* Ends the run if the memory at `address` must not be accessed. */
void expect_in_use(const void *address, bool writes);

/* Ends the run if somebody accesses the lock from now on, or if the effect of an
 * earlier store to it can still come. */
void lock_is_destroyed(void);

#endif
