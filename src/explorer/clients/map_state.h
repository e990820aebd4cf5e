/* SPDX-License-Identifier: MIT */
/* The maps under check. At first each has one bucket with the key FIRST. */
#ifndef HASP_EXPLORER_CLIENTS_MAP_STATE_H
#define HASP_EXPLORER_CLIENTS_MAP_STATE_H

#include "explorer/base/limits.h"

#include "structures/map/map.h"

enum { FIRST = 11, SECOND, THIRD, FOURTH, FIFTH, OLD = 101, FRESH, OTHER };
enum { WORD = 8, POISON = 0xdead };

/* Memory that threads allocate, and never use again, so that what is read after it was
 * freed shows. */
enum { BLOCKS = 4, BLOCK_BYTES = 2 * CACHE_LINE + 2 * BUCKET_LINE };
struct block {
    unsigned char bytes[BLOCK_BYTES] __attribute__((aligned(CACHE_LINE)));
};
extern struct block blocks[THREADS][BLOCKS];

extern struct epochs epochs, fenced_epochs;
extern struct epochs_record records[THREADS], fenced_records[THREADS], late_record;
extern struct map words, full; /* full: the bucket has three keys */
extern struct map nodes, fenced_nodes;
extern struct map pair; /* two buckets, with one key each */
extern uint64_t pair_keys[2];

/* A map with a node that was unlinked in epoch 1. It is epoch 2, and thread 2 has been
 * in a section since that began. */
extern struct map held;
extern struct epochs held_epochs;
extern struct epochs_record held_records[THREADS];
struct node *held_node(void);

/* Writes to a field of tables and nodes that their readers read: the explorer reports a
 * reader that may still come. */
void poison(void *block, size_t bytes);

/* Operations of a thread; in variant map-words, those of words.h where they apply.
 * Results as in write.h; find_in returns the value, or 0. */
int put_into(struct map *map, unsigned thread, uint64_t key, uint64_t value);
int insert_into(struct map *map, unsigned thread, uint64_t key, uint64_t value);
int take_out_of(struct map *map, unsigned thread, uint64_t key);
uint64_t find_in(struct map *map, unsigned thread, uint64_t key);

/* The same without words.h in any variant, and without begin_operation(). */
uint64_t find_anyhow_in(struct map *map, unsigned thread, uint64_t key);

static inline struct map_span word_span(const uint64_t *word)
{
    struct map_span span = {word, WORD};
    return span;
}

#endif
