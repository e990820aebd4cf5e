/* SPDX-License-Identifier: MIT */
/*
 * The default lock: three-state futex with a biased release (futex.h, futex.c), for
 * inclusion in models. A lock is three cells, of which the third represents its bucket
 * in the table of sleepers. The including process declares the variables `old`, `t`,
 * `taken`, `spun`, `acquired`, `in_time` and `has_deadline`.
 */
#define WORD(lock) (3 * (lock))
#define MODE(lock) (3 * (lock) + 1)
#define SLEEPERS(lock) (3 * (lock) + 2)

/* Values of `spun`. */
#define NOT_SPUN 0
#define IN_VAIN 1
#define ACQUIRED 2

#ifdef UNBIASED
#define BIASED_NOW(lock) false
#else
#define BIASED_NOW(lock) (LOAD(MODE(lock)) == 0)
#endif

/* Empties the buffers one thread at a time. */
inline heavy_barrier()
{
    for (t : 0 .. THREADS - 1) {
        d_step { drain(t) }
    };
    t = 0
}

/* With SPINS, a waiter spins before it sleeps, or does not. It may relieve the holder of
 * waking a sleeper, by 3. Of its attempts, only the last one matters. `least` is what it
 * stores in the word if it sees no sleepers. Several waiters may spin: one may have lost
 * its CPU. */
inline futex_spin(lock, least)
{
    spun = NOT_SPUN;
    if
    :: true
#ifdef SPINS
    :: true ->
       taken = least;
       old = LOAD(WORD(lock));
#ifndef BUG_RELIEVES_AND_TAKES_AS_1
       taken = (old > taken -> 2 : taken);
#endif
       if
       :: old == 2 -> compare_exchange(WORD(lock), 2, 3, acquired)
       :: true
       fi;
       old = LOAD(WORD(lock));
#ifndef BUG_RELIEVES_AND_TAKES_AS_1
       taken = (old > taken -> 2 : taken);
#endif
       acquired = false;
       if
       :: old == 0 -> compare_exchange(WORD(lock), 0, taken, acquired)
       :: else
       fi;
       taken = 0;
       old = 0;
       spun = (acquired -> ACQUIRED : IN_VAIN)
#endif
    fi
}

/* Acquires the word; a waiter that has relieved a holder leaves 2 in it before it
 * sleeps. Others may sleep while it is 3. */
inline futex_sleep_or_spin(lock)
{
    do
    :: spun == ACQUIRED -> break
    :: else ->
#ifdef BUG_SLEEPS_ON_ITS_OWN_3
       old = LOAD(WORD(lock));
#else
       old = (spun == IN_VAIN -> 2 : LOAD(WORD(lock)));
#endif
       if
       :: old != 3 ->
          exchange(WORD(lock), 2, old);
          if
          :: old == 0 ->
             acquired = true;
#ifdef BUG_TAKE_AS_1
             plain_store(WORD(lock), 1);
#endif
             break
          :: else
          fi;
          old = 2
       :: else
       fi;
       park(WORD(lock), old, has_deadline, in_time);
       if
       :: in_time
       :: !in_time -> acquired = false; break
       fi;
       futex_spin(lock, 2)
    od
}

/* Of a biased lock: acquires the word, or leaves 2 in it; sleeps between attempts. */
inline futex_sleep(lock, slices)
{
    do
    :: exchange(WORD(lock), 2, old);
       if
       :: old == 0 -> acquired = true; break
       :: else
       fi;
       park(WORD(lock), 2, has_deadline || slices, in_time);
       if
       :: in_time
       :: !in_time && has_deadline -> acquired = false; break
       :: !in_time && slices /* and the deadline has not passed */
       fi
    od
}

inline futex_wait_biased(lock)
{
#ifdef BUG_BARRIER_FIRST
    heavy_barrier();
#endif
    fetch_add(SLEEPERS(lock), 1);
#if !defined(BUG_NO_HEAVY_BARRIER) && !defined(BUG_BARRIER_FIRST) && \
    !defined(WITHOUT_BARRIER)
    heavy_barrier();
#endif
#ifdef BUG_EARLY_FLAG
    plain_store(MODE(lock), 1);
#endif
#ifdef BUG_EARLY_COUNT_OUT
    fetch_add(SLEEPERS(lock), -1);
#endif
#if defined(WITHOUT_BARRIER) && !defined(BUG_NO_SLICES)
    futex_sleep(lock, true);
#else
    spun = IN_VAIN;
    futex_sleep_or_spin(lock);
#endif
    if
#ifdef BUG_LEAVER_FLAG
    :: true -> plain_store(MODE(lock), 1)
#else
    :: acquired -> plain_store(MODE(lock), 1)
    :: else
#endif
    fi;
#ifndef BUG_EARLY_COUNT_OUT
    fetch_add(SLEEPERS(lock), -1)
#endif
}

inline futex_wait(lock)
{
    if
    :: BIASED_NOW(lock) -> futex_wait_biased(lock)
    :: !BIASED_NOW(lock) -> futex_sleep_or_spin(lock)
    fi
}

inline futex_timedlock(lock)
{
#ifdef BUG_TEST_THEN_SET
    acquired = (LOAD(WORD(lock)) == 0);
    if
    :: acquired -> exchange(WORD(lock), 1, old)
    :: else
    fi;
#else
    compare_exchange(WORD(lock), 0, 1, acquired);
#endif
    if
    :: acquired
    :: else ->
       futex_spin(lock, 1);
       if
       :: spun != ACQUIRED -> futex_wait(lock)
       :: else
       fi;
       if
#ifdef SPINS
       :: acquired && BIASED_NOW(lock) -> plain_store(MODE(lock), 1)
#endif
       :: true
       fi;
       spun = NOT_SPUN;
       old = 0
    fi
}

inline futex_unlock(lock)
{
    if
    :: BIASED_NOW(lock) ->
#ifdef BUG_NO_LIGHT_BARRIER
       old = LOAD(SLEEPERS(lock));
       plain_store(WORD(lock), 0);
#else
       plain_store(WORD(lock), 0);
       old = LOAD(SLEEPERS(lock));
#endif
       if
       :: old != 0 -> unpark_one(WORD(lock))
       :: else
       fi
    :: !BIASED_NOW(lock) ->
       exchange(WORD(lock), 0, old);
#ifndef BUG_NO_WAKE_UP
       if
       :: old == 2 -> unpark_one(WORD(lock))
       :: else
       fi
#endif
    fi;
    old = 0
}
