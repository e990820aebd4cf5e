/* SPDX-License-Identifier: MIT */
#include "explorer/clients/map_state.h"

#include "explorer/clients/clients.h"
#include "explorer/execution/services.h"

#include "structures/map/words.h"
#include "structures/map/write.h"

#include <string.h>

enum { LINKS = 4 };

struct block blocks[THREADS][BLOCKS];
static struct block first_table[6], first_nodes[3];
/* Memory that an entry of FOURTH was in, and that the allocator clears. */
static struct link links[THREADS][LINKS];
static unsigned blocks_used[THREADS], links_used[THREADS];
struct epochs epochs, fenced_epochs, held_epochs;
struct epochs_record records[THREADS], fenced_records[THREADS], late_record;
struct epochs_record held_records[THREADS];
struct map words, full;
struct map nodes, fenced_nodes, pair, held;
uint64_t pair_keys[2];

static void *take_link(unsigned thread)
{
    expect(links_used[thread] < LINKS, "there are too few links");
    struct link *link = &links[thread][links_used[thread]++];
    store_relaxed(&link->bucket.control, 0);
    store_relaxed(&link->bucket.keys[0], 0);
    store_relaxed(bucket_value(&link->bucket, 0), 0);
    return link;
}

static void *take_block(void *context, size_t bytes, size_t alignment)
{
    unsigned thread = current_thread() % THREADS;
    (void)context, (void)alignment;
    if (bytes == sizeof(struct link))
        return take_link(thread);
    expect(bytes <= BLOCK_BYTES && blocks_used[thread] < BLOCKS,
           "a block is too small");
    return blocks[thread][blocks_used[thread]++].bytes;
}

void poison(void *block, size_t bytes)
{
    if (bytes != sizeof(struct link))
        ((struct node *)block)->key_bytes = POISON;
}

_Static_assert(offsetof(struct node, key_bytes) == offsetof(struct table, count),
               "poison() spoils both");

static void give_block(void *context, void *block, size_t bytes)
{
    (void)context;
    poison(block, bytes);
}

static void prepare(struct map *map, struct block *block, struct block *first_node,
                    struct epochs *of_map)
{
    struct table *table = (struct table *)(void *)block->bytes;
    struct bucket *bucket = (struct bucket *)(void *)(block->bytes + CACHE_LINE);
    table->count = 1;
    bucket->control.raw = bucket_flipped(0, 0);
    bucket->keys[0].raw = FIRST;
    bucket_value(bucket, 0)->raw = OLD;
    if (first_node) {
        bucket_value(bucket, 0)->raw = (uint64_t)(uintptr_t)first_node->bytes;
        node_at(bucket_value(bucket, 0)->raw)->value_bytes = OLD;
    }
    map->buckets.raw = (uint64_t)(uintptr_t)table->buckets;
    map->epochs = of_map;
    map->secret = hash_secret(0);
    map->key_bytes = map->value_bytes = WORD;
    map->key_in_slot = true;
    map->value_in_slot = !first_node;
    map->least = map->stripe_count = 1;
    map->most = 2;
    map->budget = UINT64_MAX;
    map->memory.allocate = take_block;
    map->memory.release = give_block;
}

static void prepare_epochs(struct epochs *made, struct epochs_record *with)
{
    made->now.raw = 1;
    for (unsigned i = 0; i < THREADS; i++) {
        with[i].number = 0; /* all use one list of retired memory */
        with[i].next = i ? &with[i - 1] : NULL;
    }
    made->records.raw = (uint64_t)(uintptr_t)&with[THREADS - 1];
}

struct node *held_node(void)
{
    return (struct node *)(void *)first_nodes[2].bytes;
}

static void prepare_held(void)
{
    prepare_epochs(&held_epochs, held_records);
    prepare(&held, &first_table[5], NULL, &held_epochs);
    held_epochs.now.raw = 2;
    held_records[2].epoch.raw = 2;
    held_node()->retired.tag = 1 * RETIRED_KINDS + RETIRED_NODE;
    held.lists[0].head.raw = (uint64_t)(uintptr_t)held_node();
}

