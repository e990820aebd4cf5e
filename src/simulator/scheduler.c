/* SPDX-License-Identifier: MIT */
#include "simulator/scheduler.h"

#include <string.h>

enum { NO_THREAD = UINT16_MAX };

struct seat {
    uint16_t current, last; /* thread on the CPU; who had it before */
    uint16_t first_waiting, last_waiting;
    uint16_t waiting; /* how many */
    uint64_t since;   /* when the current one got it */
    bool ticking;     /* an EVENT_SLICE is on its way */
};

struct schedule schedules[THREADS_MAX];
bool scheduler_shares;
static struct seat seats[CPUS_MAX];
static unsigned idle; /* CPUs without a thread */
static unsigned queued;
static uint64_t busy; /* cycles that threads have had CPUs, up to when they lost them */

void scheduler_start(void)
{
    memset(schedules, 0, sizeof schedules);
    idle = (unsigned)machine.cpus;
    queued = 0;
    busy = 0;
    scheduler_shares = false;
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++)
        seats[cpu] = (struct seat){.current = NO_THREAD,
                                   .last = NO_THREAD,
                                   .first_waiting = NO_THREAD,
                                   .last_waiting = NO_THREAD};
}

static void tick_if_needed(unsigned cpu, uint64_t now)
{
    struct seat *seat = &seats[cpu];
    if (!seat->waiting || seat->ticking)
        return;
    seat->ticking = true;
    event_push(now + machine.scheduler.slice, EVENT_SLICE, cpu);
}

static void enqueue(struct thread *thread, uint64_t now)
{
    struct seat *seat = &seats[thread->cpu];
    schedules[thread->index].next = NO_THREAD;
    if (seat->waiting++)
        schedules[seat->last_waiting].next = thread->index;
    else
        seat->first_waiting = thread->index;
    seat->last_waiting = thread->index;
    queued++;
    scheduler_shares = true;
    tick_if_needed(thread->cpu, now);
}

/* Takes the thread behind `before`, for NO_THREAD the first one, out of the queue. */
static struct thread *dequeue(struct seat *seat, uint16_t before)
{
    uint16_t *link =
        before == NO_THREAD ? &seat->first_waiting : &schedules[before].next;
    uint16_t taken = *link;
    *link = schedules[taken].next;
    if (seat->last_waiting == taken)
        seat->last_waiting = before;
    seat->waiting--;
    queued--;
    return &thread_table[taken];
}

static void move_to(struct thread *thread, unsigned cpu)
{
    thread->cpu = (uint16_t)cpu;
    thread->core = (uint16_t)(cpu / machine.threads_per_core);
    thread->place = machine.place_of_cpu[cpu];
}

/* The thread has that CPU, which is free, from `now` on. */
static void seat_thread(struct thread *thread, unsigned cpu, uint64_t now)
{
    struct schedule *schedule = &schedules[thread->index];
    struct seat *seat = &seats[cpu];
    if (seat->last != thread->index && seat->last != NO_THREAD)
        now += machine.scheduler.switch_;
    if (thread->cpu != cpu) {
        now += machine.scheduler.migration;
        move_to(thread, cpu);
    }
    seat->current = seat->last = thread->index;
    seat->since = now;
    schedule->on = true;
    if (schedule->due)
        resume_at(thread, now + schedule->left);
    else if (schedule->computing)
        schedule->lost += now - schedule->off_since;
    else if (schedule->watching)
        thread->since += now - schedule->off_since; /* not watching meanwhile */
    schedule->due = schedule->computing = schedule->watching = false;
    schedule->left = 0;
    tick_if_needed(cpu, now);
}

/* Of the threads that wait for another CPU and may go anywhere, the first one where
 * most wait, nearby if that makes no difference. NULL: there is none. */
static struct thread *take_over(unsigned cpu)
{
    unsigned best = 0, best_cpu = 0;
    uint16_t best_before = NO_THREAD;
    for (unsigned other = 0; queued && other < machine.cpus; other++) {
        struct seat *seat = &seats[other];
        bool near = machine.place_of_cpu[other] == machine.place_of_cpu[cpu];
        unsigned worth = 2u * seat->waiting + near;
        if (!seat->waiting || worth <= best)
            continue;
        uint16_t before = NO_THREAD, at = seat->first_waiting;
        while (at != NO_THREAD && schedules[at].pinned)
            before = at, at = schedules[at].next;
        if (at == NO_THREAD)
            continue;
        best = worth;
        best_cpu = other;
        best_before = before;
    }
    return best ? dequeue(&seats[best_cpu], best_before) : NULL;
}

