/* SPDX-License-Identifier: MIT */
/*
 * A small pool that replaces src/locks/memory/pool.c, which would multiply the states
 * of every lock. (tests/explorer/pool.c checks that one.) As in that pool, a thread
 * first reuses the slots that it returned last, and returning a slot happens before it
 * is taken again.
 */
#ifndef HASP_EXPLORER_EXECUTION_POOL_H
#define HASP_EXPLORER_EXECUTION_POOL_H

void pools_prepare(void);
unsigned pool_taken(void); /* slots not given back; threads keep their read holds */

#endif