static void prepare_pair(void)
{
    struct table *table = (struct table *)(void *)first_table[4].bytes;
    prepare(&pair, &first_table[4], NULL, &epochs);
    table->count = 2;
    pair.most = 4;
    for (unsigned i = 0; i < 2; i++) {
        struct bucket *bucket = &table->buckets[i];
        pair_keys[i] = FIRST;
        while (table_bucket(table, hash_word(pair_keys[i], &pair.secret)) != bucket)
            pair_keys[i]++;
        bucket->control.raw = bucket_flipped(0, 0);
        bucket->keys[0].raw = pair_keys[i];
        bucket_value(bucket, 0)->raw = OLD;
    }
}

static const char *const variants[] = {NULL, "map", "map-words"};
const unsigned map_variants = sizeof variants / sizeof variants[0];
static bool as_words; /* use the functions of words.h where they apply */

int map_variant_find(const char *name)
{
    for (unsigned i = 1; i < map_variants; i++)
        if (strcmp(name, variants[i]) == 0)
            return (int)i;
    return -1;
}

struct lock_descriptor map_client_uses(unsigned variant)
{
    const struct lock_descriptor about = {.name = variants[variant]};
    as_words = variant == 2;
    prepare_epochs(&epochs, records);
    prepare_epochs(&fenced_epochs, fenced_records);
    fenced_epochs.fenced.raw = 1;
    prepare(&words, &first_table[0], NULL, &epochs);
    prepare(&full, &first_table[1], NULL, &epochs);
    prepare(&nodes, &first_table[2], &first_nodes[0], &epochs);
    prepare(&fenced_nodes, &first_table[3], &first_nodes[1], &fenced_epochs);
    struct bucket *bucket =
        (struct bucket *)(void *)(first_table[1].bytes + CACHE_LINE);
    for (unsigned i = 1; i < BUCKET_SLOTS; i++) {
        bucket->control.raw = bucket_flipped(bucket->control.raw, i);
        bucket->keys[i].raw = FIRST + i;
        bucket_value(bucket, i)->raw = OLD;
    }
    full.most = 1;
    prepare_pair();
    prepare_held();
    for (unsigned i = 0; i < THREADS * LINKS; i++) {
        struct bucket *old = &links[i / LINKS][i % LINKS].bucket;
        old->control.raw = bucket_flipped(0, 0);
        old->keys[0].raw = FOURTH;
        bucket_value(old, 0)->raw = OTHER;
    }
    return about;
}

static int store_into(struct map *map, unsigned thread, uint64_t key, uint64_t value,
                      bool only_if_absent)
{
    struct epochs_record *record = &records[thread];
    int result = WORDS_ELSEWHERE;
    begin_operation();
    if (as_words)
        result = (only_if_absent ? words_insert : words_put)(map, map->epochs, record,
                                                              key, value);
    if (result == WORDS_ELSEWHERE)
        result = (only_if_absent ? map_insert : map_put)(map, record, word_span(&key),
                                                         word_span(&value));
    return result;
}

int put_into(struct map *map, unsigned thread, uint64_t key, uint64_t value)
{
    return store_into(map, thread, key, value, false);
}

int insert_into(struct map *map, unsigned thread, uint64_t key, uint64_t value)
{
    return store_into(map, thread, key, value, true);
}

int take_out_of(struct map *map, unsigned thread, uint64_t key)
{
    int result = WORDS_ELSEWHERE;
    begin_operation();
    if (as_words)
        result = words_remove(map, map->epochs, &records[thread], key);
    if (result == WORDS_ELSEWHERE)
        result = map_remove(map, &records[thread], word_span(&key));
    return result;
}

uint64_t find_in(struct map *map, unsigned thread, uint64_t key)
{
    begin_operation();
    struct words_found word = {0, WORDS_ELSEWHERE};
    if (as_words)
        word = words_get(map, map->epochs, &records[thread], key);
    expect(word.result == WORDS_ELSEWHERE || (word.result == MAP_OK) == !!word.value,
           "a value is not there yet");
    return word.result == WORDS_ELSEWHERE ? find_anyhow_in(map, thread, key)
                                          : word.value;
}

uint64_t find_anyhow_in(struct map *map, unsigned thread, uint64_t key)
{
    struct map_key sought;
    uint64_t value = 0;
    if (!map_key(map, &sought, &key, WORD))
        return 0;
    bool outermost = epochs_enter(&epochs, &records[thread]);
    bool found = map_find(map, &sought, &value);
    epochs_leave(&records[thread], outermost);
    expect(!found || value, "a value is not there yet");
    return found ? value : 0;
}
