/* SPDX-License-Identifier: MIT */
/*
 * Fair queue lock for readers and writers. J. Mellor-Crummey, M. Scott, "Scalable
 * reader-writer synchronization for shared-memory multiprocessors", PPoPP 1991 (their
 * fair lock). Time-outs as in locks/algorithms/mcs.h.
 *
 * Idea: readers and writers wait in one queue, each on its own cell. The thread that
 * leaves the lock empty lets in the first writer, or the readers before it, and takes
 * them out of the queue.
 *
 * In the published lock, a reader stays in the queue until it leaves the lock, so that
 * its successor can tell whether readers are inside, and finds a count to join. Here
 * the word with the tail contains that count, and a thread has a node only while it
 * waits: a thread may hold any number of locks, and another one may release them.
 *
 *   word      bit 0: owned, by a writer that is inside, or by a thread that lets others
 *             in; bit 1: a writer has given up. Above them, in 31 bits each: the number
 *             of readers that are inside, and `tail`, the id of the last node, or 0
 *   state[0]  id of the first node; 0 if there is none or it has not linked itself yet
 *
 * I1. A thread enters by itself only if no thread waits: a reader if the word is not
 *     owned, a writer if it is 0.
 * I2. Only the owner takes nodes out of the queue and grants their cells. It lets a
 *     writer in when no reader is inside, and this writer is then the owner. No reader
 *     enters by itself meanwhile, so once none is inside, none will be.
 * I3. If threads wait, the word is owned or readers are inside. The last one of these
 *     that leaves becomes the owner by the same exchange: the lock is not free yet, so
 *     the thread may go on using its memory.
 * I4. A writer that gives up may be the only one that keeps the readers after it from
 *     joining those inside. It sets bit 1, and if the word is not owned, it becomes the
 *     owner. Otherwise the owner, who can end its ownership only while bit 1 is clear,
 *     looks at the queue again.
 *
 * A grant (release) pairs with wait_for_grant (acquire). The word changes by exchanges
 * only, and arrivals and departures are releases. So the owner, who acquires the word
 * before it looks at the queue, has seen what all of them did before.
 *
 * Overtaking: no thread overtakes one that has queued. A thread with a deadline queues,
 * too; its node stays in the queue after it has given up, until the owner reaches it.
 * While there are too many such nodes, threads with a deadline do not queue
 * (abandoned_nodes.h).
 * The kind that prefers writers: readers that have come before a writer go first.
 * Fork: in the child, only what the forking thread holds remains.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_MCS_RW_H
#define HASP_RWLOCKS_ALGORITHMS_MCS_RW_H

#include "locks/waiting/abandoned_nodes.h"
#include "rwlocks/read_holds.h"

#define MCS_RW_OWNED ((uint64_t)1)
#define MCS_RW_GAVE_UP ((uint64_t)2)
#define MCS_RW_READER ((uint64_t)4)
#define MCS_RW_TAIL ((uint64_t)1 << 33)
#define MCS_RW_READERS (MCS_RW_TAIL - MCS_RW_READER) /* mask */

enum { MCS_RW_WRITES }; /* in `more` of a node: 1 if the thread wants to write */

static inline uint32_t mcs_rw_tail(uint64_t word)
{
    return (uint32_t)(word / MCS_RW_TAIL);
}

static inline uint64_t mcs_rw_with_tail(uint64_t word, uint32_t tail)
{
    return word % MCS_RW_TAIL + tail * MCS_RW_TAIL;
}

static inline enum rwlock_use mcs_rw_use(const struct rwlock *lock)
{
    return load_relaxed(&lock->writer)                  ? RWLOCK_WRITTEN
           : load_relaxed(&lock->word) & MCS_RW_READERS ? RWLOCK_READ
                                                        : RWLOCK_FREE;
}

static inline bool mcs_rw_read_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (!(word & MCS_RW_OWNED) && !mcs_rw_tail(word))
        if (compare_exchange_acquire(&lock->word, &word, word + MCS_RW_READER))
            return true;
    return false;
}

static inline bool mcs_rw_write_trylock(struct rwlock *lock)
{
    uint64_t free = 0;
    return compare_exchange_acquire(&lock->word, &free, MCS_RW_OWNED);
}

static inline bool mcs_rw_read_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && mcs_rw_read_trylock(lock);
}

