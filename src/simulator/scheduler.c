/* SPDX-License-Identifier: MIT */
#include "simulator/scheduler.h"
#include "simulator/fairness.h"

#include <string.h>

enum { NO_THREAD = UINT16_MAX };
enum { KERNEL_TICK = 500 }; /* cycles until the end of a slice is tried again */

struct run_queue {
    uint16_t current, last; /* the thread on the CPU, and the latest one on it */
    uint16_t first_waiting, last_waiting;
    uint16_t waiting; /* length of the queue */
    uint64_t since;    /* when the current thread got the CPU, or it became idle */
    uint64_t ticks_at; /* the time of its next EVENT_SLICE, or UINT64_MAX */
};

struct schedule schedules[THREADS_MAX];
switch_monitor *scheduler_monitor;
bool scheduler_shares;
static struct run_queue run_queues[CPUS_MAX];
static unsigned idle; /* CPUs without a thread */
static unsigned queued;
static uint64_t busy; /* cycles that threads have had CPUs, up to their descheduling */

void scheduler_start(void)
{
    memset(schedules, 0, sizeof schedules);
    idle = (unsigned)machine.cpus;
    queued = 0;
    busy = 0;
    scheduler_shares = false;
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++)
        run_queues[cpu] = (struct run_queue){.current = NO_THREAD,
                                             .last = NO_THREAD,
                                             .first_waiting = NO_THREAD,
                                             .last_waiting = NO_THREAD,
                                             .ticks_at = UINT64_MAX};
}

bool scheduler_is_wanted(unsigned cpu)
{
    return queued && run_queues[cpu].waiting;
}

/* Makes the CPU's thread yield in earnest if it yields while it watches. */
static void wake_for_yields(const struct run_queue *run_queue, uint64_t now)
{
    if (run_queue->current == NO_THREAD)
        return;
    struct thread *thread = &thread_table[run_queue->current];
    if (thread->state == THREAD_WATCHES && thread->yields_at &&
        thread->timeout_at == UINT64_MAX)
        set_timeout(thread, next_yield(thread, now));
}

static void tick_at(unsigned cpu, uint64_t time)
{
    run_queues[cpu].ticks_at = time;
    event_push(time, EVENT_SLICE, cpu);
}

/* Called when a thread has been queued for the CPU, and when one has got it. */
static void tick_if_wanted(unsigned cpu, uint64_t now)
{
    struct run_queue *run_queue = &run_queues[cpu];
    if (!run_queue->waiting)
        return;
    wake_for_yields(run_queue, now);
    if (run_queue->ticks_at == UINT64_MAX)
        tick_at(cpu, now + machine.scheduler.slice);
}

static void enqueue(struct thread *thread, uint64_t now)
{
    struct run_queue *run_queue = &run_queues[thread->cpu];
    schedules[thread->index].next = NO_THREAD;
    if (run_queue->waiting++)
        schedules[run_queue->last_waiting].next = thread->index;
    else
        run_queue->first_waiting = thread->index;
    run_queue->last_waiting = thread->index;
    queued++;
    scheduler_shares = true;
    tick_if_wanted(thread->cpu, now);
}

/* Removes the thread after `before`, or for NO_THREAD the first one, from the queue. */
static struct thread *dequeue(struct run_queue *run_queue, uint16_t before)
{
    uint16_t *link =
        before == NO_THREAD ? &run_queue->first_waiting : &schedules[before].next;
    uint16_t taken = *link;
    *link = schedules[taken].next;
    if (run_queue->last_waiting == taken)
        run_queue->last_waiting = before;
    run_queue->waiting--;
    queued--;
    return &thread_table[taken];
}

static void move_to(struct thread *thread, unsigned cpu)
{
    thread->cpu = (uint16_t)cpu;
    thread->core = (uint16_t)(cpu / machine.threads_per_core);
    core_of_thread[thread->index] = thread->core;
    thread->place = machine.place_of_cpu[cpu];
}

