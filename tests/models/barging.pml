/* SPDX-License-Identifier: MIT */
/*
 * A word acquired by barging (barging.h): spinners counted in the word and the wake-ups
 * that they make unnecessary, impatient sleepers and grants; as used by mutexee,
 * spinbit and malthusian.
 *
 * THREADS threads lock and unlock, the first one ROUNDS times; the last has a deadline.
 * At most MOST threads spin at a time, and may run out of patience at any spin. A
 * sleeper becomes impatient after PATIENCE vain wake-ups. INNER: a thread that fails
 * takes an inner lock first, and so does the only one that may become impatient
 * (malthusian). ADOPTED: thread 1 sleeps on a condition variable, from which thread 0
 * moves it to the word's sleepers.
 *
 * Assumed: the inner lock admits one thread at a time (mcs.h, checked separately).
 * Everything else concerns one cell, so coherence is the only ordering needed; the move
 * itself is modelled in requeue.pml. A wake-up is skipped at most once in a row. Not
 * modelled: repair after a fork, the form that only spins.
 *
 * Models: src/locks/algorithms/barging.h barging_fast=ccbda08d barging_trylock=d2ed7775
 * Models: src/locks/algorithms/barging.h barging_spin=ab00d906 barging_wait=86b6cd45
 * Models: src/locks/algorithms/barging.h barging_calm_down=eec2e09d barging_release=01e4eccb
 * Models: src/locks/algorithms/barging.h barging_adopt=646778f3
 * Models: src/locks/algorithms/mutexee.h mutexee_wait=1c436dc9 mutexee_unlock_wanted=95dcd04d
 * Models: src/locks/algorithms/mutexee.h mutexee_unlock=91055ab2
 * Models: src/locks/algorithms/mutexee.h mutexee_relock=7b486e19
 * Models: src/locks/algorithms/malthusian.h malthusian_spin=d5b8a47d malthusian_wait=542e88a0
 * Models: src/locks/algorithms/malthusian.h malthusian_unlock=79792da6
 * Models: src/locks/algorithms/malthusian.h malthusian_relock=2f0dece5
 *
 * Run: mutexee -DTHREADS=3 -DROUNDS=1 -DMOST=9 -DPATIENCE=1
 * Run: spinbit -DTHREADS=3 -DROUNDS=1 -DMOST=1 -DPATIENCE=1
 * Run: malthusian -DTHREADS=3 -DROUNDS=2 -DMOST=0 -DPATIENCE=1 -DINNER
 * Run: mutexee, adopted -DTHREADS=3 -DROUNDS=1 -DMOST=9 -DPATIENCE=1 -DADOPTED
 * Run: malthusian, adopted -DTHREADS=4 -DROUNDS=1 -DMOST=0 -DPATIENCE=1 -DINNER -DBOTH
 * Slow: mutexee, again -DTHREADS=3 -DROUNDS=2 -DMOST=9 -DPATIENCE=1
 * Slow: spinbit, again -DTHREADS=3 -DROUNDS=2 -DMOST=1 -DPATIENCE=1
 *
 * Bug: NO_WAKE_UP the release wakes no thread: invalid end state
 * Bug: SKIP_FORGETS a release with spinners forgets the sleepers: invalid end state
 * Bug: SPINNER_GIVES_UP a spinner times out without reading the word: invalid end state
 * Bug: COUNT_KEPT a spinner that sleeps stays counted: assertion violated
 * Bug: NO_SLEEPERS a sleeper does not set SLEEPERS: invalid end state
 * Bug: SLEPT_FORGOTTEN a woken spinner takes the word as if alone: invalid end state
 * Bug: TAKE_WITHOUT a woken thread takes the word as if alone: invalid end state BOTH
 * Bug: TAKE_HELD a spinner does not check for HELD: assertion violated
 * Bug: LEAVER_CLEARS a timed-out thread clears SLEEPERS: invalid end state
 * Bug: LEAVER_STAYS_IMPATIENT a timed-out thread leaves IMPATIENT set: invalid end state INNER
 * Bug: LEAVER_IGNORES_GRANT it leaves although it was granted the lock: invalid end state INNER
 * Bug: GRANT_KEPT the granted thread leaves GRANTED set: invalid end state INNER
 * Bug: GRANT_WAKES_ONE a grant wakes any one sleeper: invalid end state BOTH
 * Bug: ADOPT_SILENTLY the adopter does not set SLEEPERS: invalid end state ADOPTED
 */
