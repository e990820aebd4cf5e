/* SPDX-License-Identifier: MIT */
/*
 * The default lock: three-state futex with a biased release (futex.h, futex.c).
 *
 * Each of THREADS threads locks and unlocks ROUNDS times; the last has a deadline that
 * may pass whenever it sleeps. WITHOUT_BARRIER: heavy_barrier() fails, and biased
 * waiters sleep in slices. UNBIASED: the plain three-state futex, as in the buckets of
 * the condition variables.
 *
 * Not modelled: buckets shared by locks (which cost needless wake-ups), the path of
 * single-threaded processes, and forks.
 *
 * Models: src/locks/algorithms/futex.h futex_sleep_or_spin=14ae1a51 futex_wait=351c823d
 * Models: src/locks/algorithms/futex.h futex_timedlock=5a59f02b futex_unlock=547cc676
 * Models: src/locks/algorithms/futex.h futex_release=3299863f
 * Models: src/locks/algorithms/futex_spin.h futex_spin_patiently=a4076667
 * Models: src/locks/algorithms/futex_spin.h futex_spin_alone=4b48ad1c
 * Models: src/locks/algorithms/futex_patience.h futex_adapt=78d544bc
 * Models: src/locks/algorithms/futex.c futex_wait_biased=538df476
 *
 * Run: 3 threads -DTHREADS=3 -DROUNDS=2
 * Slow: 4 threads -DTHREADS=4 -DROUNDS=1
 * Run: unbiased -DTHREADS=3 -DROUNDS=2 -DUNBIASED
 * Run: spinning -DTHREADS=3 -DROUNDS=1 -DSPINS -DUNBIASED
 * Run: spinning, biased -DTHREADS=3 -DROUNDS=1 -DSPINS
 * Slow: spinning twice -DTHREADS=3 -DROUNDS=2 -DSPINS -DUNBIASED
 * Slow: four spinning threads -DTHREADS=4 -DROUNDS=1 -DSPINS -DUNBIASED
 * Run: no membarrier -DTHREADS=3 -DROUNDS=1 -DWITHOUT_BARRIER -DALL_SERVED
 *
 * Bug: NO_HEAVY_BARRIER the waiter does not execute the heavy barrier: invalid end state
 * Bug: BARRIER_FIRST it does so before it counts itself: invalid end state
 * Bug: NO_LIGHT_BARRIER the releaser reads the table first: invalid end state
 * Bug: EARLY_FLAG a waiter sets FUTEX_SHARED before it holds the lock: invalid end state
 * Bug: LEAVER_FLAG a waiter that gives up sets FUTEX_SHARED: invalid end state
 * Bug: EARLY_COUNT_OUT the waiter is not counted while it sleeps: invalid end state
 * Bug: TAKE_AS_1 a woken thread stores 1 in the word: invalid end state UNBIASED
 * Bug: SLEEPS_ON_ITS_OWN_3 who relieved a holder sleeps while the word is 3: invalid end state SPINS
 * Bug: RELIEVES_AND_TAKES_AS_1 who relieved a holder stores 1 in the word: invalid end state SPINS
 * Bug: NO_WAKE_UP the exchange's result is ignored: invalid end state UNBIASED
 * Bug: TEST_THEN_SET the word is taken by load and store: assertion violated
 * Bug: NO_SLICES without the barrier it sleeps indefinitely: acceptance cycle WITHOUT_BARRIER
 */
#define CELLS 3
#include "memory.pml"
#include "futex.pml"
#define THE_LOCK 0

proctype locker(byte self; bool has_deadline)
{
    byte round, old, t, taken, spun;
    bool acquired, in_time;
    for (round : 1 .. ROUNDS) {
        futex_timedlock(THE_LOCK);
        if
        :: acquired ->
           critical_section();
           futex_unlock(THE_LOCK)
        :: else -> assert(has_deadline)
        fi
    };
    finish(memory[WORD(THE_LOCK)] == 0 && memory[SLEEPERS(THE_LOCK)] == 0)
}

init
{
    byte n;
    atomic {
        start_memory();
        for (n : 0 .. THREADS - 1) {
            run locker(n, n == THREADS - 1)
        }
    }
}

#ifdef ALL_SERVED
/* With slices no thread sleeps indefinitely, so a lost wake-up is not a deadlock. Checks
 * that all threads are served eventually. */
ltl all_served { <> (finished == THREADS) }
#endif
