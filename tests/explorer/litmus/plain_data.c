/* SPDX-License-Identifier: MIT */
/* Plain data: these tests check the verdict. */
#include "litmus/litmus.h"

static uint32_t data;

#define PLAIN(name, store, load, fence)                                                \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        if (thread == 0) {                                                             \
            data = 1;                                                                  \
            fence;                                                                     \
            store(&y, 1);                                                              \
        } else if (load(&y)) {                                                         \
            fence;                                                                     \
            r[0] = data;                                                               \
        }                                                                              \
    }
PLAIN(plain, store_release, load_acquire, light_barrier())
PLAIN(plain_fences, store_relaxed, load_relaxed, fence_seq_cst())
PLAIN(race_store, store_relaxed, load_acquire, light_barrier())
PLAIN(race_load, store_release, load_relaxed, light_barrier())

static void race_on_read(unsigned thread)
{
    if (thread == 0) {
        r[0] = data;
        store_relaxed(&y, 1);
    } else if (load_acquire(&y)) {
        data = 1;
    }
}

/* The fences order the two accesses, but no message creates happens-before. */
static void race_between_fences(unsigned thread)
{
    store_relaxed(thread ? &y : &x, 1);
    fence_seq_cst();
    if (!load_relaxed(thread ? &x : &y))
        data = thread;
}

static bool sometimes(const uint32_t *v)
{
    return v[0] < 2 && !v[1] && !v[2] && !v[3];
}

const struct litmus plain_data_tests[] = {
    {"plain data", 2, plain, finish_seen, sometimes, "ok"},
    {"plain data, fences", 2, plain_fences, finish_seen, sometimes, "ok"},
    {"race, relaxed store", 2, race_store, finish_seen, NULL, "data race"},
    {"race, relaxed load", 2, race_load, finish_seen, NULL, "data race"},
    {"race, read first", 2, race_on_read, finish_seen, NULL, "data race"},
    {"no race behind fences", 2, race_between_fences, finish_seen, nothing, "ok"},
    {0},
};
