/* SPDX-License-Identifier: MIT */
#include "structures/map/write.h"

#include "structures/map/chain.h"
#include "structures/map/memory.h"
#include "structures/map/resize.h"

/* One operation, from its preparation to its effects. */
struct write {
    struct map_key key;
    uint64_t value;      /* for the slot */
    struct node *node;   /* holds the value, and is not visible yet; or NULL */
    struct link *spare;  /* for the chain, or NULL */
    bool only_if_absent; /* of a put */
    map_decide *decide;  /* of an update */
    void *argument;

    /* Effects. */
    int result;
    bool wants_spare;
    struct retired *old_node;
    struct link *old_link;
    bool overflowed; /* an entry was inserted outside the head */
    bool removed;    /* an entry was removed */
};

typedef void apply_write(struct write *write, struct chain *chain);

static bool value_fits(const struct map *map, size_t length)
{
    return map->value_bytes ? length == map->value_bytes : length <= UINT32_MAX;
}

/* Prepares the value to write. Returns false if that fails, with the reason as the
 * write's result. */
static bool write_value(struct write *write, struct map *map, struct map_span value)
{
    if (!value_fits(map, value.length)) {
        write->result = MAP_BAD_VALUE;
        return false;
    }
    if (map->value_in_slot) {
        write->value = hash_read((const unsigned char *)value.bytes, value.length);
        return true;
    }
    size_t key_bytes = map->key_in_slot ? 0 : write->key.length;
    enum map_result why;
    struct node *node = (struct node *)memory_take(
        map, sizeof *node + key_bytes + value.length, _Alignof(struct node), &why);
    if (!node) {
        write->result = why;
        return false;
    }
    node->key_bytes = (uint32_t)key_bytes;
    node->value_bytes = (uint32_t)value.length;
    if (key_bytes)
        memcpy(node->bytes, write->key.bytes, key_bytes);
    if (value.length)
        memcpy(node->bytes + key_bytes, value.bytes, value.length);
    write->node = node;
    write->value = (uint64_t)(uintptr_t)node;
    return true;
}

static void note_old(struct write *write, const struct chain *chain, uint64_t value)
{
    if (!chain->map->value_in_slot)
        write->old_node = &node_at(value)->retired;
}

/* Inserts the prepared value at a place of chain_find(). */
static void insert(struct write *write, struct chain *chain, const struct place *place)
{
    write->wants_spare = place->slot == BUCKET_SLOTS && !write->spare;
    if (write->wants_spare)
        return;
    write->overflowed = place->slot == BUCKET_SLOTS || place->bucket != chain->head;
    chain_insert(chain, place, write->key.word, write->value, &write->spare);
    write->node = NULL;
    write->result = MAP_CREATED;
}

static void replace(struct write *write, struct chain *chain, const struct place *place)
{
    struct atomic_u64 *value = bucket_value(place->bucket, place->slot);
    note_old(write, chain, load_relaxed(value));
    bucket_replace(place->bucket, place->slot, write->value);
    write->node = NULL;
    write->result = MAP_OK;
}

static void take_out(struct write *write, struct chain *chain,
                     const struct place *place)
{
    note_old(write, chain, load_relaxed(bucket_value(place->bucket, place->slot)));
    write->old_link = chain_remove(chain, place);
    write->removed = true;
    write->result = MAP_OK;
}

static void apply_put(struct write *write, struct chain *chain)
{
    struct place place;
    if (!chain_find(chain, &write->key, &place))
        insert(write, chain, &place);
    else if (write->only_if_absent)
        write->result = MAP_OK;
    else
        replace(write, chain, &place);
}

static void apply_remove(struct write *write, struct chain *chain)
{
    struct place place;
    write->result = MAP_ABSENT;
    if (chain_find(chain, &write->key, &place))
        take_out(write, chain, &place);
}

static void apply_update(struct write *write, struct chain *chain)
{
    struct map *map = chain->map;
    struct place place;
    bool found = chain_find(chain, &write->key, &place);
    struct map_span old = {NULL, 0}, fresh = {NULL, 0};
    uint64_t word = 0;
    /* The function may only be called once, so what inserting needs comes first. */
    write->wants_spare = !found && place.slot == BUCKET_SLOTS && !write->spare;
    if (write->wants_spare)
        return;
    if (found) {
        word = load_relaxed(bucket_value(place.bucket, place.slot));
        old = map_value(map, &word);
    }
    write->result = found ? MAP_OK : MAP_ABSENT;
    enum map_change change = write->decide(write->argument, old, &fresh);
    if (change == MAP_REMOVE && found)
        take_out(write, chain, &place);
    if (change != MAP_STORE || !write_value(write, map, fresh))
        return;
    if (found)
        replace(write, chain, &place);
    else
        insert(write, chain, &place);
}

