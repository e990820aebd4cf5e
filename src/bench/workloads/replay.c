/* SPDX-License-Identifier: MIT */
/*
 * The load of a recorded program: workers with different roles, several sites of locks,
 * sections inside others, and readers and writers. See replay.h for its description.
 *
 * Writers increment a counter in each line (replay_section.c); lost updates show that a
 * lock does not exclude.
 */
#include "bench/workloads/replay_run.h"

#include "bench/workloads/list.h"
#include "eliding.h"
#include "locks/waiting/policies.h"

#include <stdlib.h>

enum { MILLION = 1000000 };

static bool create_locks(struct run *run, struct replay_site *site)
{
    site->in_total = site->locks * (site->each_worker ? run->threads : 1);
    site->memory = run_memory(run, site->in_total * lock_bytes(site));
    for (uint64_t i = 0; site->memory && i < site->in_total; i++) {
        mutex_create(&replay_lock_at(site, i)->mutex);
        sharing_create(&replay_lock_at(site, i)->sharing);
    }
    site->point = run_memory(run, sizeof *site->point);
    return site->memory && site->point && replay_queue_create(run, site);
}

/* Counts the threads that acquire the locks of each site outside of other sections. */
static void count_members(struct replay_load *load)
{
    for (unsigned i = 0; i < load->role_count; i++) {
        const struct replay_role *role = &load->roles[i];
        for (unsigned n = 0; n < role->visit_count; n++)
            load->sites[role->visits[n].site].members += role->threads;
    }
}

bool replay_prepare(struct run *run)
{
    struct replay *replay = calloc(1, sizeof *replay);
    run->shared = replay;
    if (!replay) {
        explain(run, "out of memory");
        return false;
    }
    struct replay_load *load = &replay->load;
    if (!replay_load_read(run, load))
        return false;
    unsigned threads = 0;
    for (unsigned i = 0; i < load->role_count; i++)
        threads += load->roles[i].threads;
    if (threads != run->threads) {
        explain(run, "%s describes %u threads, not %u", run->load, threads,
                run->threads);
        return false;
    }
    replay->stats =
        calloc((size_t)run->threads * load->site_count + 1, sizeof *replay->stats);
    replay->players = calloc(run->threads, sizeof *replay->players);
    replay->only = run_memory(run, sizeof *replay->only);
    if (replay->only)
        mutex_create(&replay->only->mutex);
    count_members(load);
    eliding_set(load->trylock_nests, load->nesting);
    bool made = replay->only && replay->stats && replay->players;
    if (!made)
        explain(run, "out of memory");
    for (unsigned i = 0; made && i < load->site_count; i++)
        made = create_locks(run, &load->sites[i]);
    return made;
}

static unsigned next_site(struct player *player)
{
    const struct replay_role *role = player->role;
    if (role->visit_count == 1)
        return role->visits[0].site;
    uint64_t drawn = random_below(&player->worker->random,
                                  role->visits[role->visit_count - 1].sum);
    unsigned low = 0;
    while (drawn >= role->visits[low].sum)
        low++;
    return role->visits[low].site;
}

/* No other thread knows the word that this one sleeps on, so nobody wakes it early. */
static void sleep_for(uint64_t ns)
{
    struct atomic_u32 word = {0};
    struct deadline deadline = deadline_after(ns);
    while (park(&word, 0, &deadline))
        ; /* a spurious wake-up */
}

void replay_work(struct run *run, struct worker *worker)
{
    struct replay *replay = run->shared;
    const struct replay_role *role = replay->load.roles;
    for (unsigned first = 0; worker->index >= first + role->threads; role++)
        first += role->threads;
    struct player *player = &replay->players[worker->index];
    *player = (struct player){
        .run = run,
        .worker = worker,
        .replay = replay,
        .role = role,
        .stats = &replay->stats[(size_t)worker->index * replay->load.site_count],
    };
    worker->aside = role->aside;
    for (;;) {
        uint64_t gap = replay_shaped(player, role->gap, role->gap_shape);
        if (gap)
            pause_cycles(gap);
        if (role->idle && random_below(&worker->random, MILLION) < role->idle_ppm)
            sleep_for(replay_shaped(player, role->idle, role->idle_shape));
        uint64_t start = ticks_aside();
        if (!run_goes_on(run, start))
            break;
        replay_section(player, next_site(player));
        run_count(run, worker, start, ticks_aside());
    }
    replay_queues_close(player);
}

static uint64_t updates(const struct replay_site *site, uint64_t line)
{
    uint64_t counted = 0;
    for (uint64_t i = 0; i < site->in_total; i++)
        for (uint64_t part = 0; part < site->parts; part++) {
            uint64_t at = part * site->lines + line;
            counted += load_relaxed(&replay_lock_at(site, i)->lines[at].count);
        }
    return counted;
}

bool replay_check(struct run *run)
{
    const struct replay *replay = run->shared;
    const unsigned sites = replay->load.site_count;
    for (unsigned i = 0; i < run->threads; i++) {
        if (replay->players[i].lost) {
            explain(run, "out of memory");
            return false;
        }
    }
    for (unsigned number = 0; number < sites; number++) {
        const struct replay_site *site = &replay->load.sites[number];
        uint64_t writes = 0;
        for (unsigned i = 0; i < run->threads; i++)
            writes += replay->stats[(size_t)i * sites + number].writes;
        for (uint64_t line = 0; line < site->lines; line++) {
            uint64_t counted = updates(site, line);
            if (counted == writes)
                continue;
            explain(run, "the lock does not exclude: %llu of %llu updates were lost",
                    (unsigned long long)(writes - counted), (unsigned long long)writes);
            return false;
        }
    }
    return true;
}
