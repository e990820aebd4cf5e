/* SPDX-License-Identifier: MIT */
/*
 * Clients of the map: a reader finds what is present, whole and never after it was
 * freed; writers lose nothing; a table may be replaced meanwhile. At first the maps
 * have one bucket with one key.
 */
#include "explorer/clients/clients.h"
#include "explorer/execution/services.h"
#include "explorer/base/limits.h"
#include "explorer/base/variables.h"

#include "structures/map/memory.h"
#include "structures/map/resize.h"
#include "structures/map/write.h"

#include <string.h>

enum { FIRST = 11, SECOND, THIRD, OLD = 101, FRESH, OTHER };
enum { BLOCKS = 4, BLOCK_BYTES = 2 * CACHE_LINE + 2 * BUCKET_LINE, WORD = 8 };
enum { COLLECTIONS = EPOCHS_APART + 2, POISON = 0xdead };

/* Blocks are never used again, so what is read after it was freed shows. */
struct block {
    unsigned char bytes[BLOCK_BYTES] __attribute__((aligned(CACHE_LINE)));
};

static struct block blocks[THREADS][BLOCKS], first_table[2], first_node;
static unsigned blocks_used[THREADS];
static struct epochs epochs;
static struct epochs_record records[THREADS];
static struct map words, nodes; /* with values in the slots, and in nodes */

static void *take_block(void *context, size_t bytes, size_t alignment)
{
    unsigned thread = current_thread() % THREADS;
    (void)context, (void)alignment;
    expect(bytes <= BLOCK_BYTES && blocks_used[thread] < BLOCKS,
           "a block is too small");
    return blocks[thread][blocks_used[thread]++].bytes;
}

/* Writes to a field of tables and nodes that their readers read: the explorer reports a
 * reader that may still come. */
static void give_block(void *context, void *block, size_t bytes)
{
    (void)context;
    if (bytes != sizeof(struct link))
        ((struct node *)block)->key_bytes = POISON;
}

_Static_assert(offsetof(struct node, key_bytes) == offsetof(struct table, count),
               "give_block() poisons both");

static void prepare(struct map *map, struct block *block, bool value_in_slot)
{
    struct table *table = (struct table *)(void *)block->bytes;
    struct bucket *bucket = (struct bucket *)(void *)(block->bytes + CACHE_LINE);
    struct node *node = (struct node *)(void *)first_node.bytes;
    table->count = 1;
    bucket->control.raw = bucket_flipped(0, 0);
    bucket->keys[0].raw = FIRST;
    bucket->values[0].raw = value_in_slot ? OLD : (uint64_t)(uintptr_t)node;
    node->value_bytes = OLD;
    map->table.raw = (uint64_t)(uintptr_t)table;
    map->epochs = &epochs;
    map->key_bytes = map->value_bytes = WORD;
    map->key_in_slot = true;
    map->value_in_slot = value_in_slot;
    map->least = map->stripe_count = 1;
    map->most = 2;
    map->budget = UINT64_MAX;
    map->memory.allocate = take_block;
    map->memory.release = give_block;
}

const unsigned map_variants = 2;

int map_variant_find(const char *name)
{
    return strcmp(name, "map") == 0 ? 1 : -1;
}

struct lock_descriptor map_client_uses(void)
{
    static const struct lock_descriptor about = {.name = "map"};
    epochs.now.raw = 1;
    for (unsigned i = 0; i < THREADS; i++) {
        records[i].number = 0; /* all use one list of retired memory */
        records[i].next = i ? &records[i - 1] : NULL;
    }
    epochs.records.raw = (uint64_t)(uintptr_t)&records[THREADS - 1];
    prepare(&words, &first_table[0], true);
    prepare(&nodes, &first_table[1], false);
    return about;
}

static struct map_span word_span(const uint64_t *word)
{
    struct map_span span = {word, WORD};
    return span;
}

static int put(unsigned thread, uint64_t key, uint64_t value)
{
    begin_operation();
    return map_put(&words, &records[thread], word_span(&key), word_span(&value));
}

