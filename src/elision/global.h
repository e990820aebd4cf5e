/* SPDX-License-Identifier: MIT */
/*
 * Global mode: all mutexes of the process are one recursive lock, which is elided if
 * there are transactions. It shows what elision alone makes of a program without
 * fine-grained locks (Moore's thesis, sections 4.1 and 5.2).
 *
 * Programs may rely on two mutexes being two. So a thread that waits for too long
 * ends the mode for the whole process (the watchdog):
 *
 * G1. A thread that has acquired the one lock publishes its record as `holder`, which
 *     lists the mutexes that it holds. A record is only changed by its thread, between
 *     busy = true and busy = false, and only while the scope is GLOBAL.
 * G2. The watchdog sets the scope to CHANGING, executes a full fence, and waits until
 *     the holder, if there is one, is not busy. The holder executes a full fence after
 *     busy = true, and then reads the scope. So either the watchdog sees it busy, or
 *     the holder sees the change and waits for its end.
 * G3. The watchdog then acquires each mutex that the holder lists, on its behalf. They
 *     are free, since no mutex has been acquired by itself so far.
 * G4. It sets the scope to FINE. From then on, every mutex is a lock of its own, the
 *     algorithm that was to be elided. Whoever acquires the one lock later releases it
 *     at once.
 * G5. A transaction reads the scope, so the change aborts it.
 */
#ifndef HASP_ELISION_GLOBAL_H
#define HASP_ELISION_GLOBAL_H

#include "locks/list/descriptor.h"

/* The operations of every mutex in global mode. */
extern const struct lock_operations global_operations;

/* Prepares the mode, with `algorithm` for the one lock and, after a change to FINE, for
 * each mutex. Without `elides`, no section is elided. */
void global_prepare(const struct lock_operations *algorithm, const char *name,
                    bool elides);

/* Returns whether the watchdog has ended the mode. */
bool global_has_ended(void);

/* Prints that the section because of which the watchdog ended the mode has never ended,
 * if that is so. Called when the process ends. */
void global_report(void);

/* Called in the child of a fork. */
void global_forked(void);

#endif
