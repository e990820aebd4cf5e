/* SPDX-License-Identifier: MIT */
#include "delegation/call.h"

struct pool call_pool;

struct call *call_take(void)
{
    struct call *call = call_detach((struct call *)pool_take(&call_pool));
    store_relaxed(&call->cell, CALL_WAITING);
    return call;
}

/* Algorithms exchange calls between threads: each keeps what it gets. */
void call_give(struct call *call)
{
    pool_give_here(&call_pool, (struct pool_slot *)call);
}

/* A request that follows, from another destructor, registers this function again. */
void call_end_thread(void)
{
    const uint32_t id = load_relaxed(&held_nodes()->call);
    store_relaxed(&held_nodes()->call, 0);
    if (id && id != CALL_KEPT_NONE)
        call_give(call_at(id));
}

void call_keep(struct call *call)
{
    struct atomic_u32 *kept = &held_nodes()->call;
    if (!load_relaxed(kept) && at_thread_end(call_end_thread))
        store_relaxed(kept, call_detach(call)->link.id);
    else
        call_give(call);
}
