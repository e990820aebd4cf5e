/* SPDX-License-Identifier: MIT */
#include "simulator/requests.h"
#include "simulator/holders.h"
#include "simulator/marks.h"
#include "simulator/routes.h"
#include "simulator/scheduler.h"

struct transfers transfers;

/* The data that a core keeps about its copies of lines, in addition to the lines'
 * records. */
enum { GRACES = 4, ARRIVALS = 16 };
struct expiry {
    uint32_t line;
    uint64_t until;
};

/* Former owners keep hitting until the probe arrives. A core seldom has two such lines;
 * the oldest entry is overwritten. */
static struct expiry graces[CPUS_MAX][GRACES] __attribute__((aligned(64)));

/* The times at which requested copies arrive; reads wait until then. On overflow, all
 * lines without an entry count as arriving with the latest that was evicted. Nearly
 * always only the first entry is in use. */
static struct arrivals {
    uint64_t last, others;
    struct expiry first;
} arrivals[CPUS_MAX];
static struct expiry further_arrivals[CPUS_MAX][ARRIVALS - 1];

static bool exclusive(const struct line *line)
{
    return line->state == MACHINE_MODIFIED || line->state == MACHINE_EXCLUSIVE;
}

static uint64_t grace_until(uint32_t number, unsigned core)
{
    for (int i = 0; i < GRACES; i++)
        if (graces[core][i].line == number && graces[core][i].until)
            return graces[core][i].until;
    return 0;
}

static void give_grace(uint32_t number, unsigned core, uint64_t until)
{
    struct expiry *of_core = graces[core], *oldest = of_core;
    for (int i = 0; i < GRACES; i++) {
        if (of_core[i].line == number) {
            oldest = &of_core[i];
            break;
        }
        if (of_core[i].until < oldest->until)
            oldest = &of_core[i];
    }
    *oldest = (struct expiry){number, until};
}

/* Returns the entry of a copy that has arrived, or else of the next one to arrive. */
static struct expiry *first_arrival(unsigned core)
{
    struct expiry *first = &arrivals[core].first;
    for (int i = 0; i < ARRIVALS - 1 && first->until > events.time; i++)
        if (further_arrivals[core][i].until < first->until)
            first = &further_arrivals[core][i];
    return first;
}

static void expect_arrival(uint32_t number, unsigned core, uint64_t at)
{
    struct arrivals *of_core = &arrivals[core];
    struct expiry *oldest = first_arrival(core);
    of_core->others = later(of_core->others, oldest->until);
    of_core->last = later(of_core->last, at);
    *oldest = (struct expiry){number, at};
}

static uint64_t arrival_at(uint32_t number, unsigned core, uint64_t now)
{
    const struct arrivals *of_core = &arrivals[core];
    if (of_core->last <= now)
        return now;
    uint64_t at = now;
    if (of_core->first.line == number)
        at = later(at, of_core->first.until);
    for (int i = 0; i < ARRIVALS - 1; i++)
        if (further_arrivals[core][i].line == number)
            at = later(at, further_arrivals[core][i].until);
    return later(at, of_core->others);
}

uint64_t readable_at(struct line *line, const struct thread *thread, uint64_t now)
{
    if (line_is_held(line, thread->core)) {
        if (now >= line->written_at || line->kept ||
            line->writer / machine.threads_per_core != thread->core)
            return arrival_at(line_number(line), thread->core, now);
        return line->written_at;
    }
    if (now < line->ended_until && line_was_held(line, thread->core))
        return now;
    return now < grace_until(line_number(line), thread->core) ? now : UINT64_MAX;
}

bool line_exclusive(const struct line *line, const struct thread *thread)
{
    return line->owner == thread->core && exclusive(line);
}

uint64_t writable_at(struct line *line, const struct thread *thread, uint64_t now)
{
    if (machine.protocol == HOME_EXECUTED)
        return UINT64_MAX;
    if (line_exclusive(line, thread))
        return later(now, line->written_at);
    return now < grace_until(line_number(line), thread->core) ? now : UINT64_MAX;
}

/* Prefetches the records that are read when the thread loses its line. Since it began
 * to wait, a thousand others may have run, and evicted them from the near caches. */
static void prefetch_watcher(const struct thread *thread)
{
    const unsigned core = core_of_thread[thread - thread_table];
    __builtin_prefetch(thread);
    __builtin_prefetch(&thread->yields_every);
    __builtin_prefetch(thread->cell);
    __builtin_prefetch(thread->watch);
    __builtin_prefetch(thread->watcher);
    __builtin_prefetch(&arrivals[core]);
    __builtin_prefetch(graces[core]);
}

static void watchers_lose(struct line *line, uint64_t time)
{
    if (line->watchers)
        prefetch_watcher(thread_of_watch(line->watchers));
    event_push(time, EVENT_LOST, line_number(line));
}

