/* SPDX-License-Identifier: MIT */
/*
 * Operations on a map whose keys and values are words, for compilation into the caller.
 * They follow the rules of bucket.h, and know only the usual case: the entry, or a free
 * slot for it, is in a head without further buckets, no writer holds that, and the
 * table is not being replaced. Otherwise they return WORDS_ELSEWHERE, having changed
 * nothing, and the caller uses the functions for all maps. So they do if the thread has
 * no record or is in a section, or if readers have to execute fences: one comparison
 * tells.
 *
 * The branch predictor cannot know whether a key is present, or in which slot. So a
 * search branches on neither: it compares all three keys, and the result is the number
 * of the word to load (bucket.h).
 *
 * W1. A writer searches as a reader does, before it holds the bucket. Then it changes
 *     the bucket's control word by a compare-exchange, from the value that the search
 *     had read. That succeeds only if no entry has come or gone since, so the search
 *     still holds: its loads acquire what preceded that control word, and a slot's
 *     words change only after the control word has.
 * W2. A removal is that exchange alone. Its release pairs with the acquire of a writer
 *     that uses the slot again (bucket.h, I3).
 * W3. A put of a present key stores the same key again.
 */
#ifndef HASP_STRUCTURES_MAP_WORDS_H
#define HASP_STRUCTURES_MAP_WORDS_H

#include "structures/map/resize.h"

#define WORDS_INLINE static inline __attribute__((always_inline))

enum { WORDS_ELSEWHERE = MAP_UNKNOWN_LOCK - 1 };

/* The head is not all that has to be searched. */
enum { WORDS_INCOMPLETE = BUCKET_MOVED | BUCKET_CHAINED };

/* The head cannot be changed at once. */
enum { WORDS_NOT_NOW = WORDS_INCOMPLETE | BUCKET_LOCKED };

/* What a search has found in a head that has not moved and has no further bucket. */
struct words_search {
    struct bucket *buckets; /* of the map's table */
    struct bucket *head;
    uint64_t control; /* of the head */
    uint64_t hits;    /* the bit of the slot that has the key, or 0 */
};

/* A value, and whether there is one. Not passed by address: it stays in registers. */
struct words_found {
    uint64_t value; /* 0 if there is none */
    int64_t result; /* MAP_OK, MAP_ABSENT, an error, or WORDS_ELSEWHERE */
};

/* Returns a bit for each slot that has this key and is present. If a reader finds more
 * than one, control has changed meanwhile. */
WORDS_INLINE uint64_t words_hits(struct bucket *bucket, uint64_t control, uint64_t key)
{
    uint64_t first = equals_acquire(&bucket->keys[0], key);
    uint64_t second = equals_acquire(&bucket->keys[1], key);
    uint64_t third = equals_acquire(&bucket->keys[2], key);
    return (first + 2 * (second + 2 * third)) & control;
}

/* Returns the same address. Compilers keep it in a register and derive others from it;
 * otherwise they compute several of them anew, from two registers each. */
WORDS_INLINE struct bucket *words_in_register(struct bucket *bucket)
{
    __asm__("" : "+r"(bucket));
    return bucket;
}

/* Begins a section, from which words_leave() returns. `from`: of the map. Returns false
 * if words.h is not for this map, this thread, or this moment. */
WORDS_INLINE bool words_enter(uint64_t from, struct epochs *epochs,
                              struct epochs_record *record)
{
    if (unlikely(load_relaxed(&record->epoch) != from))
        return false;
    epochs_enter_first(epochs, record);
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
    search.buckets = map_buckets(map);
    search.head = words_in_register(
        table_bucket(table_of(search.buckets), hash_word(key, &map->secret)));
    if (to_write)
        prefetch_for_write(&search.head->control);
    search.control = load_acquire(&search.head->control);
    search.hits = words_hits(search.head, search.control, key);
    return search;
}

WORDS_INLINE bool words_incomplete(const struct words_search *search)
{
    return search->control & WORDS_INCOMPLETE;
}

/* Whether what the search has found is whole, and all that there is to be found. One
 * comparison tells, for no later control word differs by these bits alone (I7). */
WORDS_INLINE bool words_hold(const struct words_search *search)
{
    return equals_relaxed(&search->head->control,
                          search->control & ~(uint64_t)WORDS_INCOMPLETE);
}

/* Returns the head's control word. Compilers must not know that the search has computed
 * its address already: they would save it on the stack and load it again. */
WORDS_INLINE struct atomic_u64 *words_control(const struct words_search *search)
{
    return &words_in_register(search->head)->control;
}

/* Hints that the key will be looked for soon. */
WORDS_INLINE void words_prefetch(struct map *map, struct epochs *epochs,
                                 struct epochs_record *record, uint64_t key)
{
    if (!words_enter(map->reads_from, epochs, record))
        return;
    prefetch_for_read(
        &table_bucket(map_table(map), hash_word(key, &map->secret))->control);
    words_leave(record);
}