/* The CPU has lost its thread. */
static void seat_next(unsigned cpu, uint64_t now)
{
    struct seat *seat = &seats[cpu];
    busy += later(now, seat->since) - seat->since;
    struct thread *next = seat->waiting ? dequeue(seat, NO_THREAD) : take_over(cpu);
    if (next) {
        seat_thread(next, cpu, now);
        return;
    }
    seat->current = NO_THREAD;
    idle++;
}

/* An idle CPU for the thread, its last one first, then the nearest by number; or -1. */
static int idle_cpu(const struct thread *thread)
{
    int found = -1;
    if (seats[thread->cpu].current == NO_THREAD)
        return thread->cpu;
    if (!idle || schedules[thread->index].pinned)
        return -1;
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++) {
        if (seats[cpu].current != NO_THREAD)
            continue;
        if (machine.place_of_cpu[cpu] == thread->place)
            return (int)cpu;
        if (found < 0)
            found = (int)cpu;
    }
    return found;
}

void scheduler_wakes(struct thread *thread, uint64_t now)
{
    struct schedule *schedule = &schedules[thread->index];
    thread->state = THREAD_RUNS;
    schedule->due = true;
    schedule->left = 0;
    int cpu = idle_cpu(thread);
    if (cpu < 0) {
        enqueue(thread, now);
        return;
    }
    idle--;
    seat_thread(thread, (unsigned)cpu, now);
}

void scheduler_place(struct thread *thread, int cpu, uint64_t now)
{
    unsigned chosen = (unsigned)cpu, fewest = UINT32_MAX;
    schedules[thread->index].pinned = cpu >= 0;
    for (unsigned other = 0; cpu < 0 && other < machine.cpus; other++) {
        unsigned there = seats[other].waiting + (seats[other].current != NO_THREAD);
        if (there < fewest)
            chosen = other, fewest = there;
    }
    move_to(thread, chosen);
    scheduler_wakes(thread, now);
}

/* Of the thread that is on the CPU. */
static void unseat(struct thread *thread, uint64_t now)
{
    struct schedule *schedule = &schedules[thread->index];
    schedule->on = false;
    schedule->off_since = now;
    schedule->computing = thread->state == THREAD_RUNS;
    schedule->watching = thread->state == THREAD_WATCHES;
}

void scheduler_sleeps(struct thread *thread, uint64_t now)
{
    schedules[thread->index].on = false;
    seat_next(thread->cpu, now);
}

bool scheduler_yields(struct thread *thread, uint64_t now)
{
    if (!seats[thread->cpu].waiting)
        return false;
    unseat(thread, now);
    schedules[thread->index].due = true;
    enqueue(thread, now);
    seat_next(thread->cpu, now);
    return true;
}

void scheduler_slice(unsigned cpu, uint64_t now)
{
    struct seat *seat = &seats[cpu];
    if (!seat->waiting) {
        seat->ticking = false;
        return;
    }
    struct thread *thread = &thread_table[seat->current];
    unseat(thread, now);
    enqueue(thread, now);
    seat->ticking = false; /* the next one's slice begins when it has the CPU */
    seat_next(cpu, now);
}

bool scheduler_defer(struct thread *thread, uint64_t now)
{
    struct schedule *schedule = &schedules[thread->index];
    if (!schedule->on) {
        schedule->due = true;
        if (schedule->computing)
            schedule->left = now - schedule->off_since + schedule->lost;
        else if (schedule->watching)
            thread->pausing -= later(now, schedule->off_since) - schedule->off_since;
        schedule->lost = 0;
        return false;
    }
    resume_at(thread, now + schedule->lost);
    schedule->lost = 0;
    return false;
}

uint64_t scheduler_busy(uint64_t now)
{
    uint64_t sum = busy;
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++)
        if (seats[cpu].current != NO_THREAD && now > seats[cpu].since)
            sum += now - seats[cpu].since;
    return sum;
}

uint64_t scheduler_patience(void)
{
    enum { ROUNDS = 4 };
    unsigned most = 0;
    for (unsigned cpu = 0; queued && cpu < machine.cpus; cpu++)
        most = seats[cpu].waiting > most ? seats[cpu].waiting : most;
    return most ? ROUNDS * (most + 1) * machine.scheduler.slice : 0;
}

bool scheduler_all_watch(void)
{
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++)
        if (seats[cpu].current != NO_THREAD &&
            thread_table[seats[cpu].current].state != THREAD_WATCHES)
            return false;
    return true;
}
