/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a recorded history of one key is linearizable: J. M. Wing, C. Gong,
 * "Testing and verifying concurrent objects", JPDC 17, 1993; with the memory of
 * visited states of G. Lowe, "Testing for linearizability", CCPE 2017. A map is
 * linearizable if the history of each key is (M. Herlihy, J. M. Wing, TOPLAS 1990,
 * theorem 1).
 */
#ifndef HASP_TESTS_UNIT_MAP_HISTORY_H
#define HASP_TESTS_UNIT_MAP_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    HISTORY_MOST = 32, /* operations on one key */
    VISITED_MOST = 1 << 14,
};

enum { NOTHING = 0 }; /* the value of an absent key */

enum call { CALL_PUT, CALL_INSERT, CALL_REMOVE, CALL_GET, CALL_ADD };

struct operation {
    enum call call;
    uint64_t began, ended; /* positions in time, all different */
    uint64_t given;        /* value stored or added; not NOTHING */
    uint64_t found;        /* value before the operation, as far as it tells */
    bool was_present;      /* as the operation reports */
};

struct history {
    unsigned count;
    struct operation operations[HISTORY_MOST];
};

struct visited {
    uint32_t done; /* bit set of operations */
    uint64_t value;
    bool used;
};

/* Applies the operation to the value. Returns false if its result contradicts it. */
static inline bool operation_applies(const struct operation *operation, uint64_t *value)
{
    if (operation->was_present != (*value != NOTHING))
        return false;
    switch (operation->call) {
    case CALL_GET:
        return !operation->was_present || operation->found == *value;
    case CALL_PUT:
        *value = operation->given;
        return true;
    case CALL_INSERT:
        *value = operation->was_present ? *value : operation->given;
        return true;
    case CALL_REMOVE:
        *value = NOTHING;
        return true;
    case CALL_ADD:
        if (operation->was_present && operation->found != *value)
            return false;
        *value += operation->given;
        return true;
    }
    return false;
}

/* Notes the state. Returns false if it has been visited. */
static inline bool history_is_new(struct visited *visited, uint32_t done,
                                  uint64_t value)
{
    uint64_t at = (done * 0x9e3779b97f4a7c15u ^ value * 0xc2b2ae3d27d4eb4fu) >> 40;
    for (;; at++) {
        struct visited *entry = &visited[at % VISITED_MOST];
        if (entry->used && entry->done == done && entry->value == value)
            return false;
        if (!entry->used) {
            *entry = (struct visited){done, value, true};
            return true;
        }
    }
}

static inline bool history_goes_on(const struct history *history, uint32_t done,
                                   uint64_t value, struct visited *visited)
{
    uint64_t first_end = UINT64_MAX;
    if (done == (uint32_t)(((uint64_t)1 << history->count) - 1))
        return true;
    if (!history_is_new(visited, done, value))
        return false;
    for (unsigned i = 0; i < history->count; i++)
        if (!(done >> i & 1) && history->operations[i].ended < first_end)
            first_end = history->operations[i].ended;
    for (unsigned i = 0; i < history->count; i++) {
        /* Only an operation that began before every other one ended can be next. */
        const struct operation *next = &history->operations[i];
        uint64_t after = value;
        if (!(done >> i & 1) && next->began < first_end &&
            operation_applies(next, &after) &&
            history_goes_on(history, done | (uint32_t)1 << i, after, visited))
            return true;
    }
    return false;
}

/* Returns whether some order of the operations explains all results, if the key was
 * absent (NOTHING) or had this value before. */
static inline bool history_is_linearizable(const struct history *history,
                                           uint64_t value)
{
    static struct visited visited[VISITED_MOST];
    memset(visited, 0, sizeof visited);
    return history_goes_on(history, 0, value, visited);
}

#endif
