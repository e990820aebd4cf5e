/* SPDX-License-Identifier: MIT */
/*
 * Read holds: the reader-writer locks that a thread holds for reading.
 *
 * Each thread has a record with a few entries. They serve two purposes. A thread that
 * acquires a lock for reading that it already reads must not wait for a writer, which
 * waits for this thread. It finds the lock in its record, and the second hold is only
 * another entry there. And a reader of a biased lock (bravo.h) enters by its entry
 * alone, which a writer finds by looking through all records.
 *
 *   entry    address of the lock, plus one of
 *            HOLD_COUNTED   the lock itself counts this reader
 *            HOLD_NESTED    another entry of the same thread holds the lock; the top
 *                           byte counts further holds of this kind
 *            HOLD_BIASED    the entry is the hold
 *   below    ids of two further blocks of the record, for threads that hold more than
 *            READ_HOLDS locks; the hash of a lock's address decides the way
 *
 * H1. Records are slots of a pool, valid for ever. A record that no thread owns, and
 *     one that was never used, has no entries.
 * H2. Only the owner of a record fills entries. It empties them, too; but a thread that
 *     releases a lock that another thread has read-locked takes the hold from that
 *     thread's entry, by compare-and-exchange.
 * H3. Every hold is in the record, however many there are: all entries of a lock are in
 *     the blocks on the way of its address. A hold that had no entry could not be told
 *     from one of another thread, and a recursion would wait for a writer.
 * H4. In a forked child, the records of the parent's other threads hold nothing: they
 *     have an older generation.
 */
#ifndef HASP_RWLOCKS_READ_HOLDS_H
#define HASP_RWLOCKS_READ_HOLDS_H

#include "locks/memory/pool.h"
#include "rwlocks/rwlock.h"

enum { READ_HOLDS = 12 };

enum read_hold { HOLD_COUNTED = 0, HOLD_NESTED = 1, HOLD_BIASED = 2 };

struct read_holds {
    struct atomic_u64 at[READ_HOLDS];
    struct atomic_u32 nested;     /* first block: at least as many as HOLD_NESTED */
    struct atomic_u32 generation; /* fork generation of the owner; 0: never used */
    struct atomic_u32 below[2];
    uint32_t unused;
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct read_holds, link) == offsetof(struct pool_slot, link) &&
                   sizeof(struct read_holds) == sizeof(struct pool_slot),
               "a block of a record is a slot of its pool");

extern struct pool read_holds_pool __attribute__((visibility("hidden")));

/* Called when a thread gets its first record, so that the platform can call
 * read_holds_give_back() when the thread ends; or NULL. */
extern void (*read_holds_begun)(void) __attribute__((visibility("hidden")));

static inline uint64_t read_hold_of(const struct rwlock *lock, enum read_hold how)
{
    return (uint64_t)(uintptr_t)lock | how;
}

/* Returns the calling thread's record, or NULL if it has none yet. */
static inline struct read_holds *read_holds_mine(void)
{
    uint32_t id = load_relaxed(&held_nodes()->reads);
    return likely(id != 0) ? (struct read_holds *)pool_at(&read_holds_pool, id) : NULL;
}

/* Returns the calling thread's record; creates it. */
struct read_holds *read_holds_make(void);

struct atomic_u64 *read_holds_search_empty(struct read_holds *holds,
                                           const struct rwlock *lock);

/* Returns an empty entry for the lock. Returns NULL if there is no record yet, and if
 * the thread holds the lock and many others: read_holds_nest() is sufficient then. */
static inline struct atomic_u64 *read_holds_empty(struct read_holds *holds,
                                                  const struct rwlock *lock)
{
    if (unlikely(!holds))
        return NULL;
    if (likely(load_relaxed(&holds->at[0]) == 0))
        return &holds->at[0];
    if (likely(load_relaxed(&holds->at[1]) == 0))
        return &holds->at[1];
    return read_holds_search_empty(holds, lock);
}

/* The calling thread has acquired the lock: fills an entry. */
void read_holds_put(const struct rwlock *lock, enum read_hold how);

/* Returns whether the calling thread holds the lock for reading. */
bool read_holds_have(const struct rwlock *lock);

/* Does the same; if so, the thread holds it once more. */
bool read_holds_nest(const struct rwlock *lock);

/* Empties one of the first two entries of the record if it is a hold of this lock, in
 * this way, and no hold is nested. Otherwise changes nothing and returns false. (A
 * thread that reads a second lock meanwhile uses the second entry.) */
static inline bool read_holds_drop_first(struct read_holds *holds,
                                         const struct rwlock *lock, enum read_hold how)
{
    if (unlikely(!holds) || unlikely(load_relaxed(&holds->nested)))
        return false;
    const uint64_t held = read_hold_of(lock, how);
    struct atomic_u64 *entry = &holds->at[0];
    if (load_relaxed(entry) != held && load_relaxed(++entry) != held)
        return false;
    store_release(entry, 0);
    return true;
}

/* Takes a hold of the lock from the calling thread's record, a nested one first.
 * Returns which it was, or -1 if there was none. */
int read_holds_drop(const struct rwlock *lock);

/* Does the same in the other threads' records. */
int read_holds_drop_of_others(const struct rwlock *lock);

/* Does both. */
int read_holds_release(const struct rwlock *lock);

/* Returns whether any thread holds the lock by its entry. Acquire: pairs with the
 * release that emptied the entry. */
bool read_holds_biased(const struct rwlock *lock);

/* Returns how many readers the lock itself counts. For the repair of a lock in a
 * forked child, before any thread of the child has acquired it. */
uint32_t read_holds_counted(const struct rwlock *lock);

/* Called when a thread ends. */
void read_holds_give_back(void);

/* Called in the child of a fork. */
void read_holds_in_child(void);

#endif
