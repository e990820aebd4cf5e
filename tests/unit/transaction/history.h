/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a recorded history of transactions is opaque: R. Guerraoui, M.
 * Kapalka, "On the correctness of transactional memory", PPoPP 2008. There must be an
 * order of all transactions, committed or aborted, that agrees with time, and in which
 * each one loads what the committed ones before it have stored last. The search is that
 * of J. M. Wing, C. Gong (JPDC 17, 1993), with a memory of visited states.
 */
#ifndef HASP_TESTS_UNIT_TRANSACTION_HISTORY_H
#define HASP_TESTS_UNIT_TRANSACTION_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    HISTORY_WORDS = 3,
    HISTORY_MOST = 32, /* transactions */
    VISITED_MOST = 1 << 16,
};

struct record {
    uint64_t began, ended; /* positions in time, all different */
    bool committed;
    bool loads[HISTORY_WORDS], stores[HISTORY_WORDS];
    uint64_t loaded[HISTORY_WORDS]; /* before it stored the word itself */
    uint64_t stored[HISTORY_WORDS]; /* last */
};

struct history {
    unsigned count;
    struct record records[HISTORY_MOST];
};

struct values {
    uint64_t words[HISTORY_WORDS];
};

struct visited {
    uint32_t done; /* bit set of transactions */
    struct values values;
    bool used;
};

/* Whether the transaction fits here. Applies what it has stored. */
static inline bool record_fits(const struct record *record, struct values *values)
{
    for (int i = 0; i < HISTORY_WORDS; i++)
        if (record->loads[i] && record->loaded[i] != values->words[i])
            return false;
    for (int i = 0; i < HISTORY_WORDS; i++)
        if (record->committed && record->stores[i])
            values->words[i] = record->stored[i];
    return true;
}

/* Notes the state. Returns false if it has been visited, or there are too many. */
static inline bool history_is_new(struct visited *visited, uint32_t done,
                                  const struct values *values)
{
    uint64_t hash = done;
    for (int i = 0; i < HISTORY_WORDS; i++)
        hash = (hash ^ values->words[i]) * 0x9e3779b97f4a7c15u;
    for (uint64_t at = hash >> 40, left = VISITED_MOST; left; at++, left--) {
        struct visited *entry = &visited[at % VISITED_MOST];
        if (entry->used && entry->done == done &&
            memcmp(&entry->values, values, sizeof *values) == 0)
            return false;
        if (!entry->used) {
            entry->done = done;
            entry->values = *values;
            entry->used = true;
            return true;
        }
    }
    return false;
}

static inline bool history_goes_on(const struct history *history, uint32_t done,
                                   struct values values, struct visited *visited)
{
    uint64_t first_end = UINT64_MAX;
    if (done == (uint32_t)(((uint64_t)1 << history->count) - 1))
        return true;
    if (!history_is_new(visited, done, &values))
        return false;
    for (unsigned i = 0; i < history->count; i++)
        if (!(done >> i & 1) && history->records[i].ended < first_end)
            first_end = history->records[i].ended;
    for (unsigned i = 0; i < history->count; i++) {
        /* Only one that began before every other one ended can be next. */
        const struct record *next = &history->records[i];
        struct values after = values;
        if (!(done >> i & 1) && next->began < first_end && record_fits(next, &after) &&
            history_goes_on(history, done | (uint32_t)1 << i, after, visited))
            return true;
    }
    return false;
}

/* `values`: of the words, before. */
static inline bool history_is_opaque(const struct history *history,
                                     const struct values *values)
{
    static struct visited visited[VISITED_MOST];
    memset(visited, 0, sizeof visited);
    return history_goes_on(history, 0, *values, visited);
}

#endif
