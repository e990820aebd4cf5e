/* SPDX-License-Identifier: MIT */
/*
 * One section of a replayed load, with the sections inside.
 *
 * A section may be a transaction that is rolled back to its acquisition. What it has
 * noted is then dropped, and it draws the same random numbers again: a section that
 * makes a system call makes it in each attempt. Notes are added up after the outermost
 * release.
 */
#include "bench/workloads/replay_run.h"

#include "eliding.h"

#include <stdlib.h>

enum { WATCH_ITERATIONS = 100 };

uint64_t replay_shaped(struct player *player, uint64_t mean, unsigned shape)
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
        return replay_lock_at(site, first);
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
    return replay_lock_at(site, first + low);
}

static void touch(struct replay_line *lines, uint64_t count, bool reads)
{
    for (uint64_t i = 0; i < count; i++)
        access_ahead(&lines[i], false);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = load_relaxed(&lines[i].count);
        if (reads)
            continue;
        access_ahead(&lines[i].count, true);
        store_relaxed(&lines[i].count, value + 1);
    }
}

/* Returns the mutex of a section; NULL if it has none: it has a lock for readers and
 * writers, or the only mutex, which the thread holds already. */
static struct mutex *mutex_of(const struct attempt *attempt)
{
    if (attempt->site->rwlock)
        return NULL;
    if (!attempt->player->replay->load.one_lock)
        return &attempt->lock->mutex;
    return attempt->mutexes ? NULL : &attempt->player->replay->only->mutex;
}

/* Returns false if a trylock failed. */
static bool acquire(const struct attempt *attempt)
{
    struct run *run = attempt->player->run;
    struct mutex *mutex = mutex_of(attempt);
    if (mutex && attempt->tries)
        return mutex_trylock(run, mutex);
    if (mutex)
        mutex_lock(run, mutex);
    if (!attempt->site->rwlock)
        return true;
    if (attempt->reads)
        sharing_read_lock(run, &attempt->lock->sharing);
    else
        sharing_write_lock(run, &attempt->lock->sharing);
    return true;
}

static void release(const struct attempt *attempt)
{
    struct run *run = attempt->player->run;
    struct mutex *mutex = mutex_of(attempt);
    if (mutex)
        mutex_unlock(run, mutex);
    else if (attempt->site->rwlock)
        sharing_unlock(run, &attempt->lock->sharing);
}

/* Returns `items`, moved if need be, with room for one more than `count` of them; or
 * NULL if memory is exhausted. */
static void *with_room(struct player *player, void *items, size_t count, size_t *room,
                       size_t bytes)
{
    if (count < *room)
        return items;
    const size_t more = *room ? 2 * *room : 64;
    void *moved = realloc(items, more * bytes);
    if (moved)
        *room = more;
    else
        player->lost = true;
    return moved;
}

/* Keeps the part within the window. */
void replay_add_span(struct player *player, const struct replay_lock *lock,
                     uint64_t from, uint64_t to)
{
    const struct run *run = player->run;
    from = from > run->window_start ? from : run->window_start;
    to = to < run->window_end ? to : run->window_end;
    if (from >= to)
        return;
    struct span *spans = with_room(player, player->spans, player->span_count,
                                   &player->span_room, sizeof *spans);
    if (!spans)
        return;
    player->spans = spans;
    spans[player->span_count++] = (struct span){.lock = lock, .from = from, .to = to};
}

static void note(struct player *player, const struct note *note)
{
    struct note *notes = with_room(player, player->notes, player->note_count,
                                   &player->note_room, sizeof *notes);
    if (!notes)
        return;
    player->notes = notes;
    notes[player->note_count++] = *note;
}

/* Adds a section to the statistics of its site. */
static void add_note(struct player *player, const struct note *note)
{
    struct replay_stats *stats = note->stats;
    replay_add_span(player, note->lock, note->wanted,
                    note->reads ? note->began : note->ended);
    stats->writes += !note->reads;
    if (!run_counts(player->run, note->began))
        return;
    histogram_add(&player->worker->statistics->acquire, note->began - note->wanted);
    stats->acquisitions++;
    stats->elided += note->elided;
    stats->waited += note->began - note->wanted;
    stats->held += note->ended - note->began;
    stats->releasing += note->left - note->ended;
}

/* Adds up an outermost section, the sections inside, and the transactions since
 * `before`. */
static void add_notes(struct player *player, const struct transactions *before)
{
    for (size_t i = 0; i < player->note_count; i++)
        add_note(player, &player->notes[i]);
    if (player->note_count) {
        const struct note *outermost = &player->notes[player->note_count - 1];
        if (run_counts(player->run, outermost->began))
            eliding_since(before, &outermost->stats->transactions);
    }
    player->note_count = 0;
}

