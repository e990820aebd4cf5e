/* SPDX-License-Identifier: MIT */
/*
 * MUTEXEE: spinners counted in the word, wake-ups that they make needless (mutexee.h).
 *
 * Each of THREADS threads locks and unlocks ROUNDS times; the last has a deadline. A
 * spinner may run out of patience at any turn. ADOPTED: the last thread sleeps on a
 * condition variable, from which thread 0 moves it to the word's sleepers.
 *
 * Assumed: all is about one cell, so coherence is the only ordering needed; the move
 * itself is modelled in requeue.pml. Not modelled: ghosts of a fork.
 *
 * Models: src/locks/mutexee.h mutexee_trylock=14a68e15 mutexee_spin=d1198c6c
 * Models: src/locks/mutexee.h mutexee_sleep=d06709f5 mutexee_wait=7bc48521
 * Models: src/locks/mutexee.h mutexee_unlock=647be1bf mutexee_adopt=d116757d
 * Models: src/locks/mutexee.h mutexee_relock=4a5db7b1
 *
 * Run: 3 threads -DTHREADS=3 -DROUNDS=2
 * Run: 4 threads -DTHREADS=4 -DROUNDS=1
 * Run: from a condition variable -DTHREADS=3 -DROUNDS=1 -DADOPTED
 *
 * Bug: NO_WAKE_UP the release wakes nobody: invalid end state
 * Bug: SKIP_ALWAYS a release with spinners forgets the sleepers: invalid end state
 * Bug: SPINNER_GIVES_UP a spinner times out without looking: invalid end state
 * Bug: COUNT_KEPT a spinner that sleeps stays counted: assertion violated
 * Bug: NO_SLEEPERS a spinner sleeps without saying so: invalid end state
 * Bug: TAKE_WITHOUT who slept takes the lock without SLEEPERS: invalid end state
 * Bug: TAKE_HELD a spinner does not look whether it is held: assertion violated
 * Bug: LEAVER_CLEARS who times out clears SLEEPERS: invalid end state
 * Bug: ADOPT_SILENTLY nobody says that somebody sleeps: invalid end state ADOPTED
 */
#define CELLS 2
#define WORD 0
#define CONDITION 1
#include "memory.pml"

#define HELD 1
#define SLEEPERS 2
#define SPINNER 4

/* A loop that repeats a compare-and-exchange until it succeeds is one step here. */

inline trylock()
{
    d_step {
        drain(self);
        acquired = !(memory[WORD] & HELD);
        memory[WORD] = memory[WORD] | HELD
    }
}

/* Until acquired, or no longer counted and the word had HELD and SLEEPERS. */
inline spin()
{
    fetch_add(WORD, SPINNER);
    do
#ifdef BUG_TAKE_HELD
    :: d_step { true ->
#else
    :: d_step { !(memory[WORD] & HELD) ->
#endif
           memory[WORD] = (memory[WORD] - SPINNER) | HELD;
           acquired = true
       };
       break
    :: d_step {
           true -> /* enough */
#ifndef BUG_COUNT_KEPT
           memory[WORD] = memory[WORD] - SPINNER;
#endif
           acquired = !(memory[WORD] & HELD);
           if
           :: acquired -> memory[WORD] = memory[WORD] | HELD
#ifndef BUG_NO_SLEEPERS
           :: else -> memory[WORD] = memory[WORD] | SLEEPERS
#else
           :: else
#endif
           fi
       };
       break
#ifdef BUG_SPINNER_GIVES_UP
    :: d_step { has_deadline -> memory[WORD] = memory[WORD] - SPINNER };
       in_time = false;
       break
#endif
    od
}

inline sleep_and_take()
{
    do
    :: d_step {
           acquired = !(memory[WORD] & HELD);
#ifdef BUG_TAKE_WITHOUT
           memory[WORD] = memory[WORD] | HELD;
           if
           :: acquired -> memory[WORD] = memory[WORD] - (memory[WORD] & SLEEPERS)
           :: else -> memory[WORD] = memory[WORD] | SLEEPERS
           fi;
#else
#ifdef BUG_NO_SLEEPERS
           memory[WORD] = memory[WORD] | HELD;
#else
           memory[WORD] = memory[WORD] | HELD | SLEEPERS;
#endif
#endif
           wanted = memory[WORD]
       };
       if
       :: acquired -> break
       :: else
       fi;
       park(WORD, wanted, has_deadline, in_time);
       if
       :: in_time
       :: else ->
#ifdef BUG_LEAVER_CLEARS
          memory[WORD] = memory[WORD] - (memory[WORD] & SLEEPERS);
#endif
          break
       fi
    od;
    wanted = 0
}

inline unlock()
{
    d_step {
        acquired = false;
        wake = (memory[WORD] < SPINNER && (memory[WORD] & SLEEPERS));
        if
        :: memory[WORD] >= SPINNER ->
           memory[WORD] = memory[WORD] - HELD;
#ifdef BUG_SKIP_ALWAYS
           memory[WORD] = memory[WORD] - (memory[WORD] & SLEEPERS)
#endif
        :: else -> memory[WORD] = 0
        fi
    };
#ifndef BUG_NO_WAKE_UP
    if
    :: wake -> unpark_one(WORD)
    :: else
    fi;
#endif
    wake = false
}

inline adopt()
{
#ifndef BUG_ADOPT_SILENTLY
    d_step { memory[WORD] = memory[WORD] | SLEEPERS };
#endif
    d_step { memory[CONDITION] = 1 };
    requeue_one(CONDITION, 1, WORD)
}

proctype locker(byte self; bool has_deadline)
{
    byte round, wanted;
    bool acquired, wake, in_time;
    for (round : 1 .. ROUNDS) {
#ifdef ADOPTED
        if
        :: self == THREADS - 1 ->
           park(CONDITION, 0, false, in_time);
           memory[CONDITION] == 1; /* a spurious wake-up: it sleeps on */
           sleep_and_take()
        :: else ->
#else
        if
        :: true ->
#endif
           in_time = true;
           trylock();
           if
           :: !acquired -> spin()
           :: else
           fi;
           if
           :: !acquired && in_time -> sleep_and_take()
           :: else
           fi
        fi;
        if
        :: acquired ->
           critical_section();
#ifdef ADOPTED
           if
           :: self == 0 -> adopt()
           :: else
           fi;
#endif
           unlock()
        :: else -> assert(has_deadline)
        fi
    };
    finish(!(memory[WORD] & HELD) && memory[WORD] < SPINNER)
}

init
{
    byte n;
    atomic {
        start_memory();
        for (n : 0 .. THREADS - 1) {
#ifdef ADOPTED
            run locker(n, false)
#else
            run locker(n, n == THREADS - 1)
#endif
        }
    }
}
