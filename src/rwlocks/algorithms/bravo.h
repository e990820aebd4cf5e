/* SPDX-License-Identifier: MIT */
/*
 * Wrapper of any reader-writer lock: readers enter without writing to the lock.
 * D. Dice, A. Kogan, "BRAVO: biased locking for reader-writer locks", USENIX ATC 2019.
 * The asymmetric barrier follows R. Liu, H. Zhang, H. Chen, "Scalable read-mostly
 * synchronization using passive reader-writer locks", USENIX ATC 2014.
 *
 * Idea: while the lock is biased, a reader only publishes the lock's address in its own
 * record (read_holds.h). A writer acquires the wrapped lock, ends the bias, and waits
 * until no record has the address. Readers then use the wrapped lock, and one of them
 * starts the bias again, at the earliest after nine times as long as the writer needed:
 * so writers lose at most a tenth of their time. (Readers that wait for the writer may
 * go to sleep, and lose much more. So, unlike in the published lock, the pause doubles,
 * up to BRAVO_LONGEST, each time the bias did not last for BRAVO_WORTH.)
 *
 *   bias     0 none; BRAVO_BIASED readers may enter by their records; BRAVO_CLOSED no
 *            reader enters so any more, but some may be inside; BRAVO_WAITED none, and
 *            a writer waits, so no reader starts it
 *   more[0]  when the bias began
 *   more[1]  0, or a time before which no reader starts the bias
 *   state[3] how long the last such pause was
 *
 * I1. `bias` becomes BRAVO_BIASED only from 0, by a reader that holds the wrapped lock;
 *     from BRAVO_CLOSED it becomes 0 only by a writer that holds it.
 * I2. A reader fills its entry, executes a light barrier, and loads `bias`; a writer
 *     stores `bias`, executes the heavy barrier, and looks through the entries. So
 *     either the reader sees that the bias has ended, or the writer sees the entry.
 * I3. The reader's second load of `bias` (acquire) pairs with the store (release) of
 *     the reader that started the bias; so it has seen what every earlier writer did.
 *     The release that empties the entry pairs with the writer's loads (acquire).
 * I4. A writer that sleeps until the readers are gone is counted in bravo_writers
 *     before its heavy barrier. A reader loads the count after a light barrier that
 *     follows the release of its entry: either it sees the writer, or the writer sees
 *     the empty entry.
 * I5. Where the heavy barrier is not available (membarrier is not registered, or a
 *     seccomp filter may forbid it), readers and writers execute full fences.
 *
 * Overtaking: as in the wrapped lock. A writer that waits for it ends the bias first,
 * so that readers that arrive later queue there.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_BRAVO_H
#define HASP_RWLOCKS_ALGORITHMS_BRAVO_H

#include "locks/waiting/policies.h"
#include "rwlocks/read_holds.h"

enum { BRAVO_BIASED = 1, BRAVO_CLOSED = 2, BRAVO_WAITED = 3 };
enum { BRAVO_INHIBIT = 9 };
enum {
    BRAVO_TICKS_SHIFT = 12,                           /* a unit of time, in ticks */
    BRAVO_WORTH = (1 << 20) >> BRAVO_TICKS_SHIFT,   /* as long as a few sleeps */
    BRAVO_LONGEST = (1 << 24) >> BRAVO_TICKS_SHIFT, /* some milliseconds */
};

extern struct atomic_u32 bravo_writers __attribute__((visibility("hidden")));
extern struct atomic_u32 bravo_event __attribute__((visibility("hidden")));

static inline void bravo_barrier(void)
{
    light_barrier(); /* before the next line, too */
    if (unlikely(!heavy_barrier_works()))
        fence_seq_cst();
}

void bravo_wake_writers(void);

/* After the calling thread has emptied an entry. */
static inline void bravo_left(void)
{
    bravo_barrier();
    if (unlikely(load_relaxed(&bravo_writers) != 0))
        bravo_wake_writers();
}

static inline bool bravo_read_fast(struct rwlock *lock)
{
    if (load_relaxed(&lock->bias) != BRAVO_BIASED)
        return false;
    struct atomic_u64 *entry = read_holds_empty(read_holds_mine(), lock);
    if (unlikely(!entry))
        return false;
    store_relaxed(entry, read_hold_of(lock, HOLD_BIASED));
    bravo_barrier();
    if (likely(load_acquire(&lock->bias) == BRAVO_BIASED))
        return true;
    store_release(entry, 0);
    bravo_left();
    return false;
}

/* The caller holds the wrapped lock for reading: starts the bias unless a writer had to
 * end it recently. */
void bravo_start(struct rwlock *lock);

/* The caller is about to wait for the wrapped lock, to write. */
static inline void bravo_close(struct rwlock *lock)
{
    uint32_t bias = load_relaxed(&lock->bias);
    while (bias == 0 || bias == BRAVO_BIASED)
        if (compare_exchange_relaxed(&lock->bias, &bias,
                                     bias ? BRAVO_CLOSED : BRAVO_WAITED))
            return;
}

/* The caller has waited for the wrapped lock, and did not get it. Other writers may
 * still wait. */
static inline void bravo_give_up(struct rwlock *lock)
{
    uint32_t waited = BRAVO_WAITED;
    compare_exchange_relaxed(&lock->bias, &waited, 0);
}

/* The caller holds the wrapped lock for writing: returns whether readers may be inside
 * by their entries. */
static inline bool bravo_must_revoke(struct rwlock *lock)
{
    uint32_t bias = load_relaxed(&lock->bias);
    if (bias == BRAVO_WAITED)
        store_relaxed(&lock->bias, 0);
    return bias == BRAVO_BIASED || bias == BRAVO_CLOSED;
}

/* The caller holds the wrapped lock for writing: ends the bias and waits until no
 * reader is inside. Returns false if the deadline has passed, or at once without `wait`
 * if there is one. */
bool bravo_revoke(struct rwlock *lock, bool wait, const struct deadline *deadline);

#endif