/* Runs the thread on that free CPU from `now` on. */
static void dispatch(struct thread *thread, unsigned cpu, uint64_t now)
{
    struct schedule *schedule = &schedules[thread->index];
    struct run_queue *run_queue = &run_queues[cpu];
    if (run_queue->last != thread->index && run_queue->last != NO_THREAD)
        now += machine.scheduler.switch_;
    if (thread->cpu != cpu) {
        now += machine.scheduler.migration;
        move_to(thread, cpu);
    }
    run_queue->current = run_queue->last = thread->index;
    run_queue->since = now;
    schedule->on = true;
    if (scheduler_monitor)
        scheduler_monitor(thread, true, now);
    if (schedule->due)
        resume_at(thread, now + schedule->left);
    else if (schedule->computing)
        schedule->lost += now - schedule->off_since;
    else if (schedule->watching)
        thread->since +=
            now - schedule->off_since; /* that time was not spent waiting */
    schedule->due = schedule->computing = schedule->watching = false;
    schedule->left = 0;
    tick_if_wanted(cpu, now);
}

static uint64_t running_for(const struct run_queue *run_queue, uint64_t now)
{
    return later(now, run_queue->since) - run_queue->since;
}

static bool may_move(uint16_t index, uint64_t idle_for, uint64_t now)
{
    return !schedules[index].pinned && fairness_moves(&schedules[index], idle_for, now);
}

/* Steals a thread that may move from the longest queue of another CPU, preferring a
 * nearby one between equals. Returns NULL if there is none. */
static struct thread *take_over(unsigned cpu, uint64_t idle_for, uint64_t now)
{
    unsigned best = 0, best_cpu = 0;
    uint16_t best_before = NO_THREAD;
    for (unsigned other = 0; queued && other < machine.cpus; other++) {
        struct run_queue *run_queue = &run_queues[other];
        bool near = machine.place_of_cpu[other] == machine.place_of_cpu[cpu];
        unsigned worth = 2u * run_queue->waiting + near;
        if (!run_queue->waiting || worth <= best)
            continue;
        uint16_t before = NO_THREAD, at = run_queue->first_waiting;
        while (at != NO_THREAD && !may_move(at, idle_for, now))
            before = at, at = schedules[at].next;
        if (at == NO_THREAD)
            continue;
        best = worth;
        best_cpu = other;
        best_before = before;
    }
    return best ? dequeue(&run_queues[best_cpu], best_before) : NULL;
}

/* Called when the CPU's thread has left. Runs the next one. */
static void dispatch_next(unsigned cpu, uint64_t now)
{
    struct run_queue *run_queue = &run_queues[cpu];
    const uint64_t ran = running_for(run_queue, now);
    busy += ran;
    schedules[run_queue->current].served += ran;
    run_queue->ticks_at = UINT64_MAX; /* the next thread has a slice of its own */
    struct thread *next =
        run_queue->waiting ? dequeue(run_queue, NO_THREAD) : take_over(cpu, 0, now);
    if (next) {
        dispatch(next, cpu, now);
        return;
    }
    run_queue->current = NO_THREAD;
    run_queue->since = now;
    idle++;
}

/* Lets idle CPUs take threads out of the queues of others. */
static void balance(uint64_t now)
{
    for (unsigned cpu = 0; idle && queued && cpu < machine.cpus; cpu++) {
        if (run_queues[cpu].current != NO_THREAD)
            continue;
        struct thread *taken = take_over(cpu, running_for(&run_queues[cpu], now), now);
        if (!taken)
            continue;
        idle--;
        dispatch(taken, cpu, now);
    }
}

/* Returns the CPU time that the CPU's thread has had. */
static uint64_t served_to(unsigned cpu, uint64_t now)
{
    const struct run_queue *run_queue = &run_queues[cpu];
    return schedules[run_queue->current].served + running_for(run_queue, now);
}

/* Returns an idle CPU for the thread, or -1: its last CPU, else the first one in its
 * place, else the first one. */
static int idle_cpu(const struct thread *thread)
{
    int found = -1;
    if (run_queues[thread->cpu].current == NO_THREAD)
        return thread->cpu;
    if (!idle || schedules[thread->index].pinned)
        return -1;
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++) {
        if (run_queues[cpu].current != NO_THREAD)
            continue;
        if (machine.place_of_cpu[cpu] == thread->place)
            return (int)cpu;
        if (found < 0)
            found = (int)cpu;
    }
    return found;
}

bool scheduler_has_idle_cpu(const struct thread *thread)
{
    return idle_cpu(thread) >= 0;
}

