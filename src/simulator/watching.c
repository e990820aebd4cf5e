/* SPDX-License-Identifier: MIT */
#include "simulator/watching.h"
#include "simulator/cells.h"
#include "simulator/event_loop.h"
#include "simulator/requests.h"
#include "simulator/scheduler.h"
#include "simulator/stores.h"

/* Phases are sorted as far as turns are no longer than this. */
enum { CLOCK_LOOK_TURNS = 32, PHASES = 64 };

static uint32_t watch_number(const struct thread *thread, unsigned index)
{
    return thread->index * (uint32_t)SIGHTS_MAX + index + 1;
}

static struct sight *sight_of(uint32_t watch)
{
    return &thread_table[(watch - 1) / SIGHTS_MAX].sight[(watch - 1) % SIGHTS_MAX];
}

static struct thread *thread_of(uint32_t watch)
{
    return &thread_table[(watch - 1) / SIGHTS_MAX];
}

void see(struct thread *self, struct line *line, uint32_t epoch, const void *address,
         uint32_t size, uint64_t value)
{
    unsigned i = 0;
    while (i < self->sights && self->sight[i].address != address)
        i++;
    if (i == SIGHTS_MAX)
        return; /* relax() will not rely on them */
    struct sight *sight = &self->sight[i];
    if (i == self->sights)
        self->sights++;
    else if (sight->value != value)
        self->unsettled = true;
    sight->address = address;
    sight->value = value;
    sight->size = size;
    sight->line = line_number(line);
    sight->epoch = epoch;
}

static void watch(struct thread *thread, unsigned index)
{
    struct sight *sight = &thread->sight[index];
    struct line *line = line_at(sight->line);
    const uint32_t number = watch_number(thread, index);
    sight->arrives = 0;
    sight->previous = 0;
    sight->next = line->watchers;
    if (sight->next)
        sight_of(sight->next)->previous = number;
    line->watchers = number;
    line->takers += thread->changes;
}

static void unwatch(struct thread *thread, unsigned index)
{
    struct sight *sight = &thread->sight[index];
    struct line *line = line_at(sight->line);
    if (sight->previous)
        sight_of(sight->previous)->next = sight->next;
    else
        line->watchers = sight->next;
    if (sight->next)
        sight_of(sight->next)->previous = sight->previous;
    line->takers -= thread->changes;
    sight->arrives = 0;
}

static void leave_watches(struct thread *thread, uint64_t time)
{
    for (unsigned i = 0; i < thread->sights; i++)
        unwatch(thread, i);
    thread->pausing += time - thread->since;
    thread->timeout_at = UINT64_MAX;
    thread->state = THREAD_RUNS;
}

void stop_watching(struct thread *thread, uint64_t time)
{
    leave_watches(thread, time);
    resume_at(thread, time);
}

static bool has_lost(const struct thread *thread, const struct sight *sight,
                     const struct line *line)
{
    if (sight->arrives)
        return false;
    return sight->epoch != line->epoch ||
           (thread->changes && machine.protocol != HOME_EXECUTED &&
            !line_exclusive(line, thread));
}

/* Reads the lost line again, as the next turn of its loop would. */
static void fetch_again(uint32_t watch, struct thread *thread, struct line *line,
                        uint64_t time)
{
    struct sight *sight = sight_of(watch);
    if (has(holders_of(line), thread->core)) /* it, or another of its core, did */
        sight->arrives =
            later(time, later(line->free_at, line->written_at)) + machine.local.l1;
    else
        sight->arrives = request(line, thread, MACHINE_LOAD, time);
    sight->epoch = line->epoch;
    event_push(sight->arrives, EVENT_ARRIVED, watch);
}

/* How long after `time` the thread's next turn comes. */
static uint32_t until_turn(const struct thread *thread, uint64_t time)
{
    const uint32_t turn = (uint32_t)machine.local.pause;
    if (time < thread->since)
        return (uint32_t)(thread->since - time);
    uint32_t into = (uint32_t)(time - thread->since) % turn;
    return into ? turn - into : 0;
}

/* A watch that has lost its line, and when it looks. */
struct loser {
    uint32_t watch, wait;
};

/* All who watch turn to the line within one turn, each in its own phase. */
void line_lost(uint32_t number, uint64_t time)
{
    static struct loser losers[THREADS_MAX * SIGHTS_MAX];
    static uint32_t in_order[THREADS_MAX * SIGHTS_MAX];
    struct line *line = line_at(number);
    uint32_t count = 0, of_phase[PHASES + 1] = {0};
    for (uint32_t i = line->watchers; i; i = sight_of(i)->next)
        if (has_lost(thread_of(i), sight_of(i), line)) {
            losers[count] = (struct loser){i, until_turn(thread_of(i), time)};
            of_phase[losers[count++].wait % PHASES + 1]++;
        }
    for (int i = 0; i < PHASES; i++)
        of_phase[i + 1] += of_phase[i];
    for (uint32_t i = 0; i < count; i++)
        in_order[of_phase[losers[i].wait % PHASES]++] = i;
    for (uint32_t i = 0; i < count; i++) {
        const struct loser *loser = &losers[in_order[i]];
        struct thread *thread = thread_of(loser->watch);
        if (thread->state != THREAD_WATCHES)
            continue; /* goes on because of another of its cells here */
        if (thread->changes)
            stop_watching(thread, time + loser->wait);
        else
            fetch_again(loser->watch, thread, line, time + loser->wait);
    }
}