/* Applies the write to its chain, under the locks. Returns the table used. */
static inline __attribute__((always_inline)) struct table *
write_locked(struct map *map, struct write *write, apply_write *apply)
{
    struct stripe *stripe = NULL;
    struct chain chain;
    if (map->lock) {
        stripe = &map->stripes[map_part(write->key.hash, map->stripe_count)];
        map->lock->lock(&stripe->lock);
    }
    chain_acquire_key(&chain, map, write->key.hash);
    apply(write, &chain);
    chain_release(&chain);
    if (stripe)
        map->lock->unlock(&stripe->lock);
    return chain.table;
}

/* Returns whether the write is finished: because it has been applied, or because there
 * is no memory for the spare that it needs. */
static bool write_needs_no_more(struct map *map, struct write *write)
{
    enum map_result why;
    if (!write->wants_spare)
        return true;
    write->spare =
        (struct link *)memory_take(map, sizeof(struct link), BUCKET_LINE, &why);
    if (!write->spare)
        write->result = why;
    return !write->spare;
}

/* Gives back what the write has not used, and retires what it has unlinked. */
static void write_finish(struct map *map, struct epochs_record *record,
                         struct write *write)
{
    if (write->node)
        memory_give(map, write->node, node_bytes(write->node));
    if (write->spare)
        memory_give(map, write->spare, sizeof *write->spare);
    if (write->old_node)
        memory_retire(map, record, write->old_node, RETIRED_NODE);
    if (write->old_link)
        memory_retire(map, record, &write->old_link->retired, RETIRED_LINK);
}

static inline __attribute__((always_inline)) int write_run(struct map *map,
                                                           struct epochs_record *record,
                                                           struct write *write,
                                                           apply_write *apply)
{
    bool done = false;
    while (!done) {
        write->wants_spare = false;
        bool outermost = epochs_enter(map->epochs, record);
        struct table *table = write_locked(map, write, apply),
                     *current = map_table(map);
        if (unlikely(table_next(current)))
            resize_help(map, record, current);
        else if (unlikely(write->overflowed) ||
                 (write->removed && unlikely(resize_due(record))))
            resize_consider(map, record, table, write->key.hash, write->removed);
        epochs_leave(record, outermost);
        done = write_needs_no_more(map, write);
    }
    if (unlikely(write->node || write->spare || write->old_node || write->old_link))
        write_finish(map, record, write);
    memory_reclaim(map, record);
    return write->result;
}

/* Whether a reader finds the key. */
static bool present(struct map *map, struct epochs_record *record,
                    const struct map_key *key)
{
    uint64_t value;
    bool outermost = epochs_enter(map->epochs, record);
    bool found = map_find(map, key, &value);
    epochs_leave(record, outermost);
    return found;
}

static int put(struct map *map, struct epochs_record *record, const struct map_key *key,
               struct map_span value, bool only_if_absent)
{
    struct write write = {.key = *key, .only_if_absent = only_if_absent};
    if (only_if_absent && value_fits(map, value.length) &&
        present(map, record, &write.key))
        return MAP_OK;
    if (!write_value(&write, map, value))
        return write.result;
    return write_run(map, record, &write, apply_put);
}

int map_put_keyed(struct map *map, struct epochs_record *record,
                  const struct map_key *key, struct map_span value)
{
    return put(map, record, key, value, false);
}

int map_insert_keyed(struct map *map, struct epochs_record *record,
                     const struct map_key *key, struct map_span value)
{
    return put(map, record, key, value, true);
}

int map_remove_keyed(struct map *map, struct epochs_record *record,
                     const struct map_key *key)
{
    struct write write = {.key = *key, .result = MAP_ABSENT};
    if (!present(map, record, &write.key))
        return MAP_ABSENT;
    return write_run(map, record, &write, apply_remove);
}

int map_update_keyed(struct map *map, struct epochs_record *record,
                     const struct map_key *key, map_decide *decide, void *argument)
{
    struct write write = {.key = *key, .decide = decide, .argument = argument};
    return write_run(map, record, &write, apply_update);
}

int map_put(struct map *map, struct epochs_record *record, struct map_span key,
            struct map_span value)
{
    struct map_key sought;
    return map_key(map, &sought, key.bytes, key.length)
               ? map_put_keyed(map, record, &sought, value)
               : MAP_BAD_KEY;
}

int map_insert(struct map *map, struct epochs_record *record, struct map_span key,
               struct map_span value)
{
    struct map_key sought;
    return map_key(map, &sought, key.bytes, key.length)
               ? map_insert_keyed(map, record, &sought, value)
               : MAP_BAD_KEY;
}

int map_remove(struct map *map, struct epochs_record *record, struct map_span key)
{
    struct map_key sought;
    return map_key(map, &sought, key.bytes, key.length)
               ? map_remove_keyed(map, record, &sought)
               : MAP_BAD_KEY;
}

int map_update(struct map *map, struct epochs_record *record, struct map_span key,
               map_decide *decide, void *argument)
{
    struct map_key sought;
    return map_key(map, &sought, key.bytes, key.length)
               ? map_update_keyed(map, record, &sought, decide, argument)
               : MAP_BAD_KEY;
}
