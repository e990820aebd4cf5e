/* SPDX-License-Identifier: MIT */
/*
 * Tests the properties that a lock declares in the list as behaviour. One file for each
 * kind of property; each function ends the process with status 1 if the lock does not
 * behave as its descriptor states.
 */
#ifndef HASP_TESTS_UNIT_PROPERTIES_H
#define HASP_TESTS_UNIT_PROPERTIES_H

#include "locks/list/descriptor.h"

/* order.c: FIFO, BYPASSES, BYPASS_AT_MOST and NUMA. */
void check_order(const struct lock_descriptor *descriptor);

/* sleep.c: PARKS. */
void check_sleep(const struct lock_descriptor *descriptor);

/* hardened.c: TRYLOCK_HARDENED. */
void check_hardened(const struct lock_descriptor *descriptor);

/* space.c: LIGHT, SPACE and SPACE_OUTSIDE. Run this before the others, which leave
 * waiters in the pool. */
void check_space(const struct lock_descriptor *descriptor);
extern unsigned space_rounds; /* with a new lock each */

#endif
