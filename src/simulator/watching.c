/* SPDX-License-Identifier: MIT */
#include "simulator/watching.h"
#include "simulator/cells.h"
#include "simulator/event_loop.h"
#include "simulator/holders.h"
#include "simulator/requests.h"
#include "simulator/scheduler.h"
#include "simulator/stores.h"

/* Lost watches are sorted by phase if a spin iteration takes at most PHASES cycles. */
enum { CLOCK_ITERATIONS = 32, PHASES = 64 };

static uint32_t watch_number(const struct thread *thread, unsigned index)
{
    return thread->index * (uint32_t)WATCHES_MAX + index + 1;
}

static unsigned index_of(uint32_t number)
{
    return (number - 1) % WATCHES_MAX;
}

static struct watcher *watcher_at(uint32_t number)
{
    return &thread_of_watch(number)->watcher[index_of(number)];
}

static struct line *line_watched(const struct thread *thread, unsigned index)
{
    return line_of_cell(thread->cell[index]);
}

void remember_read(struct thread *self, struct line *line, uint32_t epoch,
                   const void *address, uint32_t size, uint64_t value)
{
    const uint32_t cell = cell_number(line, address);
    unsigned i = 0;
    while (i < self->watch_count && self->cell[i] != cell)
        i++;
    if (i == WATCHES_MAX)
        return; /* too many cells: relax() does not watch any */
    if (i == self->watch_count) {
        self->watch_count++;
        self->cell[i] = cell;
    } else if (self->watch[i].value != value) {
        self->unsettled = true;
    }
    self->watch[i] = (struct watch){value, epoch, size};
}

static void add_watch(struct thread *thread, unsigned index)
{
    struct line *line = line_watched(thread, index);
    const uint32_t number = watch_number(thread, index);
    thread->watcher[index] = (struct watcher){.next = line->watchers};
    if (line->watchers)
        watcher_at(line->watchers)->previous = number;
    line->watchers = number;
    line->would_be_writers += thread->changes;
}

static void remove_watch(struct thread *thread, unsigned index)
{
    struct watcher *watcher = &thread->watcher[index];
    struct line *line = line_watched(thread, index);
    if (watcher->previous)
        watcher_at(watcher->previous)->next = watcher->next;
    else
        line->watchers = watcher->next;
    if (watcher->next)
        watcher_at(watcher->next)->previous = watcher->previous;
    line->would_be_writers -= thread->changes;
    watcher->arrives = 0;
}

static void remove_watches(struct thread *thread, uint64_t time)
{
    for (unsigned i = 0; i < thread->watch_count; i++)
        remove_watch(thread, i);
    thread->pausing += time - thread->since - yielding_of(thread, time).spent;
    thread->timeout_at = UINT64_MAX;
    thread->state = THREAD_RUNS;
}

void stop_watching(struct thread *thread, uint64_t time)
{
    remove_watches(thread, time);
    resume_at(thread, time);
}

static bool has_lost(const struct thread *thread, unsigned index,
                     const struct line *line)
{
    if (thread->watcher[index].arrives)
        return false;
    return thread->watch[index].epoch != line->epoch ||
           (thread->changes && machine.protocol != HOME_EXECUTED &&
            !line_exclusive(line, thread));
}

/* Prefetches what the thread will touch first when it runs again. */
static void prefetch_run(const struct thread *thread)
{
    enum { HOST_LINE = 64, FRAMES = 8 };
    const char *stack = thread->stack, *own = thread_local_memory(thread->index);
    for (int i = 0; i < FRAMES; i++)
        __builtin_prefetch(stack + i * HOST_LINE);
    __builtin_prefetch(thread->store);
    for (int i = 0; i < 2; i++) {
        __builtin_prefetch(own + (i << LINE_SHIFT));
        __builtin_prefetch(line_of(own) + i);
    }
}

/* Requests the lost line, as the next iteration of the spin loop would. */
static void fetch_line(uint32_t number, struct thread *thread, struct line *line,
                       uint64_t time)
{
    uint64_t arrives;
    if (line_is_held(line, thread->core)) /* a thread of the core has requested it */
        arrives =
            later(time, later(line->free_at, line->written_at)) + machine.local.l1;
    else
        arrives = request(line, thread, MACHINE_LOAD, time);
    watcher_at(number)->arrives = arrives;
    thread->watch[index_of(number)].epoch = line->epoch;
    prefetch_run(thread);
    event_push(arrives, EVENT_ARRIVED, number);
}

