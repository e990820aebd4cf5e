/* SPDX-License-Identifier: MIT */
/*
 * The default lock: three-state futex with a biased release (futex.h, futex.c), for
 * inclusion in models. A lock is three cells, of which the third represents its bucket
 * in the table of sleepers. The including process declares the variables `old`, `t`,
 * `acquired`, `in_time` and `has_deadline`.
 */
#define WORD(lock) (3 * (lock))
#define MODE(lock) (3 * (lock) + 1)
#define SLEEPERS(lock) (3 * (lock) + 2)

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

/* Acquires the word, or leaves 2 in it; sleeps between attempts. */
inline futex_sleep(lock, slices)
{
    do
    :: exchange(WORD(lock), 2, old);
       if
       :: old == 0 ->
          acquired = true;
#ifdef BUG_TAKE_AS_1
          plain_store(WORD(lock), 1);
#endif
          break
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
    futex_sleep(lock, false);
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
    :: !BIASED_NOW(lock) -> futex_sleep(lock, false)
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
    :: else -> futex_wait(lock)
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