static inline bool mcs_rw_write_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && mcs_rw_write_trylock(lock);
}

/* Letting others in. */

/* The owner takes the first node out of the queue. */
static inline void mcs_rw_unlink(struct rwlock *lock, struct waiter *head)
{
    uint32_t next = load_acquire(&head->next);
    if (!next) {
        store_relaxed(&lock->state[0], 0);
        uint64_t word = load_relaxed(&lock->word);
        while (mcs_rw_tail(word) == head->link.id)
            /* Release: a thread that finds no tail links itself after the store. */
            if (compare_exchange_release(&lock->word, &word, mcs_rw_with_tail(word, 0)))
                return;
        spin_until((next = load_relaxed(&head->next)) != 0); /* word has been seen */
    }
    store_relaxed(&lock->state[0], next);
}

/* Readers that the owner has taken out of the queue and not let in yet. */
struct mcs_rw_readers {
    uint32_t first, count;
    struct waiter *last;
};

static inline void mcs_rw_collect(struct rwlock *lock, struct mcs_rw_readers *readers,
                                  struct waiter *head)
{
    mcs_rw_unlink(lock, head);
    if (readers->count++)
        store_relaxed(&readers->last->next, head->link.id);
    else
        readers->first = head->link.id;
    readers->last = head;
}

/* A reader leaves. Returns whether the caller is the owner now. */
static inline bool mcs_rw_leave(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), after;
    bool owns;
    do {
        after = word - MCS_RW_READER;
        owns = mcs_rw_tail(word) && !(after & (MCS_RW_READERS | MCS_RW_OWNED));
        if (owns)
            after |= MCS_RW_OWNED;
    } while (!compare_exchange_release(&lock->word, &word, after));
    return owns;
}

/* Grants the readers' cells. They are counted already, so the caller leaves in place of
 * each reader that has given up. Returns whether the caller is the owner again. */
static inline bool mcs_rw_let_in(struct rwlock *lock,
                                 const struct mcs_rw_readers *readers)
{
    bool owns = false;
    uint32_t id = readers->first;
    for (uint32_t left = readers->count; left; left--) {
        struct waiter *reader = waiter_at(id);
        id = load_relaxed(&reader->next); /* while it is still ours */
        if (!grant(&reader->cell, true)) {
            give_abandoned((const struct lock *)(const void *)lock, reader);
            owns = mcs_rw_leave(lock);
        }
    }
    return owns;
}

/* The owner has loaded `word` and found nobody else to let in: counts its `readers` as
 * inside and ends its ownership. Returns false if it has to look at the queue again. */
static inline bool mcs_rw_disown(struct rwlock *lock, uint64_t word, uint32_t readers)
{
    if (word & MCS_RW_GAVE_UP) {
        fetch_and_relaxed(&lock->word, ~MCS_RW_GAVE_UP);
        return false;
    }
    uint64_t after = (word & ~MCS_RW_OWNED) + readers * MCS_RW_READER;
    return compare_exchange_release(&lock->word, &word, after);
}

/* Returns the first node, or NULL if the word shows an empty queue. */
static inline struct waiter *mcs_rw_head(struct rwlock *lock, uint64_t word)
{
    uint32_t first;
    if (!mcs_rw_tail(word))
        return NULL;
    spin_until((first = load_relaxed(&lock->state[0])) != 0);
    return waiter_at(first);
}

/* The owner lets in the first writer, or the readers before it. */
static __attribute__((noinline, unused)) void mcs_rw_serve(struct rwlock *lock)
{
    bool owns;
    do {
        struct mcs_rw_readers readers = {0, 0, NULL};
        for (;;) {
            uint64_t word = load_acquire(&lock->word);
            struct waiter *head = mcs_rw_head(lock, word);
            bool occupied = readers.count || word & MCS_RW_READERS;
            if (head && !load_relaxed(&head->more[MCS_RW_WRITES])) {
                mcs_rw_collect(lock, &readers, head);
            } else if (head &&
                       (!occupied || load_relaxed(&head->cell) == WAITER_LEFT)) {
                mcs_rw_unlink(lock, head);
                if (grant(&head->cell, true))
                    return; /* the owner is this writer */
                give_abandoned((const struct lock *)(const void *)lock, head);
            } else if (mcs_rw_disown(lock, word, readers.count)) {
                release_window();
                break;
            }
        }
        owns = mcs_rw_let_in(lock, &readers);
    } while (owns);
}