static int take_out(unsigned thread, uint64_t key)
{
    begin_operation();
    return map_remove(&words, &records[thread], word_span(&key));
}

/* Returns the value, or 0. */
static uint64_t find(unsigned thread, uint64_t key)
{
    struct map_key sought;
    uint64_t value = 0;
    begin_operation();
    map_key(&words, &sought, &key, WORD);
    bool outermost = epochs_enter(&epochs, &records[thread]);
    bool found = map_find(&words, &sought, &value);
    epochs_leave(&records[thread], outermost);
    return found ? value : 0;
}

/* The slot of a removed entry gets another one, while a reader is in the bucket. */
static void slot_is_used_again(unsigned thread)
{
    if (thread == 0) {
        take_out(0, FIRST);
        put(0, SECOND, FRESH);
        return;
    }
    uint64_t value = find(thread, thread == 1 ? FIRST : SECOND);
    expect(!value || value == (thread == 1 ? OLD : FRESH), "a value of another key");
}

/* The same for a reader that begins after it has seen the removal. */
static void insertion_is_seen(unsigned thread)
{
    if (thread == 0) {
        put(0, SECOND, FRESH);
        store_relaxed(&flag, 1);
    } else if (find(1, SECOND)) {
        expect(find(1, SECOND) == FRESH, "an entry vanishes");
        expect(find(1, FIRST) == OLD, "an entry vanishes");
    }
}

static void writers(unsigned thread)
{
    if (thread == 0)
        expect(put(0, SECOND, FRESH) == MAP_CREATED, "another key was taken for it");
    else if (thread == 1)
        expect(put(1, THIRD, OTHER) == MAP_CREATED, "another key was taken for it");
    else
        expect(take_out(2, FIRST) == MAP_OK, "a key is not found");
}

static void finish_writers(void)
{
    expect(find(FINISHER, FIRST) == 0, "a removal is lost");
    expect(find(FINISHER, SECOND) == FRESH, "an insertion is lost");
    expect(find(FINISHER, THIRD) == OTHER, "an insertion is lost");
}

/* Two writers replace a value; the later one sees what the earlier one did before. */
static enum map_change add_one(void *argument, struct map_span value,
                               struct map_span *fresh)
{
    uint64_t *sum = argument;
    *sum = *(const uint64_t *)value.bytes + 1;
    *fresh = word_span(sum);
    return MAP_STORE;
}

static void updates(unsigned thread)
{
    uint64_t key = FIRST, sum = 0;
    begin_operation();
    map_update(&words, &records[thread], word_span(&key), add_one, &sum);
}

static void finish_updates(void)
{
    expect(find(FINISHER, FIRST) == OLD + 2, "an update is lost");
}

static void grow(struct map *map, unsigned thread)
{
    begin_operation();
    bool outermost = epochs_enter(&epochs, &records[thread]);
    struct table *table = map_table(map);
    if (table->count == 1)
        resize_begin(map, table, 2);
    if (table_next(table))
        resize_help(map, &records[thread], table);
    epochs_leave(&records[thread], outermost);
}

static void table_is_replaced(unsigned thread)
{
    if (thread == 0)
        grow(&words, 0);
    else if (thread == 1)
        expect(find(1, FIRST) == OLD, "an entry is not found while it is moved");
    else
        put(2, SECOND, FRESH);
}

static void finish_replaced(void)
{
    expect(map_table(&words)->count == 2, "the table was not replaced");
    expect(find(FINISHER, FIRST) == OLD, "an entry was lost");
    expect(find(FINISHER, SECOND) == FRESH, "an entry was lost");
}

/* Two threads move a bucket, or one replaces a value meanwhile. */
static void helpers(unsigned thread)
{
    if (thread < 2)
        grow(&words, thread);
    else
        put(2, FIRST, FRESH);
}

static void finish_helpers(void)
{
    expect(map_table(&words)->count == 2, "the table was not replaced");
    expect(find(FINISHER, FIRST) == FRESH, "a value was lost");
}

