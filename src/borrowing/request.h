/* SPDX-License-Identifier: MIT */
/*
 * A waiter's request under the lock `delegate`: transparent delegation of critical
 * sections. Gupta, Prabhu, Maity et al., "Ship your Critical Section, Not Your Data:
 * Enabling Transparent Delegation with TCLOCKS", OSDI 2023, does it in the kernel.
 *
 * A waiter parks its registers on its own stack and offers them. The thread that
 * releases the lock may continue there: it runs the waiter's section itself, on the
 * waiter's stack and with the waiter's thread pointer, up to the unlock. Thus thread-
 * local variables, errno, stack protector and pthread_self() are the waiter's, while
 * the lock and the data that it guards stay in the cache of the borrower's CPU.
 *
 *   owner      the thread whose section it is
 *   borrower   the thread that runs it
 *   stretch    what the borrower runs: from the owner's lock() to its unlock(), or to
 *              the point where the context is handed back
 *
 * `cell` of the request (a struct waiter) is one of these, with REQUEST_ASLEEP if the
 * owner's kernel thread sleeps on it:
 *
 *   WAITING      queued, not offered: the owner has a deadline, may be cancelled at any
 *                instant, or runs a signal handler
 *   OFFERED      queued; the owner's registers are parked
 *   BORROWED     the borrower runs the stretch; it alone uses the owner's stack and
 *                thread pointer
 *   RETURNED     the stretch ended with the unlock: the owner continues after it
 *   HANDED_BACK  the stretch ended before: the owner continues where it stopped, and
 *                holds the lock
 *   GRANTED      the lock was handed over: the owner runs its section itself
 *   LEFT         timed out; the next holder that finds it gives the request back
 *
 *   WAITING  -> OFFERED, LEFT    the owner        OFFERED  -> WAITING    the owner
 *   WAITING  -> GRANTED          the holder       OFFERED  -> BORROWED, GRANTED   the
 *   BORROWED -> RETURNED, HANDED_BACK   the borrower                           holder
 *
 * R1. A request has one user of the owner's stack at any time: the owner's kernel
 *     thread up to OFFERED and from RETURNED, HANDED_BACK or GRANTED on, the borrower
 *     in between. While it is OFFERED or BORROWED, the owner's kernel thread waits on a
 *     stack of its own.
 * R2. The owner offers with a release after it has parked its registers; the borrower's
 *     acquire, in the exchange to BORROWED, pairs with it.
 * R3. The borrower ends a stretch with a release after it has left the owner's stack
 *     (request_finish); the owner's acquire in request_wait pairs with it. So the owner
 *     sees all that its own section has done.
 * R4. A grant is a release by the holder (request_finish) that pairs with the owner's
 *     acquire in request_wait.
 * R5. The owner enters the queue with a release (delegate.c, enqueue), which pairs with
 *     the acquire of the holder that takes the arrivals; what others add meanwhile
 *     continues the release sequence.
 * R6. After the exchange that ends a wait, nobody but the owner uses the request, and
 *     only by address in unpark().
 */
#ifndef HASP_BORROWING_REQUEST_H
#define HASP_BORROWING_REQUEST_H

#include "locks/waiting/policies.h"

enum request_state {
    REQUEST_WAITING = WAITER_WAITING,
    REQUEST_GRANTED = WAITER_GRANTED,
    REQUEST_LEFT = WAITER_LEFT,
    REQUEST_OFFERED = 16,
    REQUEST_BORROWED,
    REQUEST_RETURNED,
    REQUEST_HANDED_BACK,
    REQUEST_ASLEEP = 64,
};

static inline uint32_t request_state(uint32_t cell)
{
    return cell & ~(uint32_t)REQUEST_ASLEEP;
}

/* Changes the state, and keeps REQUEST_ASLEEP. Returns false if it is another one. */
static inline bool request_change(struct waiter *request, uint32_t from, uint32_t to)
{
    uint32_t cell = from;
    if (compare_exchange_acq_rel(&request->cell, &cell, to))
        return true;
    return cell == (from | REQUEST_ASLEEP) &&
           compare_exchange_acq_rel(&request->cell, &cell, to | REQUEST_ASLEEP);
}

/* Ends the owner's wait. Returns the state that the request had. */
static inline uint32_t request_finish(struct waiter *request, uint32_t state)
{
    uint32_t was = exchange_acq_rel(&request->cell, state);
    release_window();
    if (was & REQUEST_ASLEEP)
        unpark(&request->cell, 1);
    return request_state(was);
}

static inline bool request_lasts(uint32_t cell, uint32_t first)
{
    uint32_t state = request_state(cell);
    return state == first || (first == REQUEST_OFFERED && state == REQUEST_BORROWED);
}

/*
 * Sleeps or spins until the request is neither `first` (WAITING or OFFERED) nor, if
 * offered, BORROWED. Returns its state; `first` if the deadline has passed.
 */
static inline uint32_t request_wait(struct waiter *request, uint32_t first,
                                    uint32_t spins, const struct deadline *deadline)
{
    uint32_t cell;
    for (; spins; spins -= relax_at_most(spins)) {
        cell = load_acquire(&request->cell);
        if (!request_lasts(cell, first))
            return request_state(cell);
    }
    while (request_lasts(cell = load_acquire(&request->cell), first)) {
        if (!(cell & REQUEST_ASLEEP) &&
            !compare_exchange_relaxed(&request->cell, &cell, cell | REQUEST_ASLEEP))
            continue;
        if (!park(&request->cell, cell | REQUEST_ASLEEP, deadline))
            return first;
    }
    return request_state(cell);
}

/* Waits for the grant of a request that is not offered, and gives the request back.
 * Returns REQUEST_GRANTED. */
static inline uint32_t request_await_grant(struct waiter *request)
{
    while (request_wait(request, REQUEST_WAITING, spin_limit(), NULL) !=
           REQUEST_GRANTED)
        ;
    waiter_give(request);
    return REQUEST_GRANTED;
}

#endif
