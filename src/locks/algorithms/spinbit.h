/* SPDX-License-Identifier: MIT */
/*
 * Spinbit mutex: one designated waiter spins, the others sleep. Modelled on the mutex
 * of the Go runtime since version 1.24: R. Hiltner, "runtime: improve scaling of
 * lock2", proposal 68578 of the Go project, 2024.
 *
 * Idea: one spinning waiter is enough to take a released lock at once; further ones
 * only contend for its cache line, and waking a sleeper while one spins is wasted. So a
 * bit shows that a thread spins. While it is set, other threads sleep without spinning,
 * and a release wakes no thread. It is MUTEXEE with at most one spinner.
 *
 * Differences: Go keeps a stack of sleepers, wakes the latest and, against starvation,
 * occasionally the oldest. Here threads sleep in the kernel's queue for the word, so a
 * wake-up reaches the oldest, and only if no thread spins; a timed waiter that gives up
 * has nothing to unlink, and a releaser has nothing to search after the release.
 *
 * The bits of state[0] are those of barging.h, with the invariants B1 to B4:
 *
 *   HELD       set while held
 *   SLEEPERS   threads may be asleep on the word
 *   IMPATIENT  set by one sleeper while HELD: the next release grants the lock to it
 *   GRANTED    with HELD, after such a release
 *   bit 4      a thread spins
 *   state[1]   wake-ups skipped in a row
 *
 * I1. Bit 4 is set only if it was clear, so there is at most one spinner, and the bits
 *     above it stay 0.
 *
 * The spinner takes a lock that threads return to at once as soon as it can; that of
 * futex.h measures whether to leave it to its users. 8 threads that pass such a lock on
 * take 2.4 times (1.7 to 3.5) as long as with glibc's mutex (`hasp compare --threads 8
 * --runs 7` on two CPUs, OCaml's counter of docs/studies/advice/unseen2.toml); futex
 * takes 0.99 times.
 */
#ifndef HASP_LOCKS_ALGORITHMS_SPINBIT_H
#define HASP_LOCKS_ALGORITHMS_SPINBIT_H

#include "locks/algorithms/mutexee.h"

enum { SPINBIT_SPINNERS = 1 };

#endif
