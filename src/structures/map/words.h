/* SPDX-License-Identifier: MIT */
/*
 * Operations on a map whose keys and values are words, for compilation into the caller.
 * They follow the rules of bucket.h, and know only the usual case: the entry, or a free
 * slot for it, is in the head of its chain, no writer holds that, and the table is not
 * being replaced. Otherwise they return WORDS_ELSEWHERE, having changed nothing, and
 * the caller uses the functions for all maps.
 *
 * The branch predictor cannot know whether a key is present, or in which slot. So a
 * search branches on neither: it compares all three keys, and computes the slot.
 *
 * W1. A writer searches as a reader does, before it holds the bucket. Then it changes
 *     the bucket's control word by a compare-exchange, from the value that the search
 *     had read. That succeeds only if no entry has come or gone since, so the search
 *     still holds: its loads acquire what preceded that control word, and a slot's
 *     words change only after the control word has. Nor has a bucket been appended if
 *     a slot was free.
 * W2. A removal is that exchange alone. Its release pairs with the acquire of a writer
 *     that uses the slot again (bucket.h, I3).
 * W3. A put of a present key stores the same key again.
 */
#ifndef HASP_STRUCTURES_MAP_WORDS_H
#define HASP_STRUCTURES_MAP_WORDS_H

#include "structures/map/resize.h"

#define WORDS_INLINE static inline __attribute__((always_inline))

enum { WORDS_ELSEWHERE = MAP_UNKNOWN_LOCK - 1 };

_Static_assert(BUCKET_SLOTS == 3, "words_hits and words_slot are written for 3 slots");

struct words_search {
    struct table *table; /* the map's; the head can be in the one that replaces it */
    struct bucket *head;
    uint64_t hash, control; /* of the head */
    unsigned hits;          /* the bit of the slot that has the key, or 0 */
    bool chained;           /* the head has a further bucket */
};

/* Returns a bit for each slot that has this key and is present. */
WORDS_INLINE unsigned words_hits(struct bucket *bucket, uint64_t control, uint64_t key)
{
    unsigned matches = (unsigned)(load_acquire(&bucket->keys[0]) == key) |
                       (unsigned)(load_acquire(&bucket->keys[1]) == key) << 1 |
                       (unsigned)(load_acquire(&bucket->keys[2]) == key) << 2;
    return matches & (unsigned)(control / BUCKET_PRESENT);
}

/* Returns the slot of the only bit; any slot if there is none, or if there are more,
 * which a reader finds only where control has changed meanwhile. */
WORDS_INLINE unsigned words_slot(unsigned bits)
{
    return bits >> 1 & ~(bits >> 2);
}

/* `to_write`: whatever it finds, the caller will write to the line, which therefore is
 * fetched for writing at once. */
WORDS_INLINE struct words_search words_search(struct map *map, uint64_t key,
                                              bool to_write)
{
    struct words_search search;
    search.hash = hash_word(key, map->seed);
    search.table = map_table(map);
    search.head = table_bucket(search.table, search.hash);
    if (to_write)
        prefetch_for_write(&search.head->control);
    search.control = load_acquire(&search.head->control);
    struct table *table = search.table;
    while (unlikely(search.control & BUCKET_MOVED)) {
        table = table_next(table);
        search.head = table_bucket(table, search.hash);
        search.control = load_acquire(&search.head->control);
    }
    search.hits = words_hits(search.head, search.control, key);
    search.chained = bucket_next(search.head) != NULL;
    return search;
}

/* Hints that the key will be looked for soon. */
WORDS_INLINE void words_prefetch(struct map *map, struct epochs_record *record,
                                 uint64_t key)
{
    bool outermost = epochs_enter(map->epochs, record);
    prefetch_for_read(
        &table_bucket(map_table(map), hash_word(key, map->seed))->control);
    epochs_leave(record, outermost);
}

/* Goes on with a search, in the further buckets of the chain. */
static __attribute__((noinline, unused)) int
words_get_beyond(struct bucket *bucket, uint64_t key, uint64_t *value)
{
    enum bucket_search found = BUCKET_MISSES;
    for (; bucket && found != BUCKET_HITS; bucket = bucket_next(bucket)) {
        unsigned slot = 0;
        found = bucket_search(bucket, key, &slot, value);
    }
    return found == BUCKET_HITS ? MAP_OK : MAP_ABSENT;
}

