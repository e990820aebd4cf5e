/* SPDX-License-Identifier: MIT */
#include "structures/map/iterate.h"

#include "structures/map/chain.h"

enum { BATCH = 64 };

struct entry {
    uint64_t word, value;
};

/* Entries of one range of hashes. */
struct batch {
    uint64_t first, last; /* hashes */
    unsigned used;
    struct entry entries[BATCH];
};

static uint64_t hash_of(const struct map *map, uint64_t word)
{
    return map->key_in_slot ? hash_word(word, &map->secret) : word;
}

static bool same_key(const struct map *map, const struct entry *entry, uint64_t word,
                     uint64_t value)
{
    if (entry->word != word)
        return false;
    if (map->key_in_slot)
        return true;
    const struct node *a = node_at(entry->value), *b = node_at(value);
    return a->key_bytes == b->key_bytes &&
           memcmp(a->bytes, b->bytes, a->key_bytes) == 0;
}

/* Adds an entry unless its key is there: it may have been removed and inserted again in
 * another slot meanwhile. Returns false if the batch is full. */
static bool batch_add(const struct map *map, struct batch *batch, uint64_t word,
                      uint64_t value)
{
    uint64_t at = hash_of(map, word);
    if (at < batch->first || at > batch->last)
        return true;
    for (unsigned i = 0; i < batch->used; i++)
        if (same_key(map, &batch->entries[i], word, value))
            return true;
    if (batch->used == BATCH)
        return false;
    batch->entries[batch->used].word = word;
    batch->entries[batch->used++].value = value;
    return true;
}

/* Copies the bucket's entries as they were at one moment. Returns false if it has
 * moved. */
static bool copy_bucket(struct bucket *bucket, struct entry *entries, unsigned *count)
{
    uint64_t control = load_acquire(&bucket->control), again;
    for (;; control = again) {
        if (control & BUCKET_MOVED)
            return false;
        *count = 0;
        for (unsigned i = 0; i < BUCKET_SLOTS; i++)
            if (bucket_has(control, i)) {
                entries[*count].word = load_acquire(&bucket->keys[i]);
                entries[(*count)++].value = load_acquire(bucket_value(bucket, i));
            }
        again = load_acquire(&bucket->control);
        if (!bucket_changed(control, again))
            return true;
    }
}

enum copied { COPIED, TOO_LARGE, MOVED };

static enum copied copy_chain(const struct map *map, struct bucket *bucket,
                              struct batch *batch)
{
    for (; bucket; bucket = bucket_next(bucket)) {
        struct entry entries[BUCKET_SLOTS];
        unsigned count;
        if (!copy_bucket(bucket, entries, &count))
            return MOVED;
        for (unsigned i = 0; i < count; i++)
            if (!batch_add(map, batch, entries[i].word, entries[i].value))
                return TOO_LARGE;
    }
    return COPIED;
}

/* Returns the last hash of the part `index` of `count`. */
static uint64_t last_of(uint64_t index, uint64_t count)
{
    return (uint64_t)(((((hash_product)index + 1) << 64) - 1) / count);
}

/* Fills the batch with the entries from its `first` on. The range ends where that of
 * the first table's bucket ends: further hashes of a larger bucket of the next table
 * may not have moved there yet. */
static void batch_fill(struct map *map, struct batch *batch)
{
    struct table *table = map_table(map);
    uint64_t length = UINT64_MAX;
    for (;;) {
        uint64_t index = map_part(batch->first, table->count);
        batch->last = last_of(index, table->count);
        if (batch->last - batch->first > length)
            batch->last = batch->first + length;
        length = batch->last - batch->first;
        batch->used = 0;
        switch (copy_chain(map, &table->buckets[index], batch)) {
        case COPIED:
            return;
        case MOVED:
            table = table_next(table);
            break;
        case TOO_LARGE:
            length /= 2;
            break;
        }
    }
}

static bool visit_batch(const struct map *map, const struct batch *batch,
                        map_visit *visit, void *argument)
{
    for (unsigned i = 0; i < batch->used; i++) {
        const struct entry *entry = &batch->entries[i];
        struct map_span key = {&entry->word, map->key_bytes};
        if (!map->key_in_slot) {
            key.bytes = node_at(entry->value)->bytes;
            key.length = node_at(entry->value)->key_bytes;
        }
        if (!visit(argument, key, map_value(map, &entry->value)))
            return false;
    }
    return true;
}

bool map_iterate(struct map *map, struct epochs_record *record, map_visit *visit,
                 void *argument)
{
    struct batch batch = {.last = UINT64_MAX};
    bool goes_on;
    do {
        bool outermost = epochs_enter(map->epochs, record);
        batch.first = batch.last + 1; /* 0 at first */
        batch_fill(map, &batch);
        goes_on = visit_batch(map, &batch, visit, argument);
        epochs_leave(record, outermost);
    } while (goes_on && batch.last < UINT64_MAX);
    return goes_on;
}

static bool count_one(void *argument, struct map_span key, struct map_span value)
{
    (void)key, (void)value;
    ++*(uint64_t *)argument;
    return true;
}

uint64_t map_count(struct map *map, struct epochs_record *record)
{
    uint64_t count = 0;
    map_iterate(map, record, count_one, &count);
    return count;
}
