/* SPDX-License-Identifier: MIT */
/* The chain of buckets of one part of a table, as its only writer sees and changes it.
 * */
#ifndef HASP_STRUCTURES_MAP_CHAIN_H
#define HASP_STRUCTURES_MAP_CHAIN_H

#include "structures/map/map.h"

/* A chain that the caller has locked. */
struct chain {
    struct map *map;
    struct table *table;
    struct bucket *head;
    uint64_t control; /* of the head; chain_release() stores it */
};

/* A slot of a chain. */
struct place {
    struct bucket *bucket, *before; /* before: its predecessor in the chain, or NULL */
    unsigned slot;
};

/* Locks the chain if its entries are still in this table. */
static inline bool chain_acquire(struct chain *chain, struct map *map,
                                 struct table *table, struct bucket *head)
{
    chain->map = map;
    chain->table = table;
    chain->head = head;
    /* A stripe's lock stands for LOCKED. */
    chain->control = map->lock ? load_acquire(&head->control) : bucket_lock(head);
    return !(chain->control & BUCKET_MOVED);
}

static inline void chain_release(const struct chain *chain)
{
    bucket_unlock(chain->head, chain->control);
}

/* Locks the chain to which keys of this hash belong now. */
static inline void chain_acquire_key(struct chain *chain, struct map *map,
                                     uint64_t hash)
{
    struct table *table = map_table(map);
    while (!chain_acquire(chain, map, table, table_bucket(table, hash)))
        table = table_next(table);
}

static inline uint64_t chain_control(const struct chain *chain, struct bucket *bucket)
{
    return bucket == chain->head ? chain->control : load_relaxed(&bucket->control);
}

static inline void chain_set_control(struct chain *chain, struct bucket *bucket,
                                     uint64_t control)
{
    if (bucket == chain->head)
        chain->control = control;
    else
        store_release(&bucket->control, control);
}

static inline bool chain_slot_matches(const struct chain *chain, struct bucket *bucket,
                                      unsigned slot, const struct map_key *key)
{
    return load_relaxed(&bucket->keys[slot]) == key->word &&
           map_matches(chain->map, key, load_relaxed(bucket_value(bucket, slot)));
}

/* Finds the key. If it is absent, `found` is where it can be inserted: a free slot; or
 * the last bucket, with slot BUCKET_SLOTS, if there is none. */
static inline bool chain_find(const struct chain *chain, const struct map_key *key,
                              struct place *found)
{
    struct bucket *before = NULL, *bucket = chain->head;
    struct place vacant = {NULL, NULL, BUCKET_SLOTS};
    for (;;) {
        uint64_t control = chain_control(chain, bucket);
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            bool has = bucket_has(control, i);
            if (has ? chain_slot_matches(chain, bucket, i, key) : !vacant.bucket) {
                struct place *place = has ? found : &vacant;
                place->bucket = bucket;
                place->before = before;
                place->slot = i;
                if (has)
                    return true;
            }
        }
        struct bucket *next = bucket_next(bucket);
        if (!next)
            break;
        before = bucket;
        bucket = next;
    }
    if (!vacant.bucket) {
        vacant.bucket = bucket;
        vacant.before = before;
    }
    *found = vacant;
    return false;
}

/* Adds an entry at a place of chain_find(). Uses up *spare, and clears it, if the place
 * is beyond the last bucket. */
static inline void chain_insert(struct chain *chain, const struct place *place,
                                uint64_t key, uint64_t value, struct link **spare)
{
    struct bucket *bucket = place->bucket;
    if (place->slot < BUCKET_SLOTS) {
        bucket_write(bucket, place->slot, key, value);
        chain_set_control(chain, bucket,
                          bucket_flipped(chain_control(chain, bucket), place->slot));
        return;
    }
    struct bucket *fresh = &(*spare)->bucket;
    bucket_write(fresh, 0, key, value);
    store_relaxed(&fresh->control, bucket_flipped(0, 0));
    if (!(chain->control & BUCKET_CHAINED)) {
        chain->control |= BUCKET_CHAINED;
        fetch_or_relaxed(&chain->head->control, BUCKET_CHAINED); /* I7 */
    }
    bucket_append(bucket, fresh);
    *spare = NULL;
}

/* Removes the entry. Returns its bucket if that is empty now and has been taken out of
 * the chain, else NULL. */
static inline struct link *chain_remove(struct chain *chain, const struct place *place)
{
    struct bucket *bucket = place->bucket;
    uint64_t control = bucket_flipped(chain_control(chain, bucket), place->slot);
    chain_set_control(chain, bucket, control);
    if (bucket == chain->head || bucket_used(control))
        return NULL;
    struct bucket *next = bucket_next(bucket);
    bucket_append(place->before, next);
    if (!next && place->before == chain->head) /* I7 */
        chain->control += BUCKET_VERSION - (uint64_t)BUCKET_CHAINED;
    return link_of(bucket);
}

#endif