/* Invalidates all copies at `lost`, except that of `keeper`. */
static void end_epoch(struct line *line, unsigned keeper, uint64_t lost)
{
    line->kept = keeper != NOBODY && line_is_held(line, keeper);
    if (exclusive(line) && line->owner != NOBODY) {
        if (line->owner != keeper)
            give_grace(line_number(line), line->owner, lost);
    } else if (line->sharers) {
        line_note_formers(line);
        line->ended_until = lost;
    }
    line->sharers = 0;
    line->owner = NOBODY;
    line->epoch++;
    if (line->watchers)
        watchers_lose(line, lost);
}

/* The thread's core has the only copy once its load is done. */
static void taken_by(struct line *line, const struct thread *thread, uint64_t done)
{
    line->owner = thread->core;
    line->writer = thread->cpu;
    line->written_at = done;
}

/* Returns whether a load takes the line from its owner, as machine.h says: not twice
 * without a write, so a line that several cores only read is shared by them. */
static bool is_migratory(const struct line *line, const struct thread *thread)
{
    return line->state == MACHINE_MODIFIED && !line->migrated &&
           machine.between_places[place_of(line->owner)][thread->place] <
               machine.model.migratory;
}

static void read_by(struct line *line, const struct thread *thread, uint64_t done,
                    uint64_t lost)
{
    if (machine.protocol == HOME_EXECUTED) {
        if (line->state == MACHINE_INVALID) {
            line->state = MACHINE_EXCLUSIVE;
            line->writer = thread->cpu;
        } else if (line->writer != thread->cpu) {
            line->state = MACHINE_SHARED;
        }
    } else if (line->state == MACHINE_INVALID) {
        line->state = MACHINE_EXCLUSIVE;
        taken_by(line, thread, done);
    } else if (is_migratory(line, thread)) {
        end_epoch(line, thread->core, lost);
        line->migrated = true;
        taken_by(line, thread, done);
    } else if (exclusive(line)) {
        const bool dirty = line->state == MACHINE_MODIFIED;
        give_grace(line_number(line), line->owner, lost);
        if (line->would_be_writers)
            watchers_lose(line, lost); /* their exclusive ownership */
        line->state = dirty && machine.protocol != MESIF_INCLUSIVE ? MACHINE_OWNED
                                                                   : MACHINE_SHARED;
        if (line->state == MACHINE_SHARED)
            line->owner = NOBODY;
    }
    line_hold(line, thread->core);
}

/* Serves a store or an atomic. With the protocol `home`, a core that stores keeps its
 * copy, and one that executes an atomic does not. */
static void written_by(struct line *line, const struct thread *thread,
                       enum machine_operation operation, uint64_t done, uint64_t lost)
{
    const bool at_home = machine.protocol == HOME_EXECUTED;
    end_epoch(line, thread->core, lost);
    line->state = MACHINE_MODIFIED;
    line->migrated = false;
    line->written_at = done;
    line->writer = thread->cpu;
    line->last_writer = thread->index;
    if (!at_home) {
        line->owner = thread->core;
        line_hold(line, thread->core);
    } else if (operation == MACHINE_STORE) {
        line_hold(line, thread->core);
    }
}

uint64_t request(struct line *line, const struct thread *thread,
                 enum machine_operation operation, uint64_t now)
{
    if (__builtin_expect(line->marks != 0, 0))
        marks_meet(line, thread, operation != MACHINE_LOAD);
    const struct route route = route_of(line, thread, operation);
    const uint64_t occupancy = machine.protocol == HOME_EXECUTED
                                   ? machine.model.home_occupancy_permille
                                   : machine.model.occupancy_permille;
    const uint64_t start = later(now, line->free_at);
    const uint64_t busy =
        later(route.cycles * occupancy / 1000, machine.model.occupancy_least);
    const uint64_t lost = start + route.cycles * machine.model.grace_permille / 1000;
    /* Values change in the order of the queue even if transfers overlap. */
    const uint64_t done = later(start + route.cycles, line->written_at);
    line->free_at = start + busy;
    if (operation == MACHINE_LOAD) {
        read_by(line, thread, done, lost);
        expect_arrival(line_number(line), thread->core, done);
    } else
        written_by(line, thread, operation, done, lost);
    if (route.remote)
        transfers.remote++;
    else
        transfers.local++;
    return done;
}

void line_evict(struct line *line, uint64_t now)
{
    end_epoch(line, NOBODY, now);
    line->state = MACHINE_INVALID;
    line->free_at = later(line->free_at, now);
}

void watchers_miss(struct line *line, const struct thread *thread, uint64_t time)
{
    line->migrated = false;
    if (line_exclusive(line, thread) && (!cores_are_shared() || !line->watchers))
        return;
    line->epoch++;
    if (line->watchers)
        watchers_lose(line, time);
}
