/* SPDX-License-Identifier: MIT */
/*
 * The state of a map.
 *
 * TABLES. A table is an array of buckets (bucket.h), each the head of a chain. The
 * bucket of a key is the upper half of the product of its hash and the number of
 * buckets, so the buckets divide the hashes into equal ranges, for any number of
 * buckets. A table that is to be replaced has a `next`; its buckets are then moved one
 * by one, each under its own lock, by the threads that write (resize.h).
 *
 * ENTRIES. Where keys have one fixed length of at most 8 bytes, a slot's key is the key
 * itself; elsewhere it is the hash, and the key stands in a node. Where values, too,
 * have one fixed length of at most 8 bytes and the key is in the slot, the slot's value
 * is the value itself, and an entry needs no further memory; elsewhere it is the
 * address of a node, which never changes once it is visible. Replacing a value replaces
 * the node.
 *
 * LOCKS. Writers of a bucket exclude each other by the LOCKED bit of its control word,
 * or, if the map was created with a lock of the list, by the lock of the bucket's
 * stripe. A stripe is a range of hashes, so a key has the same stripe in every table:
 * the smallest number of buckets is a multiple of the number of stripes.
 */
#ifndef HASP_STRUCTURES_MAP_MAP_H
#define HASP_STRUCTURES_MAP_MAP_H

#include "locks/list/descriptor.h"
#include "structures/map/bucket.h"
#include "structures/map/hash.h"
#include "structures/map/retired.h"

enum {
    MAP_KEY_MOST = 65535, /* bytes of a key */
    MAP_BUCKETS_MOST = 1 << 30,
    MAP_LISTS = 16, /* of retired memory */
};

#define MAP_NEVER UINT64_MAX

/* Results of operations: not negative if there was no error. hasp/map.h explains them.
 * */
enum map_result {
    MAP_OK = 0,
    MAP_ABSENT = 1,
    MAP_CREATED = 2,
    MAP_BAD_KEY = -1,
    MAP_BAD_VALUE = -2,
    MAP_NO_MEMORY = -3,
    MAP_OVER_BUDGET = -4,
    MAP_SMALL_BUFFER = -5,
    MAP_BAD_OPTIONS = -6,
    MAP_UNKNOWN_LOCK = -7,
};

/* Where a map's memory comes from. `allocate` returns zeroed memory, or NULL. */
struct map_memory {
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
};

struct stripe {
    struct lock lock;
} __attribute__((aligned(CACHE_LINE)));

struct table {
    struct retired retired;
    uint64_t count;            /* of buckets */
    struct atomic_u64 next;    /* the table that replaces this one, or 0 */
    struct atomic_u64 claimed; /* buckets that a thread has begun to move */
    struct atomic_u64 moved;   /* buckets whose entries are in the next table */
    struct atomic_u64 failed;  /* a bucket was not moved for want of memory */
    struct bucket buckets[] __attribute__((aligned(CACHE_LINE)));
};

/* A further bucket of a chain. */
struct link {
    struct bucket bucket;
    struct retired retired;
} __attribute__((aligned(BUCKET_LINE)));

/* An entry that does not fit into a slot: the key, unless it is in the slot, and the
 * value. */
struct node {
    struct retired retired;
    uint32_t key_bytes, value_bytes;
    unsigned char bytes[];
};

struct map {
    /* Constant while the map is used, except `buckets`, which points to those of its
     * table: from the table's address, each search would have to add their offset. */
    struct atomic_u64 buckets __attribute__((aligned(CACHE_LINE)));
    struct hash_secret secret;
    struct epochs *epochs;
    uint32_t key_bytes, value_bytes; /* 0: any length */
    bool key_in_slot, value_in_slot;
    /* The epoch of a record whose thread can read, or write, by words.h: 0; or
     * MAP_NEVER, if words.h is not for this map. */
    uint64_t reads_from, writes_from;
    const struct lock_operations *lock; /* NULL: the buckets' own */
    struct stripe *stripes;
    uint64_t stripe_count;
    uint64_t least, most; /* buckets */
    uint64_t budget;      /* in bytes; UINT64_MAX: none */
    struct map_memory memory;
    struct lock_operations operations;