/* Events of a watch that is no more find another one, or none: no harm is done by one
 * look more. */
void watch_turn(uint32_t watch, uint64_t time)
{
    struct thread *thread = thread_of(watch);
    struct sight *sight = sight_of(watch);
    if (thread->state != THREAD_WATCHES ||
        watch > watch_number(thread, 0) + thread->sights - 1u)
        return;
    struct line *line = line_at(sight->line);
    if (!has_lost(thread, sight, line))
        return;
    if (thread->changes)
        stop_watching(thread, time);
    else
        fetch_again(watch, thread, line, time);
}

static bool looks_new(const struct thread *thread, uint32_t line)
{
    for (unsigned i = 0; i < thread->sights; i++) {
        const struct sight *sight = &thread->sight[i];
        if (sight->line == line &&
            cell_value(sight->address, sight->size) != sight->value)
            return true;
    }
    return false;
}

struct thread *line_arrived(uint32_t watch, uint64_t time)
{
    struct thread *thread = thread_of(watch);
    struct sight *sight = sight_of(watch);
    if (thread->state != THREAD_WATCHES || sight->arrives != time)
        return NULL; /* it no longer waits for that */
    sight->arrives = 0;
    struct line *line = line_at(sight->line);
    if (looks_new(thread, sight->line)) {
        leave_watches(thread, time);
        return thread;
    }
    if (has_lost(thread, sight, line))
        event_push(later(time, line->ended_until), EVENT_POLL, watch);
    return NULL;
}

/* The cell has changed, its thread does not know, and no event is to tell it. */
static bool is_forgotten(const struct thread *thread, const struct sight *sight,
                         uint64_t time)
{
    enum { SOON = 1000 };
    const struct line *line = line_at(sight->line);
    if (sight->arrives || cell_value(sight->address, sight->size) == sight->value)
        return false;
    return !has_lost(thread, sight, line) ||
           time > later(progress_at, line->free_at) + SOON;
}

void give_up_watching(struct thread *thread, uint64_t time)
{
    for (unsigned i = 0; i < thread->sights; i++)
        if (is_forgotten(thread, &thread->sight[i], time))
            simulated_die("the simulator has lost a wake-up: that is a bug of its own");
    stop_watching(thread, time);
}

/* Nothing that it has seen has changed yet; it goes on when that does. */
static void watch_all(struct thread *self, uint32_t turns)
{
    self->since = self->now;
    self->waited_for = self->sight[0];
    for (unsigned i = 0; i < self->sights; i++)
        watch(self, i);
    for (unsigned i = 0; i < self->sights; i++) {
        struct line *line = line_at(self->sight[i].line);
        if (has_lost(self, &self->sight[i], line)) {
            uint64_t until =
                readable_at(line, self, self->now) == self->now ? line->ended_until : 0;
            event_push(later(self->now + machine.local.pause, until), EVENT_POLL,
                       watch_number(self, i));
        }
    }
    self->state = THREAD_WATCHES;
    if (turns != UINT32_MAX)
        set_timeout(self, self->now + turns * machine.local.pause);
    block();
}

static bool may_watch(const struct thread *self)
{
    if (!self->sights || self->sights == SIGHTS_MAX || self->forwarded ||
        self->unsettled)
        return false;
    for (unsigned i = 0; i < self->sights; i++)
        if (looks_new(self, self->sight[i].line))
            return false;
    return true;
}

uint32_t simulated_relax(uint32_t turns)
{
    struct thread *self = running;
    if (!self)
        simulated_die("code outside of workers waits for another thread");
    catch_up(self);
    const uint64_t start = self->now, turn = machine.local.pause;
    if (self->asked_clock && turns > CLOCK_LOOK_TURNS)
        turns = CLOCK_LOOK_TURNS;
    if (self->forwarded)
        drain(self);
    if (turns > 1 && may_watch(self)) {
        watch_all(self, turns);
    } else {
        self->now += turn;
        self->pausing += turn;
    }
    self->sights = 0;
    self->changes = self->forwarded = self->unsettled = self->asked_clock = false;
    uint64_t spent = (self->now - start) / turn;
    return spent < 1 ? 1 : spent > turns ? turns : (uint32_t)spent;
}

void simulated_pause(uint32_t turns)
{
    if (!running)
        return;
    running->now += turns * machine.local.pause;
    running->pausing += turns * machine.local.pause;
}
