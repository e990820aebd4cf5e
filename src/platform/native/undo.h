/* SPDX-License-Identifier: MIT */
/*
 * Transactions that software rolls back, for tests. One at a time: while it is open,
 * all other threads of the process are stopped. So it needs no detection of conflicts,
 * and is far slower than the lock.
 *
 * begin() stops the others by a signal, copies the used parts of all stacks, and
 * protects all other private memory against writes. The first write to a page faults,
 * and the handler saves the page. An abort copies stacks and pages back, and returns
 * from begin() again. System calls abort, because the kernel passes them to a handler
 * (syscall user dispatch).
 *
 * With a seed, half of the transactions abort: at one of their first writes, or at
 * their end. Memory that processes share, and files, are not rolled back. A thread that
 * blocks the signal cannot be stopped; then every transaction aborts at its begin.
 */
#ifndef HASP_PLATFORM_NATIVE_UNDO_H
#define HASP_PLATFORM_NATIVE_UNDO_H

#include <stdint.h>

enum { UNDO_SIGNAL = 63 }; /* stops threads */

/* Returns NULL, or why there are no such transactions here. Seed 0: none abort without
 * a reason. */
const char *undo_prepare(uint32_t seed);

/* As in platform/htm.h. undo_abort() takes the status. */
uint32_t undo_begin(void);
void undo_commit(void);
void undo_abort(uint32_t status);

#endif
