/* SPDX-License-Identifier: MIT */
/*
 * Waiting in a queue, being granted the lock, and leaving (policies.h), as in all queue
 * locks; and a thread that a holder moves from a condition variable into the queue
 * (mcs_adopt, mcs_adopted).
 *
 * Thread 0 holds the lock, the others are queued behind it in order; each has one cell.
 * A holder grants the next thread that has not left. With ADOPTED the last thread
 * sleeps on a condition variable, and thread 0 queues it before it releases. With SPIN
 * the waiters spin, and those without a deadline are granted by a store. TIMED is the
 * set of threads, one bit each, that may leave. GRANTED stands for HANDED_OVER, too:
 * for the waiter they differ in the word of the lock only.
 *
 * Assumed: the queue itself (the checked platform covers its links). Every step
 * concerns a single cell, so the order of accesses to different cells does not matter.
 *
 * Models: src/locks/waiting/policies.h wait_for_grant=929ac08d grant_as=c65adefb grant=04d904d0 leave=f9c67d05
 * Models: src/locks/algorithms/mcs.h mcs_adopt=e8215831 mcs_adopted=9f2eff2f
 *
 * Run: sleepers -DTHREADS=4 -DTIMED=6
 * Run: spinners -DTHREADS=4 -DTIMED=4 -DSPIN
 * Run: from a condition variable -DTHREADS=3 -DTIMED=2 -DADOPTED
 *
 * Bug: NO_UNPARK the granter wakes no thread: invalid end state
 * Bug: EARLY_UNPARK it does so before it grants: invalid end state
 * Bug: STORE_GRANT it grants a waiter that may leave by a store: invalid end state SPIN
 * Bug: STORE_PARKED the waiter announces parking by a store: invalid end state
 * Bug: STORE_LEFT it leaves by a store: invalid end state
 * Bug: LEFT_IS_GRANTED the granter does not check for LEFT: invalid end state
 * Bug: GRANT_TWICE it grants the next although the grant was taken: assertion violated
 * Bug: ADOPT_WAITING an adopted waiter is not marked as sleeping: invalid end state ADOPTED
 */
#define CELLS THREADS
#define CELL(i) (i)
#include "memory.pml"

#define WAITING 0
#define PARKED 1
#define GRANTED 2
#define LEFT 3
#define IN_CONDITION 4

#define STILL_WAITING(state) ((state) == WAITING || (state) == PARKED)
#define MAY_LEAVE(i) ((TIMED >> (i)) & 1)
#ifdef SPIN
#define MAY_CHANGE(i) MAY_LEAVE(i)
#else
#define MAY_CHANGE(i) true
#endif

/* Sets `state` to WAITING if the deadline has passed. */
inline wait_for_grant()
{
#ifdef SPIN
    if
    :: !STILL_WAITING(LOAD(CELL(self))) -> state = LOAD(CELL(self))
    :: MAY_LEAVE(self) -> state = WAITING
    fi
#else
    state = LOAD(CELL(self));
    if
    :: !STILL_WAITING(state)
    :: STILL_WAITING(state) ->
#ifdef BUG_STORE_PARKED
       plain_store(CELL(self), PARKED);
#else
       compare_exchange(CELL(self), WAITING, PARKED, ok);
#endif
       do
       :: state = LOAD(CELL(self));
          if
          :: state != PARKED -> break
          :: else
          fi;
          park(CELL(self), PARKED, MAY_LEAVE(self), in_time);
          if
          :: in_time
          :: else ->
             state = LOAD(CELL(self));
             state = (STILL_WAITING(state) -> WAITING : state);
             break
          fi
       od
    fi
#endif
}

/* Sets `left` to false if the lock was granted first. */
inline leave()
{
    left = false;
    state = LOAD(CELL(self));
    do
    :: STILL_WAITING(state) ->
#ifdef BUG_STORE_LEFT
       plain_store(CELL(self), LEFT);
       left = true;
#else
       compare_exchange(CELL(self), state, LEFT, left);
#endif
       if
       :: left -> break
       :: else -> state = LOAD(CELL(self))
       fi
    :: else -> break
    od
}

/* Sets `granted` to false if that waiter has left. */
inline grant(i)
{
#ifdef BUG_EARLY_UNPARK
    unpark_one(CELL(i));
#endif
    if
#ifdef BUG_STORE_GRANT
    :: true ->
#else
    :: !MAY_CHANGE(i) ->
#endif
       plain_store(CELL(i), GRANTED);
       granted = true
#ifndef BUG_STORE_GRANT
    :: MAY_CHANGE(i) ->
       exchange(CELL(i), GRANTED, old);
#if !defined(BUG_NO_UNPARK) && !defined(BUG_EARLY_UNPARK)
       if
       :: old == PARKED -> unpark_one(CELL(i))
       :: else
       fi;
#endif
#ifdef BUG_LEFT_IS_GRANTED
       granted = true
#else
       granted = (old != LEFT)
#endif
#endif
    fi
}

inline unlock()
{
    next = self + 1;
    do
    :: next < THREADS ->
       grant(next);
       next++;
       if
#ifndef BUG_GRANT_TWICE
       :: granted -> break
#endif
       :: else
       fi
    :: else -> break
    od
}

proctype waiter(byte self)
{
    byte state, old, next;
    bool ok, left, granted, in_time;
#ifdef ADOPTED
    if
    :: self == THREADS - 1 ->
       do
       :: park(CELL(self), IN_CONDITION, false, in_time);
          if
          :: LOAD(CELL(self)) != IN_CONDITION -> break
          :: else
          fi
       od
    :: self == 0 ->
#ifdef BUG_ADOPT_WAITING
       plain_store(CELL(THREADS - 1), WAITING)
#else
       plain_store(CELL(THREADS - 1), PARKED)
#endif
    :: else
    fi;
#endif
    if
    :: self != 0 ->
       wait_for_grant();
       if
       :: state == WAITING -> leave()
       :: else
       fi
    :: else
    fi;
    if
    :: !left ->
       critical_section();
       unlock()
    :: else -> assert(MAY_LEAVE(self))
    fi;
    finish(true)
}

init
{
    byte n;
    atomic {
#ifdef ADOPTED
        memory[CELL(THREADS - 1)] = IN_CONDITION;
#endif
        start_memory();
        for (n : 0 .. THREADS - 1) {
            run waiter(n)
        }
    }
}
