/* SPDX-License-Identifier: MIT */
/* Waiting: sleeping, waking and spinning. */
#include "litmus/litmus.h"

static void wakes(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 1);
        unpark(&x, 1);
    } else {
        park(&x, 0, NULL);
    }
}

static void wakes_too_early(unsigned thread)
{
    if (thread == 0) {
        unpark(&x, 1);
        store_relaxed(&x, 1);
    } else {
        park(&x, 0, NULL);
    }
}

static void moves(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 1);
        requeue(&x, 1, &y);
        unpark(&y, 1);
    } else {
        park(&x, 0, NULL);
    }
}

static void spins(unsigned thread)
{
    if (thread == 0)
        store_relaxed(&x, 1);
    else
        spin_until(load_relaxed(&x));
}

static void spins_for_ever(unsigned thread)
{
    if (thread == 0)
        store_relaxed(&x, 1);
    else
        spin_until(load_relaxed(&x) == 2);
}

const struct litmus sleeping_tests[] = {
    {"park", 2, wakes, finish_seen, nothing, "ok"},
    {"park, woken too early", 2, wakes_too_early, finish_seen, NULL, "deadlock"},
    {"requeue", 2, moves, finish_seen, nothing, "ok"},
    {"spin", 2, spins, finish_seen, nothing, "ok"},
    {"spin for ever", 2, spins_for_ever, finish_seen, NULL, "deadlock"},
    {0},
};
