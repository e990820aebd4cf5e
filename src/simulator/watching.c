/* SPDX-License-Identifier: MIT */
#include "simulator/watching.h"
#include "simulator/cells.h"
#include "simulator/deadlock.h"
#include "simulator/stores.h"

enum { CLOCK_LOOK_TURNS = 32, PHASES = 64 };

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
    uint32_t number = thread->index * (uint32_t)SIGHTS_MAX + index + 1;
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

void stop_watching(struct thread *thread, uint64_t time)
{
    for (unsigned i = 0; i < thread->sights; i++)
        unwatch(thread, i);
    thread->pausing += time - thread->since;
    thread->timeout_at = UINT64_MAX;
    resume_at(thread, time);
}

void watchers_lose(struct line *line, uint64_t time)
{
    event_push(time, EVENT_LOST, line_number(line));
}

void watchers_miss(struct line *line, const struct thread *thread, uint64_t time)
{
    if (line_exclusive(line, thread) &&
        (machine.threads_per_core == 1 || !line->watchers))
        return;
    line->epoch++;
    if (line->watchers)
        watchers_lose(line, time);
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
        sight->arrives = later(time, line->free_at) + machine.local.l1;
    else
        sight->arrives = request(line, thread, MACHINE_LOAD, time);
    sight->epoch = line->epoch;
    event_push(sight->arrives, EVENT_ARRIVED, watch);
}

/* When, after the line was lost, the thread's next turn comes. */
static uint64_t next_turn(const struct thread *thread, uint64_t time)
{
    uint64_t turn = machine.local.pause, into = (time - thread->since) % turn;
    return time < thread->since ? thread->since : time + (into ? turn - into : 0);
}

/* All who watch turn to the line within one turn, each in its own phase. */
void line_lost(uint32_t number, uint64_t time)
{
    static uint32_t losers[THREADS_MAX * SIGHTS_MAX],
        in_order[THREADS_MAX * SIGHTS_MAX];
    struct line *line = line_at(number);
    uint32_t count = 0, of_phase[PHASES + 1] = {0};
    for (uint32_t i = line->watchers; i; i = sight_of(i)->next)
        if (has_lost(thread_of(i), sight_of(i), line))
            losers[count++] = i;
    const uint64_t turn = machine.local.pause;
    for (uint32_t i = 0; i < count; i++)
        of_phase[(next_turn(thread_of(losers[i]), time) - time) * PHASES / (turn + 1) %
                     PHASES +
                 1]++;
    for (int i = 0; i < PHASES; i++)
        of_phase[i + 1] += of_phase[i];
    for (uint32_t i = 0; i < count; i++)
        in_order[of_phase[(next_turn(thread_of(losers[i]), time) - time) * PHASES /
                          (turn + 1) % PHASES]++] = losers[i];
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = thread_of(in_order[i]);
        if (thread->state != THREAD_WATCHES)
            continue; /* goes on because of another of its cells here */
        uint64_t at = next_turn(thread, time);
        if (thread->changes)
            stop_watching(thread, at);
        else
            fetch_again(in_order[i], thread, line, at);
    }
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

void line_arrived(uint32_t watch, uint64_t time)
{
    struct thread *thread = thread_of(watch);
    struct sight *sight = sight_of(watch);
    if (thread->state != THREAD_WATCHES || sight->arrives != time)
        return; /* it no longer waits for that */
    sight->arrives = 0;
    struct line *line = line_at(sight->line);
    if (looks_new(thread, sight->line))
        stop_watching(thread, time);
    else if (has_lost(thread, sight, line))
        watchers_lose(line, later(time, line->ended_until));
}

/* Nothing that it has seen has changed yet; it goes on when that does. */
static void watch_all(struct thread *self, uint32_t turns)
{
    self->since = self->now;
    for (unsigned i = 0; i < self->sights; i++)
        watch(self, i);
    for (unsigned i = 0; i < self->sights; i++) {
        struct line *line = line_at(self->sight[i].line);
        if (has_lost(self, &self->sight[i], line)) {
            uint64_t until =
                readable_at(line, self, self->now) == self->now ? line->ended_until : 0;
            watchers_lose(line, later(self->now + machine.local.pause, until));
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
