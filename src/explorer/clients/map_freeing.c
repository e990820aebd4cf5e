/* SPDX-License-Identifier: MIT */
#include "explorer/clients/map_freeing.h"

#include "explorer/clients/map_state.h"
#include "explorer/execution/services.h"

#include "structures/map/resize.h"

void map_collect(struct map *map)
{
    begin_operation();
    struct retired *item = retired_collect(&map->lists[0], map->epochs);
    for (; item; item = item->next)
        poison(item, retired_kind(item) == RETIRED_LINK ? sizeof(struct link)
                                                        : sizeof(struct node));
}

/* Reads a node as the user of hasp_map_read() does. */
static void read_node(struct map *map, struct epochs_record *record)
{
    struct map_key sought;
    uint64_t key = FIRST, value = 0;
    begin_operation();
    if (!map_key(map, &sought, &key, WORD))
        return;
    bool outermost = epochs_enter(map->epochs, record);
    if (map_find(map, &sought, &value)) {
        const struct node *node = node_at(value);
        expect(node->value_bytes == OLD || node->value_bytes == FRESH,
               "a node is not whole");
        expect(node->key_bytes != POISON, "a node was freed too early");
    }
    epochs_leave(record, outermost);
}

/* Unlinks the first node, and puts another one there; then frees all that it may. */
static void replace_node(struct map *map, unsigned thread)
{
    struct node *node = (struct node *)(void *)blocks[thread][0].bytes;
    struct bucket *bucket = table_bucket(map_table(map), 0);
    begin_operation();
    node->value_bytes = FRESH;
    uint64_t control = bucket_lock(bucket);
    struct node *old = node_at(load_relaxed(bucket_value(bucket, 0)));
    bucket_replace(bucket, 0, (uint64_t)(uintptr_t)node);
    bucket_unlock(bucket, control);
    old->retired.tag = RETIRED_NODE;
    retired_push(&map->lists[0], &old->retired);
}

static void replace_and_free(struct map *map)
{
    replace_node(map, 0);
    for (int i = 0; i < COLLECTIONS; i++)
        map_collect(map);
}

void node_is_freed(unsigned thread)
{
    if (thread)
        read_node(&nodes, &records[thread]);
    else
        replace_and_free(&nodes);
}

void node_is_freed_with_fences(unsigned thread)
{
    if (thread)
        read_node(&fenced_nodes, &fenced_records[thread]);
    else
        replace_and_free(&fenced_nodes);
}

void late_reader(unsigned thread)
{
    if (thread) {
        begin_operation();
        store_relaxed(&late_record.taken, 1);
        epochs_add(&epochs, &late_record);
        read_node(&nodes, &late_record);
    } else {
        replace_and_free(&nodes);
    }
}

/* Two threads use one record, one after the other. */
void record_is_used_again(unsigned thread)
{
    begin_operation();
    struct epochs_record *record = NULL;
    while (!(record = epochs_take(&epochs)))
        relax();
    if (record == &records[THREADS - 1])
        record->pressure++;
    epochs_give(record);
    (void)thread;
}

void another_collects(unsigned thread)
{
    if (thread == 0)
        replace_node(&nodes, 0);
    else
        for (int i = 0; i < COLLECTIONS; i++)
            map_collect(&nodes);
}

void node_is_freed_by_two(unsigned thread)
{
    if (thread == 0) {
        replace_and_free(&nodes);
    } else if (thread == 1) {
        begin_operation();
        epochs_advance(&epochs);
        begin_operation();
        epochs_advance(&epochs);
    } else {
        read_node(&nodes, &records[2]);
    }
}

/* At first a reader is in a section that began in the epoch after that in which the
 * node was unlinked (I2). One thread ends epochs; another one only finds that they have
 * ended, and frees. */
void node_is_freed_late(unsigned thread)
{
    begin_operation();
    if (thread == 0) {
        map_collect(&held);
    } else if (thread == 1) {
        epochs_advance(&held_epochs);
        epochs_advance(&held_epochs);
    } else {
        expect(held_node()->key_bytes != POISON, "a node was freed too early");
        epochs_leave(&held_records[thread], true);
    }
}