/* Stores the value, or 0 if the key is absent. Returns MAP_OK or MAP_ABSENT; or
 * WORDS_ELSEWHERE, if an entry of the bucket has come or gone meanwhile. */
WORDS_INLINE int words_get(struct map *map, struct epochs_record *record, uint64_t key,
                           uint64_t *value)
{
    bool outermost = epochs_enter(map->epochs, record);
    struct words_search search = words_search(map, key, false);
    uint64_t found = load_acquire(&search.head->values[words_slot(search.hits)]);
    uint64_t again = load_relaxed(&search.head->control);
    bool changed = ((again ^ search.control) & ~(uint64_t)BUCKET_LOCKED) != 0;
    int result = search.hits ? MAP_OK : MAP_ABSENT;
    *value = search.hits ? found : 0;
    /* One test for both: two would bring back a branch on `hits`. */
    if (unlikely(changed | (search.chained & !search.hits)))
        result = changed ? (int)WORDS_ELSEWHERE
                         : words_get_beyond(bucket_next(search.head), key, value);
    epochs_leave(record, outermost);
    return result;
}

/* While the table is being replaced, writers help, elsewhere. */
WORDS_INLINE bool words_may_change(const struct words_search *search)
{
    return !(search->control & BUCKET_LOCKED) && !table_next(search->table);
}

/* Puts the entry where the search has found the key, or into a free slot of the head.
 */
WORDS_INLINE int words_store(struct words_search *search, uint64_t key, uint64_t value)
{
    uint64_t control = search->control, absent = !search->hits;
    unsigned vacant = ~(unsigned)(control / BUCKET_PRESENT) & 7;
    unsigned bit = search->hits | (vacant & -vacant & -(unsigned)absent);
    if (unlikely((bit == 0) | (absent & search->chained)) ||
        unlikely(!words_may_change(search)) ||
        unlikely(!compare_exchange_acquire(&search->head->control, &control,
                                           control | BUCKET_LOCKED)))
        return WORDS_ELSEWHERE;
    unsigned slot = words_slot(bit);
    bucket_write(search->head, slot, key, value);
    uint64_t present = ((uint64_t)BUCKET_PRESENT << slot) + BUCKET_VERSION;
    bucket_unlock(search->head, control + present * absent); /* bucket_flipped() */
    return (int)absent * MAP_CREATED;
}

/* Returns MAP_OK, MAP_CREATED or WORDS_ELSEWHERE. */
WORDS_INLINE int words_put(struct map *map, struct epochs_record *record, uint64_t key,
                           uint64_t value)
{
    bool outermost = epochs_enter(map->epochs, record);
    struct words_search search = words_search(map, key, true);
    int result = words_store(&search, key, value);
    epochs_leave(record, outermost);
    return result;
}

/* The same if the key is absent; else returns MAP_OK and changes nothing. */
WORDS_INLINE int words_insert(struct map *map, struct epochs_record *record,
                              uint64_t key, uint64_t value)
{
    int result = MAP_OK;
    bool outermost = epochs_enter(map->epochs, record);
    struct words_search search = words_search(map, key, false);
    if (!search.hits)
        result = words_store(&search, key, value);
    epochs_leave(record, outermost);
    return result;
}

/* Returns MAP_OK, MAP_ABSENT or WORDS_ELSEWHERE. */
WORDS_INLINE int words_remove(struct map *map, struct epochs_record *record,
                              uint64_t key)
{
    int result = WORDS_ELSEWHERE;
    bool outermost = epochs_enter(map->epochs, record);
    struct words_search search = words_search(map, key, false);
    uint64_t removed = bucket_flipped(search.control, words_slot(search.hits));
    if (!search.hits) {
        if (likely(!search.chained))
            result = MAP_ABSENT;
    } else if (likely(words_may_change(&search)) &&
               likely(compare_exchange_acq_rel(&search.head->control, &search.control,
                                               removed))) {
        result = MAP_OK;
        if (unlikely(resize_due(record, bucket_used(removed) == 0)))
            resize_consider(map, record, search.table, search.hash, true);
    }
    epochs_leave(record, outermost);
    return result;
}

#endif