uint64_t scheduler_idle_for(const struct thread *thread, uint64_t now)
{
    const int cpu = idle_cpu(thread);
    return cpu < 0 ? 0 : running_for(&run_queues[cpu], now);
}

/* Queues the thread as the next one for its CPU, which it gets at `now`. */
static void preempt(struct thread *thread, uint64_t now)
{
    struct run_queue *run_queue = &run_queues[thread->cpu];
    schedules[thread->index].next = run_queue->first_waiting;
    if (!run_queue->waiting++)
        run_queue->last_waiting = thread->index;
    run_queue->first_waiting = thread->index;
    queued++;
    scheduler_shares = true;
    if (now < run_queue->ticks_at)
        tick_at(thread->cpu, now);
}

bool scheduler_wakes(struct thread *thread, uint64_t now)
{
    struct schedule *schedule = &schedules[thread->index];
    thread->state = THREAD_RUNS;
    schedule->due = true;
    schedule->left = 0;
    int cpu = idle_cpu(thread);
    if (cpu < 0) {
        const uint64_t other = served_to(thread->cpu, now);
        const bool interrupts = fairness_preempts(schedule, other);
        if (interrupts)
            preempt(thread, now);
        else
            enqueue(thread, now);
        return interrupts;
    }
    idle--;
    dispatch(thread, (unsigned)cpu, now);
    return true;
}

void scheduler_place(struct thread *thread, int cpu, uint64_t now)
{
    unsigned chosen = (unsigned)cpu, fewest = UINT32_MAX;
    schedules[thread->index].pinned = cpu >= 0;
    for (unsigned other = 0; cpu < 0 && other < machine.cpus; other++) {
        unsigned there =
            run_queues[other].waiting + (run_queues[other].current != NO_THREAD);
        if (there < fewest)
            chosen = other, fewest = there;
    }
    move_to(thread, chosen);
    scheduler_wakes(thread, now);
}

/* Takes a thread off its CPU. */
static void deschedule(struct thread *thread, uint64_t now)
{
    struct schedule *schedule = &schedules[thread->index];
    schedule->on = false;
    schedule->off_since = now;
    schedule->computing = thread->state == THREAD_RUNS;
    schedule->watching = thread->state == THREAD_WATCHES;
    if (scheduler_monitor)
        scheduler_monitor(thread, false, now);
}

void scheduler_sleeps(struct thread *thread, uint64_t now)
{
    schedules[thread->index].on = false;
    schedules[thread->index].off_since = now;
    dispatch_next(thread->cpu, now);
}

bool scheduler_yields(struct thread *thread, uint64_t now)
{
    balance(now);
    if (!run_queues[thread->cpu].waiting)
        return false;
    deschedule(thread, now);
    schedules[thread->index].due = true;
    enqueue(thread, now);
    dispatch_next(thread->cpu, now);
    return true;
}

void scheduler_slice(unsigned cpu, uint64_t now)
{
    struct run_queue *run_queue = &run_queues[cpu];
    if (now != run_queue->ticks_at)
        return; /* an earlier one came, for a thread that woke up */
    balance(now);
    if (!run_queue->waiting) {
        run_queue->ticks_at = UINT64_MAX;
        return;
    }
    struct thread *thread = &thread_table[run_queue->current];
    if (schedules[thread->index].in_kernel) {
        tick_at(cpu, now + KERNEL_TICK);
        return;
    }
    deschedule(thread, now);
    enqueue(thread, now);
    dispatch_next(cpu, now);
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
        if (run_queues[cpu].current != NO_THREAD && now > run_queues[cpu].since)
            sum += now - run_queues[cpu].since;
    return sum;
}

uint64_t scheduler_patience(void)
{
    enum { ROUNDS = 4 };
    unsigned most = 0;
    for (unsigned cpu = 0; queued && cpu < machine.cpus; cpu++)
        most = run_queues[cpu].waiting > most ? run_queues[cpu].waiting : most;
    return most ? ROUNDS * (most + 1) * machine.scheduler.slice : 0;
}

bool scheduler_all_watch(void)
{
    for (unsigned cpu = 0; cpu < machine.cpus; cpu++)
        if (run_queues[cpu].current != NO_THREAD &&
            thread_table[run_queues[cpu].current].state != THREAD_WATCHES)
            return false;
    return true;
}
