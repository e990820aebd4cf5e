/* SPDX-License-Identifier: MIT */
/*
 * A hash table under measurement, and the loop that uses it. Keys and values are words.
 * The loop is compiled into each subject's file, so that every table is called as its
 * users call it: inlined if it is a header, by a call if it is a library.
 */
#ifndef HASP_BENCH_TABLES_SUBJECT_H
#define HASP_BENCH_TABLES_SUBJECT_H

#include "platform/linkage.h"

#include <stdbool.h>
#include <stdint.h>

enum { QUANTILES = 4096, DICE = 1024, CHECK_EVERY = 64, LINE_BYTES = 128 };

/* What a worker does, and what it has done. */
struct load {
    void *table;
    const bool *stop;
    const uint64_t *quantiles; /* of the keys, each as probable as the others */
    uint32_t updates;          /* of DICE operations; half of them put, half remove */
    uint64_t random;           /* state */
    uint64_t operations, found, inserted, removed;
    char apart[LINE_BYTES];
};

struct subject {
    const char *name;
    /* Returns an empty table that will have about so many entries. `lock`: of the list,
     * "servers=N" or "all-by=N" (they also read), for subjects that take one; or NULL.
     * Returns NULL if that is not possible. */
    void *(*create)(uint64_t elements, const char *lock);
    bool (*put)(void *table, uint64_t key, uint64_t value);
    void (*work)(struct load *load);
    struct subject *next;
};

C_LINKAGE_BEGIN
void subject_add(struct subject *subject);
C_LINKAGE_END

/* Each returns whether the key was found, inserted, or removed. */
typedef bool subject_get(void *table, uint64_t key, uint64_t *value);
typedef bool subject_put(void *table, uint64_t key, uint64_t value);
typedef bool subject_remove(void *table, uint64_t key);
typedef void subject_pause(void);

static inline uint64_t load_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    return mixed ^ mixed >> 27;
}

static inline void subject_no_pause(void)
{
}

/* `pause` is called between some operations. */
static inline __attribute__((always_inline)) void
load_run(struct load *load, subject_get *get, subject_put *put, subject_remove *remove,
         subject_pause *pause)
{
    uint64_t operations = 0, found = 0, value = 0;
    while (!__atomic_load_n(load->stop, __ATOMIC_RELAXED)) {
        for (int i = 0; i < CHECK_EVERY; i++) {
            uint64_t random = load_random(&load->random);
            uint64_t key = load->quantiles[random % QUANTILES];
            uint32_t dice = (uint32_t)(random >> 40) % DICE;
            if (dice >= load->updates)
                found += get(load->table, key, &value);
            else if (dice % 2)
                load->inserted += put(load->table, key, random);
            else
                load->removed += remove(load->table, key);
        }
        operations += CHECK_EVERY;
        pause();
    }
    load->operations = operations;
    load->found = found + (value & 0);
}

#endif