/* Returns the time from `time` until the spinning thread's next iteration. */
static uint32_t until_poll(const struct thread *thread, uint64_t time)
{
    const uint32_t period = (uint32_t)machine.local.pause;
    if (time < thread->since)
        return (uint32_t)(thread->since - time);
    uint32_t into = (uint32_t)yielding_of(thread, time).spinning % period;
    return into ? period - into : 0;
}

/* A watch that has lost its line, and the time until it polls. */
struct lost_watch {
    uint32_t number, wait;
};

/* Fills `in_order` with the indices of the losses, in the order in which they poll. */
static void sort_by_phase(const struct lost_watch *losses, uint32_t count,
                          uint32_t *in_order)
{
    uint32_t of_phase[PHASES + 1] = {0};
    for (uint32_t i = 0; i < count; i++)
        of_phase[losses[i].wait % PHASES + 1]++;
    for (int i = 0; i < PHASES; i++)
        of_phase[i + 1] += of_phase[i];
    for (uint32_t i = 0; i < count; i++)
        in_order[of_phase[losses[i].wait % PHASES]++] = i;
}

static void poll_lost(const struct lost_watch *lost, struct line *line, uint64_t time)
{
    struct thread *thread = thread_of_watch(lost->number);
    if (thread->state != THREAD_WATCHES)
        return; /* already resumed through another of its cells in this line */
    if (thread->changes)
        stop_watching(thread, time + lost->wait);
    else
        fetch_line(lost->number, thread, line, time + lost->wait);
}

/* All watchers poll the line within one spin iteration, each in its own phase. */
void line_lost(uint32_t number, uint64_t time)
{
    static struct lost_watch losses[THREADS_MAX * WATCHES_MAX];
    static uint32_t in_order[THREADS_MAX * WATCHES_MAX];
    struct line *line = line_at(number);
    uint32_t count = 0;
    for (uint32_t i = line->watchers; i; i = watcher_at(i)->next)
        if (has_lost(thread_of_watch(i), index_of(i), line)) {
            const uint64_t yields_for = yielding_of(thread_of_watch(i), time).left;
            if (yields_for)
                event_push(time + yields_for, EVENT_POLL, i);
            else
                losses[count++] =
                    (struct lost_watch){i, until_poll(thread_of_watch(i), time)};
        }
    if (count == 1) { /* the usual case under queue locks */
        poll_lost(&losses[0], line, time);
        return;
    }
    sort_by_phase(losses, count, in_order);
    for (uint32_t i = 0; i < count; i++)
        poll_lost(&losses[in_order[i]], line, time);
}

/* The watch may have ended, and its number may belong to a new one; an extra poll does
 * no harm. */
void watch_polls(uint32_t number, uint64_t time)
{
    struct thread *thread = thread_of_watch(number);
    const unsigned index = index_of(number);
    if (thread->state != THREAD_WATCHES || index >= thread->watch_count)
        return;
    struct line *line = line_watched(thread, index);
    if (!has_lost(thread, index, line))
        return;
    if (thread->changes)
        stop_watching(thread, time);
    else
        fetch_line(number, thread, line, time);
}

static bool cell_has_changed(const struct thread *thread, unsigned index)
{
    const struct watch *watch = &thread->watch[index];
    return cell_value(cell_at(thread->cell[index]), watch->size) != watch->value;
}

/* Returns true if a cell in that line has changed. */
static bool line_has_changed(const struct thread *thread, const struct line *line)
{
    for (unsigned i = 0; i < thread->watch_count; i++)
        if (line_watched(thread, i) == line && cell_has_changed(thread, i))
            return true;
    return false;
}

struct thread *line_arrived(uint32_t number, uint64_t time)
{
    struct thread *thread = thread_of_watch(number);
    const unsigned index = index_of(number);
    struct watcher *watcher = &thread->watcher[index];
    if (thread->state != THREAD_WATCHES || watcher->arrives != time)
        return NULL; /* the watch of that event has ended */
    watcher->arrives = 0;
    struct line *line = line_watched(thread, index);
    if (line_has_changed(thread, line)) {
        remove_watches(thread, time);
        return thread;
    }
    if (has_lost(thread, index, line))
        event_push(later(time, line->ended_until), EVENT_POLL, number);
    return NULL;
}

/* Returns true if the cell has changed and no event will resume its thread. A store of
 * the thread's own, which was in its buffer when it began to watch, resumes nobody. */
static bool missed_wakeup(const struct thread *thread, unsigned index, uint64_t time)
{
    enum { SOON = 1000 };
    const struct line *line = line_watched(thread, index);
    if (thread->watcher[index].arrives || !cell_has_changed(thread, index) ||
        line->last_writer == thread->index)
        return false;
    return !has_lost(thread, index, line) ||
           time > later(progress_at, line->free_at) + SOON;
}

