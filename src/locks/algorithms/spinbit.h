/* SPDX-License-Identifier: MIT */
/*
 * Spinbit mutex: one designated spinner, the others sleep. After the mutex of the Go
 * runtime since 1.24: R. Hiltner, "runtime: improve scaling of lock2", proposal 68578
 * of the Go project, 2024.
 *
 * Idea: one waiter that spins is enough to take a released lock at once; more of them
 * only contend for its cache line, and waking a sleeper while one spins is in vain. So
 * a bit says that somebody spins: then others go to sleep without spinning, and a
 * release wakes nobody. It is MUTEXEE with at most one spinner.
 *
 * What differs: Go keeps a stack of sleepers, wakes the latest, and now and then the
 * oldest against starvation. Here they sleep in the kernel's queue for the word, so the
 * oldest is woken, as seldom as a spinner allows; nothing has to be unlinked when a
 * timed waiter gives up, or found after the release.
 *
 * The bits of state[0] are barging.h's, with the invariants B1 to B4:
 *
 *   HELD       by its holder
 *   SLEEPERS   somebody may sleep on the word
 *   IMPATIENT  set by one sleeper while HELD: the next release is a grant to it
 *   GRANTED    with HELD, after such a release
 *   bit 4      somebody spins
 *   state[1]   wake-ups skipped in a row
 *
 * I1. Bit 4 is set only where it was not, so there is at most one spinner, and the bits
 *     above it stay 0.
 */
#ifndef HASP_LOCKS_ALGORITHMS_SPINBIT_H
#define HASP_LOCKS_ALGORITHMS_SPINBIT_H

#include "locks/algorithms/mutexee.h"

enum { SPINBIT_SPINNERS = 1 };

#endif
