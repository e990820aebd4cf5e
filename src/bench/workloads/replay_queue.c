/* SPDX-License-Identifier: MIT */
/* Queues between threads of a replayed load: some fill them, others wait for that. */
#include "bench/workloads/replay_run.h"

#include "awaiting.h"
#include "eliding.h"

struct replay_queue {
    struct atomic_u64 items __attribute__((aligned(CACHE_LINE))); /* under the mutex */
    struct awaited filled;
};

bool replay_queue_create(struct run *run, struct replay_site *site)
{
    site->queue = site->queues ? run_memory(run, sizeof *site->queue) : NULL;
    return site->queue || !site->queues;
}

bool replay_queue_take(struct player *player, const struct attempt *attempt,
                       struct mutex *mutex, struct note *made)
{
    struct replay_queue *queue = attempt->site->queue;
    uint64_t items;
    while ((items = load_relaxed(&queue->items)) == 0) {
        if (!run_goes_on(player->run, ticks_aside()))
            return false;
        eliding_forbid();
        replay_add_span(player, attempt->lock, made->wanted, ticks_aside());
        awaited_wait(player->run, &queue->filled, mutex);
        made->wanted = made->began = ticks_aside();
    }
    store_relaxed(&queue->items, items - 1);
    return true;
}

void replay_queue_put(struct player *player, const struct attempt *attempt,
                      uint64_t number)
{
    struct replay_queue *queue = attempt->site->queue;
    store_relaxed(&queue->items, load_relaxed(&queue->items) + number);
    for (; number && awaited_has_waiter(&queue->filled); number--) {
        eliding_forbid();
        awaited_wake(player->run, &queue->filled, false);
    }
}

void replay_queues_close(struct player *player)
{
    const struct replay_load *load = &player->replay->load;
    for (unsigned i = 0; i < load->site_count; i++) {
        const struct replay_site *site = &load->sites[i];
        if (!site->queues)
            continue;
        struct mutex *mutex = load->one_lock ? &player->replay->only->mutex
                                             : &replay_lock_at(site, 0)->mutex;
        mutex_lock(player->run, mutex);
        eliding_forbid();
        awaited_wake(player->run, &site->queue->filled, true);
        mutex_unlock(player->run, mutex);
    }
}
