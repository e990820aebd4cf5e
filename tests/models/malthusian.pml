/* SPDX-License-Identifier: MIT */
/*
 * The outer word of the Malthusian lock: barging, one standby, impatience and grants
 * (malthusian.h).
 *
 * Each of THREADS threads locks and unlocks ROUNDS times; the last has a deadline. A
 * standby becomes impatient after PATIENCE vain wake-ups. ADOPTED: thread 1 sleeps on a
 * condition variable, from which thread 0 moves it to the word's sleepers.
 *
 * Assumed: the inner lock admits one at a time (it is mcs.h, checked by itself); all
 * else is about one cell, so coherence is the only ordering needed; the move itself is
 * modelled in requeue.pml. Not modelled: ghosts of a fork.
 *
 * Models: src/locks/malthusian.h malthusian_fast=abbc3f2d malthusian_spin=b49b3630
 * Models: src/locks/malthusian.h malthusian_sleep=06c21f6c
 * Models: src/locks/malthusian.h malthusian_wait=007d962c malthusian_unlock=b03a3ff3
 * Models: src/locks/malthusian.h malthusian_adopt=7fead760
 * Models: src/locks/malthusian.h malthusian_relock=8e4a18c3
 *
 * Run: 3 threads -DTHREADS=3 -DROUNDS=2 -DPATIENCE=1
 * Run: 4 threads -DTHREADS=4 -DROUNDS=1 -DPATIENCE=1
 * Run: from a condition variable -DTHREADS=4 -DROUNDS=1 -DPATIENCE=1 -DADOPTED
 *
 * Bug: NO_WAKE_UP the release wakes nobody: invalid end state
 * Bug: GRANT_WAKES_ONE a grant wakes one sleeper, perhaps another's: invalid end state ADOPTED
 * Bug: LEAVER_STAYS_IMPATIENT who times out leaves IMPATIENT set: assertion violated
 * Bug: LEAVER_IGNORES_GRANT it leaves though it was granted: assertion violated
 * Bug: GRANT_KEPT who was granted leaves GRANTED set: assertion violated
 * Bug: TAKE_WITHOUT who slept takes the lock without SLEEPERS: invalid end state ADOPTED
 * Bug: ADOPT_SILENTLY nobody says that somebody sleeps: invalid end state ADOPTED
 */
#define CELLS 2
#define WORD 0
#define CONDITION 1
#include "memory.pml"

#define HELD 1
#define SLEEPERS 2
#define IMPATIENT 4
#define GRANTED 8
#define STANDBY_BITS 12

/* The inner lock: who stands by. */
bool standby;

/* A loop that repeats a compare-and-exchange until it succeeds is one step here. */

inline spin()
{
    if
    :: d_step {
           !(memory[WORD] & HELD) ->
           memory[WORD] = memory[WORD] | HELD;
           acquired = true
       }
    :: true /* enough */
    fi
}

/* `patient` false: a thread from a condition variable, never impatient. */
inline sleep_and_take(is_standby)
{
    do
    :: atomic {
           seen = memory[WORD];
           if
           :: is_standby && (seen & GRANTED) ->
              acquired = true;
#ifndef BUG_GRANT_KEPT
              memory[WORD] = seen - (seen & STANDBY_BITS)
#endif
           :: else ->
              acquired = !(seen & HELD);
              if
              :: acquired && is_standby -> seen = seen - (seen & STANDBY_BITS)
              :: !acquired && is_standby && wakes >= PATIENCE ->
                 seen = seen | IMPATIENT
              :: else
              fi;
#ifdef BUG_TAKE_WITHOUT
              memory[WORD] = (acquired -> HELD : (seen | HELD | SLEEPERS));
#else
              memory[WORD] = seen | HELD | SLEEPERS;
#endif
           fi;
           seen = memory[WORD]
       };
       if
       :: acquired -> break
       :: else
       fi;
       park(WORD, seen, has_deadline, in_time);
       if
       :: in_time -> d_step { wakes = (wakes < PATIENCE -> wakes + 1 : wakes) }
       :: else ->
          d_step {
#ifdef BUG_LEAVER_IGNORES_GRANT
              in_time = false;
#else
              in_time = (memory[WORD] & GRANTED) != 0;
#endif
#ifndef BUG_LEAVER_STAYS_IMPATIENT
              if
              :: !in_time && (memory[WORD] & GRANTED) == 0 ->
                 memory[WORD] = memory[WORD] - (memory[WORD] & IMPATIENT)
              :: else
              fi
#endif
          };
          if
          :: in_time /* granted while it gave up */
          :: else -> break
          fi
       fi
    od;
    wakes = 0;
    seen = 0
}

inline wait_for_lock()
{
    atomic { !standby -> standby = true };
    spin();
    if
    :: acquired
    :: else -> sleep_and_take(true)
    fi;
    standby = false
}

inline unlock()
{
    d_step {
        acquired = false;
        seen = memory[WORD];
        if
        :: seen & IMPATIENT ->
           memory[WORD] = seen | GRANTED
        :: else -> memory[WORD] = 0
        fi
    };
#ifndef BUG_NO_WAKE_UP
    if
#ifdef BUG_GRANT_WAKES_ONE
    :: seen & IMPATIENT -> unpark_one(WORD)
#else
    :: seen & IMPATIENT -> unpark_all(WORD)
#endif
    :: (seen & SLEEPERS) && !(seen & IMPATIENT) -> unpark_one(WORD)
    :: else
    fi;
#endif
    seen = 0
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
    byte round, seen, wakes, i;
    bool acquired, in_time;
    for (round : 1 .. ROUNDS) {
#ifdef ADOPTED
        if
        :: self == 1 ->
           park(CONDITION, 0, false, in_time);
           memory[CONDITION] == 1; /* a spurious wake-up: it sleeps on */
           sleep_and_take(false)
        :: else ->
#else
        if
        :: true ->
#endif
           compare_exchange(WORD, 0, HELD, acquired);
           if
           :: acquired
           :: else -> wait_for_lock()
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
    finish((memory[WORD] & (HELD | STANDBY_BITS)) == 0)
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
