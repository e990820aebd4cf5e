/* SPDX-License-Identifier: MIT */
/*
 * A holder moves a thread from a condition variable to the sleepers of its lock:
 * end_condition_stay() and move_to_sleepers() of policies.h, the default lock's adopt
 * and relock, and the wait around them (condition/wait.h).
 *
 * waiter(lock) acquires its lock, queues itself with a waiter from the pool, releases,
 * sleeps until signalled, acquires again and releases. signaller(lock) starts once a
 * thread is queued, acquires, dequeues the eldest, hands over and releases.
 * locker(lock) acquires and releases. The pool has NODES waiters. With a single one the
 * next wait, on any lock, gets the waiter that the previous one has just given back,
 * while its signaller may still be using it.
 *
 * A patient waiter that is awake is woken, not moved (condition_stays_away()).
 *
 * Assumed: the buckets of the condition variables are a lock (one step here), and a
 * pool never runs out (a thread that finds it empty waits here).
 *
 * Models: src/locks/waiting/policies.h end_condition_stay=06346720 move_to_sleepers=bd235c91
 * Models: src/locks/algorithms/futex.h futex_adopt=3a8e69a0 futex_relock=b5091613
 * Models: src/locks/algorithms/futex.h futex_retake=6b9756d9
 * Models: src/condition/wait.h condition_begin=c7cab032 condition_stays_away=4b1eb73b
 * Models: src/condition/wait.h condition_hand_over=fd6ac6a3
 * Models: src/condition/wait.h condition_sleep=c8be9cc0 condition_outcome=406cc016
 * Models: src/condition/wait.h condition_reacquire=ddb6074d
 *
 * Run: two locks, one waiter in turn -DTHREADS=4 -DNODES=1 -DTWO_LOCKS
 * Run: others lock meanwhile -DTHREADS=3 -DNODES=1 -DLOCKER
 * Slow: signalled without the mutex -DTHREADS=4 -DNODES=1 -DTWO_LOCKS -DUNLOCKED_SIGNAL
 * Slow: broadcast to two -DTHREADS=3 -DNODES=2 -DBROADCAST
 * Run: a patient waiter -DTHREADS=3 -DNODES=1 -DLOCKER -DPATIENT
 * Run: a wait times out -DTHREADS=3 -DNODES=1 -DLOCKER -DTIMED
 *
 * Bug: NO_EPOCH all waits of a waiter are indistinguishable: invalid end state TWO_LOCKS
 * Bug: LATE_EPOCH it is read after the waiter was released: invalid end state TWO_LOCKS
 * Bug: NO_FENCE `asleep` is read before the exchange: invalid end state
 * Bug: LATE_ASLEEP the sleeper sets `asleep` once it is asleep: invalid end state
 * Bug: NO_REQUEUE the sleeper is not moved: invalid end state
 * Bug: ADOPT_AS_1 the word does not show that a thread sleeps: invalid end state
 * Bug: NO_FLAG the lock stays biased: invalid end state
 * Bug: RELOCK_AS_1 a thread that slept among others stores 1 in the word: invalid end state BROADCAST
 * Bug: PATIENT_IS_AWAKE a patient waiter is not woken: invalid end state PATIENT
 * Bug: NO_UNPARK a signaller without the mutex wakes no thread: invalid end state UNLOCKED_SIGNAL
 */
#define CELLS (6 + 2 * NODES)
#include "memory.pml"
#include "futex.pml"

/* A waiter's cell holds a state and, above it, the epoch. */
#define CELL(n) (6 + 2 * (n))
#define ASLEEP(n) (7 + 2 * (n))
#define IN_CONDITION 1
#define REQUEUED 2
#define WOKEN 3
#define STATE(cell) ((cell) % 4)

#define NOBODY 255

typedef node {
    bool taken;
    byte epoch /* times 4 */
}
node nodes[NODES];

/* The waiters on each lock's condition variable, oldest first. */
chan queue[2] = [2] of { byte };

/* Waits that have not been signalled yet, so that no signal comes too early. */
byte signals[2];

inline take_node(n)
{
    atomic {
        if
        :: !nodes[0].taken -> n = 0
#if NODES > 1
        :: !nodes[1].taken -> n = 1
#endif
        fi;
        nodes[n].taken = true
    };
    plain_store(ASLEEP(n), 0);
#ifndef BUG_NO_EPOCH
    nodes[n].epoch = nodes[n].epoch + 4;
#endif
    waiting_cell = IN_CONDITION + nodes[n].epoch
}

inline give_node(n)
{
    d_step { drain(self); nodes[n].taken = false };
    n = 0
}

/* Sets the cell; reports whether the thread may be asleep. */
inline end_condition_stay(n, state)
{
#ifdef BUG_NO_FENCE
    asleep = LOAD(ASLEEP(n));
#endif
    exchange(CELL(n), state + nodes[n].epoch, old);
#ifndef BUG_NO_FENCE
    asleep = LOAD(ASLEEP(n))
#endif
}