#ifdef BOTH
#define ADOPTED
#endif
#define CELLS 2
#define WORD 0
#define CONDITION 1
#include "memory.pml"

#define HELD 1
#define SLEEPERS 2
#define IMPATIENT 4
#define GRANTED 8
#define GRANT_BITS 12
#define SPINNER 16

/* The inner lock, and the number of wake-ups skipped in a row. */
bool standby, skipped;

/* A loop that repeats a compare-and-exchange until it succeeds is one step here. */

inline trylock()
{
    d_step {
        acquired = !(memory[WORD] & HELD);
        memory[WORD] = memory[WORD] | HELD
    }
}

/* Ends when the lock is acquired, or when the thread is not counted as a spinner and the word had HELD and SLEEPERS. */
inline counted_spin(slept)
{
    do
#ifdef BUG_TAKE_HELD
    :: d_step { true ->
#else
    :: d_step { !(memory[WORD] & HELD) ->
#endif
           memory[WORD] = (memory[WORD] - SPINNER) | HELD | slept;
           acquired = true
       };
       break
    :: d_step {
           true -> /* out of patience */
#ifndef BUG_COUNT_KEPT
           memory[WORD] = memory[WORD] - SPINNER;
#endif
           acquired = !(memory[WORD] & HELD);
           if
           :: acquired -> memory[WORD] = memory[WORD] | HELD | slept
           :: else -> memory[WORD] = memory[WORD] | SLEEPERS
           fi
       };
       break
#ifdef BUG_SPINNER_GIVES_UP
    :: d_step { has_deadline -> memory[WORD] = memory[WORD] - SPINNER };
       gave_up = true;
       break
#endif
    od
}

inline spin(slept)
{
    d_step {
        acquired = !(memory[WORD] & HELD);
        counted = !acquired && memory[WORD] / SPINNER < MOST;
        if
        :: acquired -> memory[WORD] = memory[WORD] | HELD | slept
        :: counted -> memory[WORD] = memory[WORD] + SPINNER
        :: else
        fi
    };
    if
    :: counted -> counted_spin(slept)
    :: else
    fi;
    counted = false
}

/* malthusian's spin, which is not counted. */
inline spin_uncounted()
{
    if
    :: d_step {
           !(memory[WORD] & HELD) ->
           memory[WORD] = memory[WORD] | HELD;
           acquired = true
       }
    :: true /* out of patience */
    fi
}

/* The steps between two sleeps; sets `seen` to the value to sleep on. */
inline look(patient)
{
    atomic {
        seen = memory[WORD];
        assert((seen & HELD) || !(seen & GRANT_BITS));
        if
        :: impatient && (seen & GRANTED) ->
           acquired = true;
#ifndef BUG_GRANT_KEPT
           seen = seen - (seen & GRANT_BITS)
#endif
        :: else ->
           acquired = !(seen & HELD);
           if
           :: !acquired && !patient && passed_over == PATIENCE &&
              !(seen & IMPATIENT) ->
              seen = seen | IMPATIENT;
              impatient = true
           :: else
           fi;
#ifdef BUG_TAKE_WITHOUT
           if
           :: acquired -> seen = HELD
           :: else -> seen = seen | SLEEPERS
           fi
#else
#ifdef BUG_NO_SLEEPERS
           seen = seen | HELD
#else
           seen = seen | HELD | SLEEPERS
#endif
#endif
        fi;
        memory[WORD] = seen
    }
}

/* in_time is set if the lock was granted first. */
inline leave()
{
    atomic {
#ifndef BUG_LEAVER_IGNORES_GRANT
        in_time = impatient && (memory[WORD] & GRANTED);
#endif
#ifndef BUG_LEAVER_STAYS_IMPATIENT
        if
        :: impatient && !(memory[WORD] & GRANTED) ->
           memory[WORD] = memory[WORD] - (memory[WORD] & IMPATIENT)
        :: else
        fi;
#endif
#ifdef BUG_LEAVER_CLEARS
        memory[WORD] = memory[WORD] - (memory[WORD] & SLEEPERS);
#endif
        skip
    }
}

inline wait_at_word(patient)
{
    do
    :: look(patient);
       if
       :: acquired -> break
       :: else
       fi;
       park(WORD, seen, has_deadline, in_time);
       if
       :: !in_time -> leave()
       :: else
       fi;
       if
       :: !in_time -> break
       :: in_time && passed_over < PATIENCE -> passed_over++
       :: else
       fi;
       if
       :: MOST > 0 && !impatient ->
#ifdef BUG_SLEPT_FORGOTTEN
          spin(0)
#else
          spin(SLEEPERS)
#endif
       :: else
       fi;
       if
       :: acquired -> break
       :: else
       fi
    od;
    impatient = false;
    passed_over = 0;
    seen = 0
}

inline wait_for_lock()
{
#ifdef INNER
    atomic { !standby -> standby = true };
    spin_uncounted();
#else
    spin(0);
#endif
    if
    :: !acquired && !gave_up -> wait_at_word(false)
    :: else
    fi;
#ifdef INNER
    standby = false
#endif
}

/* mutexee_unlock_wanted reads the word to decide whether to insist on a wake-up. */
inline decide()
{
#ifndef INNER
    d_step {
        insist = memory[WORD] >= SPINNER && (memory[WORD] & SLEEPERS);
        if
        :: insist && !skipped -> skipped = true; insist = false
        :: insist && skipped -> skipped = false
        :: else
        fi
    }
#else
    skip
#endif
}

inline unlock()
{
    acquired = false;
    if
    :: d_step { memory[WORD] == HELD -> memory[WORD] = 0 }
    :: memory[WORD] != HELD ->
       decide();
       d_step {
           seen = memory[WORD];
           if
           :: seen & IMPATIENT -> memory[WORD] = seen | GRANTED
           :: !(seen & IMPATIENT) && seen >= SPINNER ->
              memory[WORD] = seen - HELD;
#ifdef BUG_SKIP_FORGETS
              memory[WORD] = memory[WORD] - (seen & SLEEPERS)
#endif
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
       :: !(seen & IMPATIENT) && (seen & SLEEPERS) && (seen < SPINNER || insist) ->
          unpark_one(WORD)
       :: else
       fi;
#endif
       seen = 0;
       insist = false
    fi
}

inline adopt()
{
#ifndef BUG_ADOPT_SILENTLY
    d_step { memory[WORD] = memory[WORD] | SLEEPERS };
#endif
    d_step { memory[CONDITION] = 1 };
    requeue_one(CONDITION, 1, WORD)
}

inline wait_on_condition()
{
    park(CONDITION, 0, false, in_time);
    memory[CONDITION] == 1; /* a spurious wake-up: it sleeps on */
#ifdef INNER
    wait_at_word(true)
#else
    wait_at_word(false)
#endif
}

proctype locker(byte self; bool has_deadline)
{
    byte round, seen, passed_over, i;
    bool acquired, in_time, counted, impatient, insist, gave_up;
    for (round : 1 .. (self == 0 -> ROUNDS : 1)) {
        if
#ifdef ADOPTED
        :: self == 1 -> wait_on_condition()
        :: self != 1 ->
#else
        :: true ->
#endif
           trylock();
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
    finish(!(memory[WORD] & (HELD | GRANT_BITS)) && memory[WORD] < SPINNER)
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