/* Works for so many cycles. With `calls`, there is a system call in the middle, whose
 * time is part of them. */
static void work(uint64_t cycles, bool calls)
{
    cycles = calls ? cycles / 2 : cycles;
    if (cycles)
        pause_cycles(cycles);
    if (!calls)
        return;
    eliding_forbid();
    if (cycles)
        pause_cycles(cycles);
}

/* Under the lock: arrives where threads meet, or leaves. */
static void meet(struct player *player, const struct attempt *attempt)
{
    struct replay_point *point = attempt->site->point;
    uint64_t inside = load_relaxed(&point->inside);
    bool departing = load_relaxed(&point->departing);
    if (departing && !attempt->leaves) {
        player->meeting = MEETING_EARLY;
        return;
    }
    bool last = inside + 1 == attempt->site->members;
    if (!departing)
        store_relaxed(&point->inside, last ? inside : inside + 1);
    else
        store_relaxed(&point->inside, inside - 1);
    if (!departing && last)
        store_relaxed(&point->departing, inside > 0);
    if (departing && inside == 1)
        store_relaxed(&point->departing, 0);
    player->meeting = departing || last ? MEETING_DONE : MEETING_ARRIVED;
}

static void section(struct player *player, unsigned number, unsigned mutexes,
                    bool leaves);

static void sections_inside(struct player *player, const struct replay_site *site,
                            unsigned mutexes)
{
    for (unsigned i = 0; i < site->inner_count; i++) {
        uint64_t times = site->inner[i].times;
        uint64_t rounds = times / 1000 + happens(player, times % 1000);
        for (uint64_t n = 0; n < rounds; n++)
            section(player, site->inner[i].site, mutexes, false);
    }
}

/* Runs a section. `mutexes`: the number of mutexes that the thread holds; `leaves`:
 * by trylock, to leave where threads meet. */
static void section(struct player *player, unsigned number, unsigned mutexes,
                    bool leaves)
{
    const struct replay_site *site = &player->replay->load.sites[number];
    const struct replay_use *use = &player->role->uses[number];
    const struct attempt attempt = {
        .player = player,
        .site = site,
        .lock = picked(player, site),
        .mutexes = mutexes,
        .reads = site->rwlock && happens(player, use->reads),
        .tries = leaves || (site->tries && happens(player, site->tries)),
        .leaves = leaves,
    };
    const uint64_t random = player->worker->random;
    const size_t noted = player->note_count;
    struct note made = {
        .stats = &player->stats[number],
        .lock = attempt.lock,
        .reads = attempt.reads,
        .wanted = ticks_aside(),
    };
    if (!acquire(&attempt))
        return;
    player->worker->random = random;
    player->note_count = noted;
    made.began = ticks_aside();
    if (use->takes && !mutexes &&
        !replay_queue_take(player, &attempt, mutex_of(&attempt), &made)) {
        release(&attempt);
        return;
    }
    made.elided = eliding_now() && !site->rwlock;
    uint64_t part =
        site->parts > 1 ? random_below(&player->worker->random, site->parts) : 0;
    touch(&attempt.lock->lines[part * site->lines], site->lines, attempt.reads);
    if (site->meets)
        meet(player, &attempt);
    if (use->puts)
        replay_queue_put(player, &attempt,
                         use->puts / 1000 + happens(player, use->puts % 1000));
    bool calls = site->calls && happens(player, site->calls);
    work(replay_shaped(player, use->hold, site->shape), calls);
    sections_inside(player, site, mutexes + !site->rwlock);
    made.ended = ticks_aside();
    release(&attempt);
    made.left = ticks_aside();
    note(player, &made);
}

static void outermost(struct player *player, unsigned number, bool leaves)
{
    struct transactions before;
    eliding_seen(&before);
    section(player, number, 0, leaves);
    add_notes(player, &before);
}

/* Returns false at the end of the run. */
static bool watch(struct player *player, const struct replay_site *site, bool departing)
{
    while (load_relaxed(&site->point->departing) != departing) {
        if (!run_goes_on(player->run, ticks_aside()))
            return false;
        (void)relax_at_most(WATCH_ITERATIONS); /* at the end nobody changes it */
    }
    return true;
}

void replay_section(struct player *player, unsigned number)
{
    const struct replay_site *site = &player->replay->load.sites[number];
    outermost(player, number, false);
    if (!site->meets)
        return;
    while (player->meeting == MEETING_EARLY) {
        if (!watch(player, site, false))
            return;
        outermost(player, number, false);
    }
    if (player->meeting == MEETING_ARRIVED && !watch(player, site, true))
        return;
    while (player->meeting != MEETING_DONE && run_goes_on(player->run, ticks_aside()))
        outermost(player, number, true);
}