static void collect(struct map *map)
{
    begin_operation();
    struct retired *item = retired_collect(&map->lists[0], &epochs);
    for (; item; item = item->next)
        give_block(NULL, item,
                   retired_kind(item) == RETIRED_LINK ? sizeof(struct link)
                                                      : sizeof(struct node));
}

/* Reads a node as the user of hasp_map_read() does. */
static void read_node(unsigned thread)
{
    struct map_key sought;
    uint64_t key = FIRST, value = 0;
    begin_operation();
    map_key(&nodes, &sought, &key, WORD);
    bool outermost = epochs_enter(&epochs, &records[thread]);
    if (map_find(&nodes, &sought, &value)) {
        uint32_t length = node_at(value)->value_bytes;
        expect(length == OLD || length == FRESH, "a node is not whole");
    }
    epochs_leave(&records[thread], outermost);
}

/* Unlinks the first node, and puts another one there; then frees all that it may. */
static void replace_node(unsigned thread)
{
    struct node *node = (struct node *)(void *)blocks[thread][0].bytes;
    struct bucket *bucket = table_bucket(map_table(&nodes), 0);
    begin_operation();
    node->value_bytes = FRESH;
    uint64_t control = bucket_lock(bucket);
    struct node *old = node_at(load_relaxed(&bucket->values[0]));
    bucket_replace(bucket, 0, (uint64_t)(uintptr_t)node);
    bucket_unlock(bucket, control);
    old->retired.tag = RETIRED_NODE;
    retired_push(&nodes.lists[0], &old->retired);
}

static void node_is_freed(unsigned thread)
{
    if (thread) {
        read_node(thread);
        return;
    }
    replace_node(0);
    for (int i = 0; i < COLLECTIONS; i++)
        collect(&nodes);
}

/* Others end epochs, too. */
static void node_is_freed_by_two(unsigned thread)
{
    if (thread == 0) {
        replace_node(0);
        for (int i = 0; i < COLLECTIONS; i++)
            collect(&nodes);
    } else if (thread == 1) {
        begin_operation();
        epochs_advance(&epochs);
        begin_operation();
        epochs_advance(&epochs);
    } else {
        read_node(2);
    }
}

static void table_is_freed(unsigned thread)
{
    if (thread) {
        expect(find(1, FIRST) == OLD, "an entry is not found while it is moved");
        return;
    }
    grow(&words, 0);
    for (int i = 0; i < COLLECTIONS; i++)
        collect(&words);
}

static void finish_nothing(void)
{
}

const struct client map_clients[] = {
    {.name = "reuse",
     .summary = "an entry is removed and another inserted; two threads search",
     .threads = 3,
     .body = slot_is_used_again,
     .finish = finish_nothing},
    {.name = "insert",
     .summary = "an entry is inserted, and found twice",
     .threads = 2,
     .body = insertion_is_seen,
     .finish = finish_nothing},
    {.name = "writers",
     .summary = "two threads insert and one removes",
     .threads = 3,
     .body = writers,
     .finish = finish_writers},
    {.name = "updates",
     .summary = "two threads increment the same value",
     .threads = 2,
     .body = updates,
     .finish = finish_updates},
    {.name = "grow",
     .summary = "the table is replaced while one thread searches and one inserts",
     .threads = 3,
     .body = table_is_replaced,
     .finish = finish_replaced},
    {.name = "helpers",
     .summary = "two threads replace the table while one replaces a value",
     .threads = 3,
     .body = helpers,
     .finish = finish_helpers},
    {.name = "free-node",
     .summary = "an entry is replaced and freed while a thread reads it",
     .threads = 2,
     .body = node_is_freed,
     .finish = finish_nothing},
    {.name = "free-by-two",
     .summary = "the same while a third thread ends epochs",
     .threads = 3,
     .body = node_is_freed_by_two,
     .finish = finish_nothing},
    {.name = "free-table",
     .summary = "a table is replaced and freed while a thread searches it",
     .threads = 2,
     .body = table_is_freed,
     .finish = finish_nothing},
};
const unsigned map_client_count = sizeof map_clients / sizeof map_clients[0];