void check_watches(const struct thread *thread, uint64_t time)
{
    for (unsigned i = 0; i < thread->watch_count; i++)
        if (missed_wakeup(thread, i, time))
            simulated_die("the simulator lost a wake-up, which is a bug in Hasp");
}

void give_up_watching(struct thread *thread, uint64_t time)
{
    check_watches(thread, time);
    thread->timed_out = true;
    stop_watching(thread, time);
}

/* Suspends the thread until one of the cells that it has read changes, for at most that
 * time. */
static void watch_all(struct thread *self, uint64_t cycles)
{
    self->since = self->now;
    self->timed_out = false;
    self->waited_cell = self->cell[0];
    self->waited_size = self->watch[0].size;
    for (unsigned i = 0; i < self->watch_count; i++)
        add_watch(self, i);
    for (unsigned i = 0; i < self->watch_count; i++) {
        struct line *line = line_watched(self, i);
        if (has_lost(self, i, line)) {
            uint64_t until =
                readable_at(line, self, self->now) == self->now ? line->ended_until : 0;
            event_push(later(self->now + machine.local.pause, until), EVENT_POLL,
                       watch_number(self, i));
        }
    }
    self->state = THREAD_WATCHES;
    if (cycles != UINT64_MAX)
        set_timeout(self, self->now + cycles);
    block();
}

static bool may_watch(const struct thread *self)
{
    if (!self->watch_count || self->watch_count == WATCHES_MAX || self->forwarded ||
        self->unsettled)
        return false;
    for (unsigned i = 0; i < self->watch_count; i++)
        if (cell_has_changed(self, i))
            return false;
    return true;
}

static struct thread *begin_to_relax(void)
{
    struct thread *self = running;
    if (!self)
        simulated_die("code outside workers must not wait for a thread");
    catch_up(self);
    return self;
}

static void pause_once(struct thread *self)
{
    self->now += machine.local.pause;
    self->pausing += machine.local.pause;
}

static void forget_reads(struct thread *self)
{
    self->watch_count = 0;
    self->changes = self->forwarded = self->unsettled = self->read_clock = false;
}

uint32_t simulated_relax(uint32_t iterations)
{
    struct thread *self = begin_to_relax();
    const uint64_t start = self->now, period = machine.local.pause;
    if (self->read_clock && iterations > CLOCK_ITERATIONS)
        iterations = CLOCK_ITERATIONS;
    if (self->forwarded)
        drain(self);
    if (iterations > 1 && may_watch(self))
        watch_all(self, iterations == UINT32_MAX ? UINT64_MAX : iterations * period);
    else
        pause_once(self);
    forget_reads(self);
    uint64_t spent = (self->now - start) / period;
    return spent < 1 ? 1 : spent > iterations ? iterations : (uint32_t)spent;
}

/* Watches, and yields after `left` spin iterations and then after each `limit`. Yields
 * that change nothing, because no other thread wants the CPU, only take time, and cause
 * no event. Returns the iterations since the last yield; `limit` if one is due. */
static uint32_t watch_and_yield(struct thread *self, uint32_t left, uint32_t limit)
{
    const uint64_t period = machine.local.pause;
    self->reload_cycles =
        self->watch_count * (uint32_t)(machine.local.l1 + machine.local.code);
    self->yield_cycles = (uint32_t)(machine.local.code + machine.scheduler.futex_call) +
                         self->reload_cycles;
    self->yields_every = self->yield_cycles + limit * period;
    self->yields_at = self->now + left * period;
    watch_all(self, scheduler_is_wanted(self->cpu) ? left * period : UINT64_MAX);
    const struct yielding yielding = yielding_of(self, self->now);
    const uint64_t before = yielding.spent ? 0 : limit - left;
    self->yields_at = 0;
    return self->timed_out ? limit : (uint32_t)(before + yielding.spinning / period);
}

void simulated_relax_or_yield(uint32_t limit, uint32_t *since_yield)
{
    struct thread *self = begin_to_relax();
    const uint32_t left = limit - *since_yield;
    if (self->read_clock || left == 1) {
        *since_yield += simulated_relax(left);
    } else {
        if (self->forwarded)
            drain(self);
        if (may_watch(self)) {
            *since_yield = watch_and_yield(self, left, limit);
        } else {
            pause_once(self);
            ++*since_yield;
        }
        forget_reads(self);
    }
    if (*since_yield >= limit) {
        *since_yield = 0;
        simulated_yield();
    }
}

void simulated_pause(uint32_t iterations)
{
    if (!running)
        return;
    running->now += iterations * machine.local.pause;
    running->pausing += iterations * machine.local.pause;
}
