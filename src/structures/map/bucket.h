/* SPDX-License-Identifier: MIT */
/*
 * A bucket: one cache line with up to three entries, which readers read without a lock
 * and without writing. That is the idea of CLHT (T. David, R. Guerraoui, V. Trigonakis,
 * "Asynchronized concurrency", ASPLOS 2015); the version makes it correct for all keys
 * and values, 0 included, and lets a writer replace a value in place.
 *
 *   control  PRESENT  a bit for each slot that holds an entry, the lowest bits
 *            LOCKED   a writer holds the bucket and its chain
 *            MOVED    the entries are in the next table; nothing changes any more
 *            CHAINED  `next` can be another bucket
 *            version  the other bits; changes with every insertion and removal, and
 *                     when CHAINED is cleared
 *   next     the next bucket of the chain, or 0
 *   values, keys  two words for each slot
 *
 * The control words of further buckets of a chain have no LOCKED, MOVED and CHAINED.
 *
 * The value of a slot is word number PRESENT << slot of the line, and `next` is word 0.
 * So a reader that has computed the bit of the matching slot, or 0 if none matches,
 * loads the value, or the 0 in `next`, without a branch (words.h).
 *
 * I1. Only the holder of LOCKED, or of the lock that stands for it, writes to a bucket,
 *     except that waiting writers set LOCKED.
 * I2. A slot is written only while control does not have it as present. So an entry
 *     appears and disappears with one store to control, and the value of a present
 *     entry changes by one store.
 * I3. A reader that finds its key in a slot reads the value and then control again. If
 *     control has not changed, the value belongs to the key. Both words are stored with
 *     release, after the control word that frees their slot: a reader that reads a word
 *     of a later entry also finds control changed.
 * I4. A reader repeats its search only after a writer has completed an insertion or a
 *     removal, never because one is under way: it does not wait for a writer.
 * I5. A reader that misses its key in a slot need not read control again: the key was
 *     not in that slot at some time since the search began, and a key never changes its
 *     slot without being absent in between.
 * I6. The acquire of the lock pairs with the release of bucket_unlock; the acquire of
 *     control with the release that made an entry present or the bucket moved; the
 *     acquire of `next` with the release in bucket_append.
 * I7. CHAINED is set before a bucket is appended to the head, and cleared after the
 *     last one has been unlinked: a reader that has not found it in control need not
 *     look at `next`. The release in bucket_append orders the first, that of
 *     bucket_unlock the second. The version changes when it is cleared, so a control
 *     word that differs from another by CHAINED alone is the older one.
 */
#ifndef HASP_STRUCTURES_MAP_BUCKET_H
#define HASP_STRUCTURES_MAP_BUCKET_H

#include "platform/platform.h"
#include "structures/turn.h"

#include <stddef.h>

enum { BUCKET_SLOTS = 3, BUCKET_LINE = 64 };

enum {
    BUCKET_PRESENT = 1, /* << slot */
    BUCKET_LOCKED = BUCKET_PRESENT << BUCKET_SLOTS,
    BUCKET_MOVED = 2 * BUCKET_LOCKED,
    BUCKET_CHAINED = 2 * BUCKET_MOVED,
    BUCKET_VERSION = 2 * BUCKET_CHAINED,
    BUCKET_INCIDENTAL = BUCKET_LOCKED | BUCKET_CHAINED, /* do not concern the slots */
};

struct bucket {
    struct atomic_u64 next;
    struct atomic_u64 first_values[2]; /* bucket_value() */
    struct atomic_u64 control;
    struct atomic_u64 last_value;
    struct atomic_u64 keys[BUCKET_SLOTS];
} __attribute__((aligned(BUCKET_LINE)));

_Static_assert(sizeof(struct bucket) == BUCKET_LINE, "a bucket is a line");
_Static_assert(BUCKET_SLOTS == 3 && BUCKET_PRESENT == 1 &&
                   offsetof(struct bucket, next) == 0 &&
                   offsetof(struct bucket, first_values) == 8 &&
                   offsetof(struct bucket, last_value) == 4 * 8,
               "values are words 1, 2 and 4");