/* Waiting. */

/* Enters if the lock lets it (I1), otherwise queues. Returns whether it has entered; if
 * not, `*before` is the id of the node before it, or 0. */
static inline bool mcs_rw_enqueue(struct rwlock *lock, struct waiter *self, bool writes,
                                  uint32_t *before)
{
    uint64_t word = load_relaxed(&lock->word);
    for (;;) {
        bool enters = writes ? word == 0
                             : !(word & MCS_RW_OWNED) && !mcs_rw_tail(word);
        uint64_t after = !enters  ? mcs_rw_with_tail(word, self->link.id)
                         : writes ? MCS_RW_OWNED
                                  : word + MCS_RW_READER;
        if (!compare_exchange_acq_rel(&lock->word, &word, after))
            continue;
        *before = mcs_rw_tail(word);
        if (!enters)
            store_release(*before ? &waiter_at(*before)->next : &lock->state[0],
                          self->link.id);
        return enters;
    }
}

/* A queued writer has given up (I4). */
static inline void mcs_rw_give_up(struct rwlock *lock)
{
    uint64_t was = fetch_or_release(&lock->word, MCS_RW_OWNED | MCS_RW_GAVE_UP);
    if (!(was & MCS_RW_OWNED))
        mcs_rw_serve(lock);
}

/* A thread with a deadline waits until few enough nodes are abandoned; see
 * abandoned_nodes.h. */
static inline enum queue_space mcs_rw_await_space(struct rwlock *lock, bool writes,
                                                  const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    struct atomic_u32 *cell = abandoned_cell((const struct lock *)(const void *)lock);
    while (deadline && abandoned_in(load_relaxed(cell)) >= ABANDONED_MOST) {
        if (writes ? mcs_rw_write_trylock(lock) : mcs_rw_read_trylock(lock))
            return QUEUE_ACQUIRED;
        if (!spinner_spin(&spinner, deadline))
            return QUEUE_TIMED_OUT;
    }
    return QUEUE_HAS_SPACE;
}

static __attribute__((noinline, unused)) bool
mcs_rw_wait(struct rwlock *lock, bool writes, const struct deadline *deadline)
{
    enum queue_space space = mcs_rw_await_space(lock, writes, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED;
    struct waiter *self = waiter_take();
    uint32_t before;
    self->may_change = true;
    store_relaxed(&self->more[MCS_RW_WRITES], writes);
    bool entered = mcs_rw_enqueue(lock, self, writes, &before);
    if (!entered) {
        bool hopeful = !before || runs_soon(waiter_at(before));
        if (wait_for_grant(&self->cell, &self->asleep, SPIN_THEN_PARK, hopeful,
                           deadline) == WAITER_WAITING &&
            abandon((const struct lock *)(const void *)lock, self)) {
            if (writes)
                mcs_rw_give_up(lock);
            return false;
        }
    }
    waiter_give(self);
    return true;
}

static inline bool mcs_rw_read_wait(struct rwlock *lock,
                                    const struct deadline *deadline)
{
    return mcs_rw_wait(lock, false, deadline);
}

static inline bool mcs_rw_write_wait(struct rwlock *lock,
                                     const struct deadline *deadline)
{
    return mcs_rw_wait(lock, true, deadline);
}

/* Leaving. */

static inline void mcs_rw_read_unlock(struct rwlock *lock)
{
    if (unlikely(mcs_rw_leave(lock)))
        mcs_rw_serve(lock);
}

static inline void mcs_rw_write_unlock(struct rwlock *lock)
{
    uint64_t alone = MCS_RW_OWNED;
    if (unlikely(!compare_exchange_release(&lock->word, &alone, 0)))
        mcs_rw_serve(lock);
}

static inline void mcs_rw_forget(struct rwlock *lock)
{
    uint64_t readers = read_holds_counted(lock);
    bool written = load_relaxed(&lock->writer) != 0;
    store_relaxed(&lock->state[0], 0);
    store_relaxed(&lock->word, written ? MCS_RW_OWNED : readers * MCS_RW_READER);
}

static inline void mcs_rw_destroy(struct rwlock *lock)
{
    (void)lock;
}

#endif