/* Searches the whole chain, as a reader inside a section. */
static __attribute__((noinline, unused)) struct words_found
words_get_along(struct bucket *bucket, uint64_t key)
{
    enum bucket_search what = BUCKET_MISSES;
    uint64_t value = 0; /* bucket_search() can store one that it does not return */
    for (; bucket && what == BUCKET_MISSES; bucket = bucket_next(bucket)) {
        unsigned slot = 0;
        what = bucket_search(bucket, key, &slot, &value);
    }
    struct words_found found = {what == BUCKET_HITS ? value : 0, MAP_OK};
    if (what != BUCKET_HITS)
        found.result = what == BUCKET_MISSES ? MAP_ABSENT : (int)WORDS_ELSEWHERE;
    return found;
}

WORDS_INLINE struct words_found words_get(struct map *map, struct epochs *epochs,
                                          struct epochs_record *record, uint64_t key)
{
    struct words_found found = {0, WORDS_ELSEWHERE};
    if (!words_enter(map->reads_from, epochs, record))
        return found;
    struct words_search search = words_search(map, key, false);
    found.value = load_acquire(bucket_word(search.head, search.hits));
    found.result = search.hits ? MAP_OK : MAP_ABSENT;
    if (unlikely(!words_hold(&search)))
        found = words_get_along(search.head, key);
    words_leave(record);
    return found;
}

/* Puts the entry where the search has found the key, or into a free slot of the head.
 * While the table is being replaced, writers help, elsewhere. */
WORDS_INLINE int words_store(const struct words_search *search, uint64_t key,
                             uint64_t value)
{
    uint64_t control = search->control;
    uint64_t vacant = ~control & (BUCKET_LOCKED - 1);
    /* Compilers make branches of conditions on `hits`, but not of this mask. */
    uint64_t absent = (uint64_t)(((int64_t)search->hits - 1) >> 63);
    uint64_t bit = search->hits | (vacant & -vacant & absent);
    if (unlikely(bit == 0) || unlikely(control & WORDS_NOT_NOW) ||
        unlikely(table_next(table_of(search->buckets))) ||
        unlikely(!compare_exchange_acquire(words_control(search), &control,
                                           control | BUCKET_LOCKED)))
        return WORDS_ELSEWHERE;
    store_release(&search->head->keys[bit >> 1], key);
    store_release(bucket_word(search->head, bit), value);
    /* bucket_flipped(), if the key was absent. */
    bucket_unlock(search->head, control + ((bit + BUCKET_VERSION) & absent));
    return (int)absent & MAP_CREATED;
}

/* Returns MAP_OK, MAP_CREATED or WORDS_ELSEWHERE. */
WORDS_INLINE int words_put(struct map *map, struct epochs *epochs,
                           struct epochs_record *record, uint64_t key, uint64_t value)
{
    if (!words_enter(map->writes_from, epochs, record))
        return WORDS_ELSEWHERE;
    struct words_search search = words_search(map, key, true);
    int result = words_store(&search, key, value);
    words_leave(record);
    return result;
}

/* The same if the key is absent; else returns MAP_OK and changes nothing. */
WORDS_INLINE int words_insert(struct map *map, struct epochs *epochs,
                              struct epochs_record *record, uint64_t key,
                              uint64_t value)
{
    int result = WORDS_ELSEWHERE;
    if (!words_enter(map->writes_from, epochs, record))
        return result;
    struct words_search search = words_search(map, key, false);
    if (!search.hits)
        result = words_store(&search, key, value);
    else if (likely(words_hold(&search)))
        result = MAP_OK;
    words_leave(record);
    return result;
}

/* A table may be too large now. */
static __attribute__((noinline, unused)) void
words_removed(struct map *map, struct epochs_record *record, uint64_t key)
{
    resize_consider(map, record, map_table(map), hash_word(key, &map->secret), true);
}

/* Returns MAP_OK, MAP_ABSENT or WORDS_ELSEWHERE. */
WORDS_INLINE int words_remove(struct map *map, struct epochs *epochs,
                              struct epochs_record *record, uint64_t key)
{
    int result = WORDS_ELSEWHERE;
    if (!words_enter(map->writes_from, epochs, record))
        return result;
    struct words_search search = words_search(map, key, false);
    uint64_t control = search.control;
    /* bucket_flipped() */
    uint64_t removed = (control ^ search.hits) + BUCKET_VERSION;
    if (unlikely(words_incomplete(&search))) {
        /* elsewhere */
    } else if (!search.hits) {
        result = MAP_ABSENT;
    } else if (likely(!(control & BUCKET_LOCKED)) &&
               likely(!table_next(table_of(search.buckets))) &&
               likely(compare_exchange_acq_rel(words_control(&search), &control,
                                               removed))) {
        result = MAP_OK;
        if (unlikely(resize_due(record)))
            words_removed(map, record, key);
    }
    words_leave(record);
    return result;
}

#endif
