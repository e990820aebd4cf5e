/* SPDX-License-Identifier: MIT */
/*
 * The functions by which the lock `delegate` runs the sections of other threads.
 * libhasp-delegate.so does it by switching stacks (preload/borrowing/); libhasp.so
 * never borrows (never.c); the model checker calls the client's section.
 */
#ifndef HASP_BORROWING_RUN_H
#define HASP_BORROWING_RUN_H

#include "borrowing/request.h"

/* How a stretch ended. */
enum stretch_end { STRETCH_UNLOCKED = 1, STRETCH_HANDED_BACK };

/* The owner waits, and offers its section if it can. Returns REQUEST_GRANTED,
 * REQUEST_BORROWED in the stretch (on the borrower's kernel thread; natively), or,
 * where sections are not continuations, how the stretch ended. Gives the request back,
 * except for BORROWED. */
uint32_t borrow_await(struct lock *lock, struct waiter *request);

/* Returns whether the caller, which releases a lock, may borrow now. If so, it calls
 * borrow_end() after its last stretch. */
bool borrow_begin(void);
void borrow_end(void);

/* Returns whether it may borrow another section. */
bool borrow_continues(void);

/* Runs the section of a request that is BORROWED. */
enum stretch_end borrow_run(struct waiter *request);

/* If the caller is in a stretch of this lock, ends it: the caller then continues on the
 * owner's kernel thread. Returns false if it is not. */
bool borrow_unlocks(const struct lock *lock);

#endif