    struct atomic_u64 used
        __attribute__((aligned(CACHE_LINE))); /* bytes, if budgeted */
    struct atomic_u32 resizing;
    struct retired_list lists[MAP_LISTS] __attribute__((aligned(CACHE_LINE)));
};

/* Bytes that a user passes to an operation, or gets from it. */
struct map_span {
    const void *bytes;
    size_t length;
};

/* A key as operations pass it on. */
struct map_key {
    uint64_t hash, word; /* word: what its slot holds */
    const void *bytes;
    size_t length;
};

/* Returns the buckets of the map's table. */
static inline struct bucket *map_buckets(struct map *map)
{
    /* Acquire: pairs with the release in resize_finish and map_prepare. */
    return (struct bucket *)(uintptr_t)load_acquire(&map->buckets);
}

/* Returns the table that has these buckets. */
static inline struct table *table_of(struct bucket *buckets)
{
    return (struct table *)(void *)((char *)buckets - offsetof(struct table, buckets));
}

static inline struct table *map_table(struct map *map)
{
    return table_of(map_buckets(map));
}

static inline struct table *table_next(struct table *table)
{
    /* Acquire: pairs with the release in resize_begin. */
    return (struct table *)(uintptr_t)load_acquire(&table->next);
}

/* Returns the index of the part of `count` equal parts of all hashes. */
static inline uint64_t map_part(uint64_t hash, uint64_t count)
{
    return (uint64_t)((hash_product)hash * count >> 64);
}

static inline struct bucket *table_bucket(struct table *table, uint64_t hash)
{
    return &table->buckets[map_part(hash, table->count)];
}

static inline struct link *link_of(struct bucket *bucket)
{
    return (struct link *)(void *)bucket; /* its first member */
}

static inline struct node *node_at(uint64_t value)
{
    return (struct node *)(uintptr_t)value;
}

/* Fills in the key. Returns false if a key of this length does not belong here. */
static inline bool map_key(const struct map *map, struct map_key *key,
                           const void *bytes, size_t length)
{
    if (map->key_bytes ? length != map->key_bytes : length > MAP_KEY_MOST)
        return false;
    key->bytes = bytes;
    key->length = length;
    if (map->key_in_slot) {
        key->word = hash_read((const unsigned char *)bytes, length);
        key->hash = hash_word(key->word, &map->secret);
    } else {
        key->word = key->hash = hash_bytes(bytes, length, map->secret.seed);
    }
    return true;
}

/* Returns whether the slot's value, whose key word is that of `key`, belongs to it. */
static inline bool map_matches(const struct map *map, const struct map_key *key,
                               uint64_t value)
{
    if (map->key_in_slot)
        return true;
    const struct node *node = node_at(value);
    return node->key_bytes == key->length &&
           memcmp(node->bytes, key->bytes, key->length) == 0;
}

/* Returns the value that the slot's value stands for. */
static inline struct map_span map_value(const struct map *map, const uint64_t *value)
{
    struct map_span span;
    if (map->value_in_slot) {
        span.bytes = value;
        span.length = map->value_bytes;
    } else {
        span.bytes = node_at(*value)->bytes + node_at(*value)->key_bytes;
        span.length = node_at(*value)->value_bytes;
    }
    return span;
}

/* Finds the key, as a reader inside a section. Stores the slot's value. */
static inline bool map_find(struct map *map, const struct map_key *key, uint64_t *value)
{
    struct table *table = map_table(map);
    struct bucket *bucket = table_bucket(table, key->hash);
    while (bucket) {
        unsigned slot = 0;
        enum bucket_search found = bucket_search(bucket, key->word, &slot, value);
        while (found == BUCKET_HITS) {
            if (likely(map_matches(map, key, *value)))
                return true;
            slot++;
            found = bucket_search(bucket, key->word, &slot, value);
        }
        if (unlikely(found == BUCKET_HAS_MOVED)) {
            table = table_next(table);
            bucket = table_bucket(table, key->hash);
        } else {
            bucket = bucket_next(bucket);
        }
    }
    return false;
}

#endif
