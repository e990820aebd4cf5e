/* SPDX-License-Identifier: MIT */
/*
 * The lock `delegate`: a queue of requests (request.h), whose sections the releasing
 * thread runs itself.
 *
 *   state[0]  arrivals: 0 free, TAIL_HELD held, TAIL_QUEUED held and has had waiters
 *             since it was free; otherwise held, and the id of the latest arrival, each
 *             of which leads to the one before it
 *   word      is cleared by each release and set by each acquisition, so that a forked
 *             child can tell a holder from a thread that was just granted the lock
 *   state[1]  batch: id of the first of the requests that the holder has taken over, in
 *             the order of arrival, or 0. Only the holder uses it
 *   state[2]  caution: in the low half, how many requests are granted before the next
 *             is borrowed; in the high half, the last such number. Only the holder
 *             uses it
 *
 * D1. Whoever exchanges state[0] from 0 holds the lock; only the holder stores 0 or
 *     TAIL_QUEUED there, the former only while the batch is empty.
 * D2. After a section the borrower claims the next request, or releases the lock,
 *     before it ends the wait of the section's owner: the owner may free the lock then,
 *     unless another request waits, whose thread still needs it.
 * D3. A stretch that was handed back belongs to its owner, with the lock and the batch:
 *     the borrower does not touch the lock any more.
 * D4. Requests of the parent's threads are dropped in a forked child (fork_repair.h).
 *
 * One release runs at most DELEGATE_MOST sections and then grants, so that no thread
 * works for others for ever. After a stretch was handed back, the next requests are
 * granted, twice as many each time: handing back costs more than a grant.
 */
#ifndef HASP_BORROWING_DELEGATE_H
#define HASP_BORROWING_DELEGATE_H

#include "locks/list/descriptor.h"

#define TAIL_QUEUED (TAIL_HELD - 1)

enum { DELEGATE_MOST = 64, DELEGATE_CAUTION = 16, DELEGATE_CAUTION_MOST = 4096 };

extern const struct lock_operations delegate_operations
    __attribute__((visibility("hidden")));

/* The lock's name. Its index follows those of elided locks (borrowing/list.h). */
#define DELEGATE_NAME "delegate"

#endif
