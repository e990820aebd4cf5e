/* SPDX-License-Identifier: MIT */
/*
 * A small pool that replaces src/locks/memory/pool.c, which would multiply the states
 * of every lock. (tests/explorer/pool.c checks that one.) A thread gets back the slots
 * that it gave last, as there, and a give happens before the next take of the slot.
 */
#ifndef HASP_EXPLORER_EXECUTION_POOL_H
#define HASP_EXPLORER_EXECUTION_POOL_H

void pools_prepare(void);
unsigned pool_taken(void); /* slots that were not given back */

#endif