/* Returns a word of the line. */
static inline struct atomic_u64 *bucket_word(struct bucket *bucket, uint64_t number)
{
    return (struct atomic_u64 *)(void *)bucket + number;
}

static inline struct atomic_u64 *bucket_value(struct bucket *bucket, unsigned slot)
{
    return bucket_word(bucket, (uint64_t)BUCKET_PRESENT << slot);
}

static inline bool bucket_has(uint64_t control, unsigned slot)
{
    return control & (uint64_t)BUCKET_PRESENT << slot;
}

static inline unsigned bucket_used(uint64_t control)
{
    return (unsigned)((control & 1) + (control >> 1 & 1) + (control >> 2 & 1));
}

/* Whether an entry has come or gone, or the bucket has moved, between two reads of
 * control. */
static inline bool bucket_changed(uint64_t before, uint64_t after)
{
    return (before ^ after) & ~(uint64_t)BUCKET_INCIDENTAL;
}

static inline struct bucket *bucket_next(struct bucket *bucket)
{
    return (struct bucket *)(uintptr_t)load_acquire(&bucket->next);
}

/* What a reader finds in one bucket. */
enum bucket_search { BUCKET_MISSES, BUCKET_HITS, BUCKET_HAS_MOVED };

/* Searches the bucket for the first slot from *slot on whose key is `key`. Stores its
 * value, and the slot, from which a caller whose key has more than this word can go
 * on. */
static inline enum bucket_search bucket_search(struct bucket *bucket, uint64_t key,
                                               unsigned *slot, uint64_t *value)
{
    unsigned first = *slot;
    uint64_t control = load_acquire(&bucket->control);
    while (!(control & BUCKET_MOVED)) {
        unsigned i = first;
        while (i < BUCKET_SLOTS &&
               !(load_acquire(&bucket->keys[i]) == key && bucket_has(control, i)))
            i++;
        if (i == BUCKET_SLOTS)
            return BUCKET_MISSES;
        *slot = i;
        *value = load_acquire(bucket_value(bucket, i));
        uint64_t again = load_relaxed(&bucket->control);
        if (likely(!bucket_changed(control, again)))
            return BUCKET_HITS;
        control = load_acquire(&bucket->control);
    }
    return BUCKET_HAS_MOVED;
}

/* Locks the bucket and returns its control word without LOCKED; or does not lock it,
 * and returns one with MOVED. */
static inline uint64_t bucket_lock(struct bucket *bucket)
{
    uint32_t turns = 0;
    prefetch_for_write(&bucket->control);
    uint64_t control = load_acquire(&bucket->control);
    for (;;) {
        if (unlikely(control & BUCKET_MOVED))
            return control;
        if (!(control & BUCKET_LOCKED)) {
            if (compare_exchange_acquire(&bucket->control, &control,
                                         control | BUCKET_LOCKED))
                return control;
            control = load_acquire(&bucket->control);
            continue;
        }
        wait_a_turn(&turns);
        control = load_acquire(&bucket->control);
    }
}

/* Releases the bucket. Makes the entries visible that `control` has as present. */
static inline void bucket_unlock(struct bucket *bucket, uint64_t control)
{
    store_release(&bucket->control, control);
}

/* Writes an entry into a free slot. It is not present yet. */
static inline void bucket_write(struct bucket *bucket, unsigned slot, uint64_t key,
                                uint64_t value)
{
    store_release(&bucket->keys[slot], key);
    store_release(bucket_value(bucket, slot), value);
}

static inline void bucket_replace(struct bucket *bucket, unsigned slot, uint64_t value)
{
    store_release(bucket_value(bucket, slot), value);
}

static inline void bucket_append(struct bucket *last, struct bucket *fresh)
{
    store_release(&last->next, (uint64_t)(uintptr_t)fresh);
}

/* Returns the control word with the presence of this slot changed. */
static inline uint64_t bucket_flipped(uint64_t control, unsigned slot)
{
    return (control ^ (uint64_t)BUCKET_PRESENT << slot) + BUCKET_VERSION;
}

#endif
