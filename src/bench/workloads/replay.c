/* SPDX-License-Identifier: MIT */
/*
 * The load of a recorded program: workers with different roles, several sites of locks,
 * sections inside others, and readers and writers. See replay.h for its description.
 *
 * A section reads and writes `lines` lines and then pauses for its time. Writers
 * increment a counter in each line; lost updates show that a lock does not exclude.
 */
#include "bench/workloads/replay_run.h"

#include "bench/workloads/list.h"
#include "locks/waiting/policies.h"

#include <stdlib.h>

enum { MILLION = 1000000 };

static struct replay_lock *lock_number(const struct replay_site *site, uint64_t index)
{
    return (struct replay_lock *)(site->memory + index * lock_bytes(site));
}

static bool create_locks(struct run *run, struct replay_site *site)
{
    site->in_total = site->locks * (site->each_worker ? run->threads : 1);
    site->memory = run_memory(run, site->in_total * lock_bytes(site));
    for (uint64_t i = 0; site->memory && i < site->in_total; i++) {
        mutex_create(&lock_number(site, i)->mutex);
        sharing_create(&lock_number(site, i)->sharing);
    }
    return site->memory != NULL;
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
    bool made = replay->stats && replay->players;
    if (!made)
        explain(run, "out of memory");
    for (unsigned i = 0; made && i < load->site_count; i++)
        made = create_locks(run, &load->sites[i]);
    return made;
}

static uint64_t shaped(struct player *player, uint64_t mean, unsigned shape)
{
    uint64_t pick = random_below(&player->worker->random, SHAPE_VALUES);
    return mean * player->replay->load.shapes[shape][pick] / 1000;
}

/* Returns true in `permille` of 1000 cases. */
static bool happens(struct player *player, uint64_t permille)
{
    return random_below(&player->worker->random, 1000) < permille;
}

static struct replay_lock *picked(struct player *player, const struct replay_site *site)
{
    uint64_t first = site->each_worker ? player->worker->index * site->locks : 0;
    uint64_t whole = (site->weighed ? site->sums[site->weighed - 1] : 0) + site->tail;
    if (site->locks == 1)
        return lock_number(site, first);
    uint64_t drawn = random_below(&player->worker->random, whole);
    unsigned low = 0, high = site->weighed;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (drawn < site->sums[middle])
            high = middle;
        else
            low = middle + 1;
    }
    if (low == site->weighed && site->locks > site->weighed)
        low += (unsigned)random_below(&player->worker->random,
                                      site->locks - site->weighed);
    return lock_number(site, first + low);
}

static void touch(struct replay_lock *lock, uint64_t lines, bool reads)
{
    for (uint64_t i = 0; i < lines; i++)
        access_ahead(&lock->lines[i], false);
    for (uint64_t i = 0; i < lines; i++) {
        struct atomic_u64 *count = &lock->lines[i].count;
        uint64_t value = load_relaxed(count);
        if (reads)
            continue;
        access_ahead(count, true);
        store_relaxed(count, value + 1);
    }
}

static void acquire(struct run *run, const struct replay_site *site,
                    struct replay_lock *lock, bool reads)
{
    if (!site->rwlock)
        mutex_lock(run, &lock->mutex);
    else if (reads)
        sharing_read_lock(run, &lock->sharing);
    else
        sharing_write_lock(run, &lock->sharing);
}

static void release(struct run *run, const struct replay_site *site,
                    struct replay_lock *lock)
{
    if (site->rwlock)
        sharing_unlock(run, &lock->sharing);
    else
        mutex_unlock(run, &lock->mutex);
}

/* Notes the part within the window. */
static void add_span(struct player *player, const struct replay_lock *lock,
                     uint64_t from, uint64_t to)
{
    const struct run *run = player->run;
    from = from > run->window_start ? from : run->window_start;
    to = to < run->window_end ? to : run->window_end;
    if (from >= to)
        return;
    if (player->span_count == player->span_room) {
        size_t room = player->span_room ? 2 * player->span_room : 256;
        struct span *spans = realloc(player->spans, room * sizeof *spans);
        if (!spans) {
            player->span_lost = true;
            return;
        }
        player->spans = spans;
        player->span_room = room;
    }
    player->spans[player->span_count++] =
        (struct span){.lock = lock, .from = from, .to = to};
}

static void section(struct player *player, unsigned number)
{
    struct run *run = player->run;
    const struct replay_load *load = &player->replay->load;
    const struct replay_site *site = &load->sites[number];
    const struct replay_use *use = &player->role->uses[number];
    struct replay_stats *stats = &player->stats[number];
    bool reads = site->rwlock && happens(player, use->reads);
    struct replay_lock *lock = picked(player, site);
    uint64_t wanted = ticks_aside();
    acquire(run, site, lock, reads);
    uint64_t began = ticks_aside();
    touch(lock, site->lines, reads);
    uint64_t pause = shaped(player, use->hold, site->shape);
    if (pause)
        pause_cycles(pause);
    for (unsigned i = 0; i < site->inner_count; i++) {
        uint64_t times = site->inner[i].times;
        uint64_t rounds = times / 1000 + happens(player, times % 1000);
        for (uint64_t n = 0; n < rounds; n++)
            section(player, site->inner[i].site);
    }
    uint64_t ended = ticks_aside();
    release(run, site, lock);
    add_span(player, lock, wanted, reads ? began : ended);
    stats->writes += !reads;
    if (run_counts(run, began)) {
        histogram_add(&player->worker->acquire, began - wanted);
        stats->acquisitions++;
        stats->waited += began - wanted;
        stats->held += ended - began;
    }
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
        uint64_t gap = shaped(player, role->gap, role->gap_shape);
        if (gap)
            pause_cycles(gap);
        if (role->idle && random_below(&worker->random, MILLION) < role->idle_ppm)
            sleep_for(shaped(player, role->idle, role->gap_shape));
        uint64_t start = ticks_aside();
        if (!run_goes_on(run, start))
            return;
        section(player, next_site(player));
        run_count(run, worker, start, ticks_aside());
    }
}

static uint64_t updates(const struct replay_site *site, uint64_t line)
{
    uint64_t counted = 0;
    for (uint64_t i = 0; i < site->in_total; i++)
        counted += load_relaxed(&lock_number(site, i)->lines[line].count);
    return counted;
}

bool replay_check(struct run *run)
{
    const struct replay *replay = run->shared;
    const unsigned sites = replay->load.site_count;
    for (unsigned i = 0; i < run->threads; i++) {
        if (replay->players[i].span_lost) {
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
