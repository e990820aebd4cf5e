/* SPDX-License-Identifier: MIT */
#include "delegation/call.h"

struct pool call_pool;

struct call *call_take(void)
{
    struct call *call = (struct call *)pool_take(&call_pool);
    store_relaxed(&call->cell, CALL_WAITING);
    store_relaxed(&call->next, 0);
    store_relaxed(&call->asleep, 0);
    return call;
}

/* Algorithms exchange calls between threads: each keeps what it gets. */
void call_give(struct call *call)
{
    pool_give_here(&call_pool, (struct pool_slot *)call);
}