inline futex_adopt(lock, n)
{
#ifndef BUG_NO_FLAG
    plain_store(MODE(lock), 1);
#endif
#ifndef BUG_ADOPT_AS_1
    plain_store(WORD(lock), 2);
#endif
    moved = REQUEUED + nodes[n].epoch;
    end_condition_stay(n, REQUEUED);
#ifdef BUG_LATE_EPOCH
    moved = REQUEUED + nodes[n].epoch;
#endif
#ifndef BUG_NO_REQUEUE
    if
    :: asleep != 0 -> requeue_one(CELL(n), moved, WORD(lock))
    :: else
    fi;
#endif
    asleep = 0;
    moved = 0
}

inline futex_relock(lock)
{
    if
    :: LOAD(WORD(lock)) == 0 ->
#ifdef BUG_RELOCK_AS_1
       compare_exchange(WORD(lock), 0, 1, acquired)
#else
       compare_exchange(WORD(lock), 0, 2, acquired)
#endif
    :: acquired = false /* enough spinning */
    fi;
    if
    :: acquired
    :: else -> spun = IN_VAIN; futex_wait(lock)
    fi
}

inline hold_and_unlock(lock)
{
    d_step { holders[lock]++; assert(holders[lock] == 1) };
    holders[lock]--;
    futex_unlock(lock);
    acquired = false
}
byte holders[2];

inline condition_sleep(n)
{
#ifndef BUG_LATE_ASLEEP
    plain_store(ASLEEP(n), 1);
#endif
    do
    :: park(CELL(n), waiting_cell, timed, in_time);
#ifdef BUG_LATE_ASLEEP
       plain_store(ASLEEP(n), 1);
#endif
       if
       :: !in_time ->
          atomic {
              withdrawn = queue[lock]??[eval(n)];
              if
              :: withdrawn -> queue[lock]??eval(n)
              :: else
              fi
          };
          break
       :: in_time && LOAD(CELL(n)) != waiting_cell -> break
       :: in_time && LOAD(CELL(n)) == waiting_cell
       fi
    od
}

inline condition_reacquire(lock, n)
{
    old = WOKEN;
    if
    :: withdrawn
    :: else ->
       LOAD(CELL(n)) != waiting_cell;
       old = STATE(LOAD(CELL(n)))
    fi;
    give_node(n);
    waiting_cell = 0;
    if
    :: old == REQUEUED -> futex_relock(lock)
    :: old != REQUEUED -> futex_timedlock(lock)
    fi
}

proctype waiter(byte self; byte lock; bool timed)
{
    byte n, old, t, taken, spun, waiting_cell;
    bool acquired, in_time, withdrawn, has_deadline; /* the mutex: none */
    compare_exchange(WORD(lock), 0, 1, acquired);
    if
    :: acquired
    :: else -> futex_wait(lock)
    fi;
    take_node(n);
    plain_store(CELL(n), waiting_cell);
    d_step { drain(self); queue[lock]!n; signals[lock]++ };
    futex_unlock(lock);
    acquired = false;
    condition_sleep(n);
    condition_reacquire(lock, n);
    hold_and_unlock(lock)
}

inline wake(n)
{
    end_condition_stay(n, WOKEN);
#if !defined(BUG_NO_UNPARK) && !defined(BUG_PATIENT_IS_AWAKE)
    if
    :: asleep != 0 -> unpark_one(CELL(n))
    :: else
    fi;
#endif
    asleep = 0
}

inline hand_over(lock, n)
{
#ifdef UNLOCKED_SIGNAL
    wake(n)
#else
#ifdef PATIENT
    if
    :: LOAD(ASLEEP(n)) == 0 -> wake(n)
    :: else -> futex_adopt(lock, n)
    fi
#else
    futex_adopt(lock, n)
#endif
#endif
}

proctype signaller(byte self; byte lock; byte waits)
{
    byte n, m, old, t, taken, spun, asleep, moved;
    bool acquired, in_time, has_deadline;
    signals[lock] == waits;
#ifndef UNLOCKED_SIGNAL
    futex_timedlock(lock);
#endif
    atomic {
        drain(self);
        if
        :: queue[lock]?n
        :: empty(queue[lock]) -> n = NOBODY
        fi;
        if
        :: queue[lock]?m
        :: empty(queue[lock]) -> m = NOBODY
        fi
    };
    if
    :: n != NOBODY -> hand_over(lock, n)
    :: else
    fi;
#ifdef BROADCAST
    if
    :: m != NOBODY -> hand_over(lock, m)
    :: else
    fi;
#endif
#ifndef UNLOCKED_SIGNAL
    hold_and_unlock(lock)
#endif
}

proctype locker(byte self; byte lock)
{
    byte old, t, taken, spun;
    bool acquired, in_time, has_deadline;
    futex_timedlock(lock);
    hold_and_unlock(lock)
}

init
{
    byte n;
    atomic {
        start_memory();
#ifdef TIMED
        run waiter(0, 0, true);
#else
        run waiter(0, 0, false);
#endif
#ifdef BROADCAST
        run signaller(1, 0, 2);
        run waiter(2, 0, false);
#else
        run signaller(1, 0, 1);
#endif
#ifdef LOCKER
        run locker(2, 0);
#endif
#ifdef TWO_LOCKS
        run waiter(2, 1, false);
        run signaller(3, 1, 1);
#endif
    }
}
