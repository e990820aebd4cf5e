/* SPDX-License-Identifier: MIT */
/* Checks behind which waiters a thread spins instead of parking. */
#include "check.h"

#include "locks/algorithms/clh.h"
#include "locks/waiting/policies.h"

static void test_runs_soon(void)
{
    struct waiter *waiter = waiter_take();
    CHECK(runs_soon(waiter)); /* awake */
    store_relaxed(&waiter->asleep, 1);
    store_relaxed(&waiter->cell, WAITER_PARKED);
    CHECK(!runs_soon(waiter));
    store_relaxed(&waiter->cell, WAITER_GRANTED); /* being woken, or the holder */
    CHECK(runs_soon(waiter));
    store_relaxed(&waiter->cell, WAITER_HANDED_OVER);
    CHECK(runs_soon(waiter));
    waiter_give(waiter);
}

/* A waiter of clh sleeps on its predecessor's cell. */
static void test_clh_runs_soon(void)
{
    struct lock lock = {.kind = 0};
    struct clh *clh = clh_of(&lock);
    struct waiter *waiter = waiter_take(), *ahead = waiter_take();
    store_relaxed(&waiter->previous, clh_name(ahead->link.id));
    CHECK(clh_runs_soon(clh, waiter)); /* awake */
    store_relaxed(&waiter->asleep, 1);
    store_relaxed(&ahead->cell, WAITER_PARKED);
    CHECK(!clh_runs_soon(clh, waiter));
    store_relaxed(&ahead->cell, WAITER_GRANTED);
    CHECK(clh_runs_soon(clh, waiter));
    store_relaxed(&waiter->previous, CLH_NUMBER); /* the holder has a number */
    CHECK(!clh_runs_soon(clh, waiter));
    store_relaxed(&clh->cell, CLH_NUMBER | CLH_PARKED);
    CHECK(clh_runs_soon(clh, waiter));
    waiter_give(ahead);
    waiter_give(waiter);
}

int main(void)
{
    test_runs_soon();
    test_clh_runs_soon();
    return 0;
}
