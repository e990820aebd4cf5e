/* SPDX-License-Identifier: MIT */
/*
 * Operations on a map whose keys and values are words, for compilation into the caller.
 * They follow the rules of bucket.h, and know only the usual case: the entry, or a free
 * slot for it, is in the head of its chain, no writer holds that, and the table is not
 * being replaced. Otherwise they return WORDS_ELSEWHERE, having changed nothing, and
 * the caller uses the functions for all maps. So they do if the thread has no record
 * or is in a section, or if readers have to execute fences: one comparison tells.
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

_Static_assert(BUCKET_SLOTS == 3 && BUCKET_PRESENT == 1,
               "words_hits and words_slot are written for that");

struct words_search {
    struct table *table; /* the map's; the head can be in the one that replaces it */
    struct bucket *head;
    uint64_t hash, control; /* of the head */
    uint64_t hits;          /* the bit of the slot that has the key, or 0 */
    uint64_t absent;        /* UINT64_MAX if hits is 0, else 0 */
    uint64_t beyond;        /* the further bucket, if the key is not in the head */
};

/* Returns a bit for each slot that has this key and is present. */
WORDS_INLINE uint64_t words_hits(struct bucket *bucket, uint64_t control, uint64_t key)
{
    uint64_t first = load_acquire(&bucket->keys[0]) == key;
    uint64_t second = load_acquire(&bucket->keys[1]) == key;
    uint64_t third = load_acquire(&bucket->keys[2]) == key;
    return (first + 2 * (second + 2 * third)) & control;
}

/* Returns the slot of the only bit; 0 if there is none. If there are more, which a
 * reader finds only where control has changed meanwhile, it can be BUCKET_SLOTS. */
WORDS_INLINE unsigned words_slot(uint64_t bits)
{
    return (unsigned)(bits >> 1);
}

/* Returns the value of a slot as words_slot() returns it; of slot BUCKET_SLOTS, a key.
 */
WORDS_INLINE uint64_t words_value(struct bucket *bucket, unsigned slot)
{
    struct atomic_u64 *value = bucket->values;
    return load_acquire(value + slot);
}

/* Begins a section, from which words_leave() returns. `from`: of the map. Returns false
 * if words.h is not for this map, this thread, or this moment. */
WORDS_INLINE bool words_enter(struct map *map, uint64_t from,
                              struct epochs_record *record)
{
    if (unlikely(load_relaxed(&record->epoch) != from))
        return false;
    epochs_enter_first(map->epochs, record);
    return true;
}

WORDS_INLINE void words_leave(struct epochs_record *record)
{
    epochs_leave(record, true);
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
    /* Compilers make branches of conditions on `hits`, but not of this mask. */
    search.absent = (uint64_t)(((int64_t)search.hits - 1) >> 63);
    search.beyond = (uint64_t)(uintptr_t)bucket_next(search.head) & search.absent;
    return search;
}

/* Hints that the key will be looked for soon. */
WORDS_INLINE void words_prefetch(struct map *map, struct epochs_record *record,
                                 uint64_t key)
{
    if (!words_enter(map, map->reads_from, record))
        return;
    prefetch_for_read(
        &table_bucket(map_table(map), hash_word(key, map->seed))->control);
    words_leave(record);
}

/* Goes on with a search, in the further buckets of the chain. */
static __attribute__((noinline, unused)) int
words_get_beyond(uint64_t beyond, uint64_t key, uint64_t *value)
{
    struct bucket *bucket = (struct bucket *)(uintptr_t)beyond;
    enum bucket_search found = BUCKET_MISSES;
    for (; bucket && found != BUCKET_HITS; bucket = bucket_next(bucket)) {
        unsigned slot = 0;
        found = bucket_search(bucket, key, &slot, value);
    }
    return found == BUCKET_HITS ? MAP_OK : MAP_ABSENT;
}

/* Stores the value, or 0 if the key is absent. Returns MAP_OK or MAP_ABSENT; or
 * WORDS_ELSEWHERE, also if an entry of the bucket has come or gone meanwhile. */
WORDS_INLINE int words_get(struct map *map, struct epochs_record *record, uint64_t key,
                           uint64_t *value)
{
    if (!words_enter(map, map->reads_from, record))
        return WORDS_ELSEWHERE;
    struct words_search search = words_search(map, key, false);
    uint64_t found = words_value(search.head, words_slot(search.hits));
    uint64_t again = load_relaxed(&search.head->control);
    uint64_t changed = (again ^ search.control) & ~(uint64_t)BUCKET_LOCKED;
    int result = (int)search.absent & MAP_ABSENT;
    *value = found & ~search.absent;
    if (unlikely((changed | search.beyond) != 0))
        result = changed ? (int)WORDS_ELSEWHERE
                         : words_get_beyond(search.beyond, key, value);
    words_leave(record);
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
    uint64_t control = search->control;
    uint64_t vacant = ~control & (BUCKET_LOCKED - 1);
    uint64_t bit = search->hits | (vacant & -vacant & search->absent);
    if (unlikely(bit == 0) || unlikely(search->beyond != 0) ||
        unlikely(!words_may_change(search)) ||
        unlikely(!compare_exchange_acquire(&search->head->control, &control,
                                           control | BUCKET_LOCKED)))
        return WORDS_ELSEWHERE;
    bucket_write(search->head, words_slot(bit), key, value);
    /* bucket_flipped(), if the key was absent. */
    bucket_unlock(search->head, control + ((bit + BUCKET_VERSION) & search->absent));
    return (int)search->absent & MAP_CREATED;
}

/* Returns MAP_OK, MAP_CREATED or WORDS_ELSEWHERE. */
WORDS_INLINE int words_put(struct map *map, struct epochs_record *record, uint64_t key,
                           uint64_t value)
{
    if (!words_enter(map, map->writes_from, record))
        return WORDS_ELSEWHERE;
    struct words_search search = words_search(map, key, true);
    int result = words_store(&search, key, value);
    words_leave(record);
    return result;
}

/* The same if the key is absent; else returns MAP_OK and changes nothing. */
WORDS_INLINE int words_insert(struct map *map, struct epochs_record *record,
                              uint64_t key, uint64_t value)
{
    int result = MAP_OK;
    if (!words_enter(map, map->writes_from, record))
        return WORDS_ELSEWHERE;
    struct words_search search = words_search(map, key, false);
    if (!search.hits)
        result = words_store(&search, key, value);
    words_leave(record);
    return result;
}

/* Returns MAP_OK, MAP_ABSENT or WORDS_ELSEWHERE. */
WORDS_INLINE int words_remove(struct map *map, struct epochs_record *record,
                              uint64_t key)
{
    if (!words_enter(map, map->writes_from, record))
        return WORDS_ELSEWHERE;
    int result = WORDS_ELSEWHERE;
    struct words_search search = words_search(map, key, false);
    /* bucket_flipped() */
    uint64_t removed = (search.control ^ search.hits) + BUCKET_VERSION;
    if (!search.hits) {
        if (likely(!search.beyond))
            result = MAP_ABSENT;
    } else if (likely(words_may_change(&search)) &&
               likely(compare_exchange_acq_rel(&search.head->control, &search.control,
                                               removed))) {
        result = MAP_OK;
        if (unlikely(resize_due(record, bucket_used(removed) == 0)))
            resize_consider(map, record, search.table, search.hash, true);
    }
    words_leave(record);
    return result;
}

#endif
