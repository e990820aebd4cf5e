/* SPDX-License-Identifier: MIT */
/* Implements platform/workers.h on the simulated machine, and the queries of platform.h
 * about it. */
#include "platform/cohort_rule.h"
#include "platform/workers.h"
#include "simulator/ahead.h"
#include "simulator/clock.h"
#include "simulator/event_loop.h"
#include "simulator/requests.h"
#include "simulator/routes.h"
#include "simulator/run.h"
#include "simulator/scheduler.h"
#include "simulator/stores.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char error[512];
static bool have_machine, places_are_cohorts, park_cost_is_estimated;

const char *workers_error(void)
{
    return error;
}

static __attribute__((format(printf, 1, 2))) bool refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, sizeof error, format, arguments);
    va_end(arguments);
    return false;
}

bool use_machine(const char *path)
{
    if (have_machine)
        return refuse("a machine is already loaded; a program simulates only one");
    if (!path)
        return refuse("no machine file is given, and this program simulates one");
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse("%s: %s", path, strerror(errno));
    have_machine = machine_read(&machine, file, path, error, sizeof error);
    fclose(file);
    if (have_machine) {
        lines_start();
        routes_start();
        places_are_cohorts = cohorts_are_caches(
            (enum cohort_choice)machine.cohorts, (uint32_t)machine.places,
            (uint32_t)machine.nodes, (uint32_t)machine.cpus);
    }
    return have_machine;
}

bool workers_take_turns(void)
{
    return true;
}

const char *machine_name(void)
{
    return machine.name;
}

void use_park_cost(uint32_t ns, bool measured)
{
    (void)ns;
    park_cost_is_estimated = !measured;
}

bool run_workers(unsigned count, const int *cpus,
                 void (*body)(unsigned index, void *argument), void *argument)
{
    if (!have_machine)
        return refuse("no machine has been loaded: call use_machine() first");
    if (count > THREADS_MAX)
        return refuse("%u workers are more than %d", count, THREADS_MAX);
    for (unsigned i = 0; cpus && i < count; i++)
        if (cpus[i] >= 0 && (uint64_t)cpus[i] >= machine.cpus)
            return refuse("%s has CPUs 0 to %d, but not CPU %d", machine.name,
                          (int)machine.cpus - 1, cpus[i]);
    if (count)
        threads_run(count, cpus, body, argument);
    return true;
}

uint64_t cycles_ordered(void)
{
    simulated_fence();
    return simulated_ticks();
}

uint64_t cycles_per_second(void)
{
    return machine.clock_khz * 1000;
}

uint64_t ticks_aside(void)
{
    struct thread *self = running;
    if (!self)
        return time_outside;
    if (scheduler_shares)
        catch_up(self); /* it may have lost its CPU meanwhile */
    return self->now;
}

void pause_cycles(uint64_t cycles)
{
    struct thread *self = running;
    if (!self)
        return;
    self->now += cycles;
    if (machine.model.cold_after && cycles >= machine.model.cold_after)
        self->cold = machine.model.cold_start;
    progress_at = later(progress_at, self->now);
}

void full_fence(void)
{
    simulated_fence();
}

bool evict_line(const void *address)
{
    struct thread *self = running;
    if (!self)
        return false;
    simulated_fence();
    line_evict(line_used(line_of(address), self), self->now);
    self->now += machine.local.ram;
    return true;
}

void access_ahead(const void *address, bool writes)
{
    if (running)
        begin_access_ahead(running, address, writes);
}

void touch_lines(void *base, unsigned lines)
{
    enum { WORDS = (1 << LINE_SHIFT) / sizeof(struct atomic_u64) };
    struct atomic_u64 *word = base;
    for (; lines; lines--, word += WORDS)
        store_relaxed(word, load_relaxed(word) + 1);
}

void *shared_pages(size_t bytes, int node)
{
    if (node < 0)
        return memory_pages(bytes, -1);
    for (unsigned place = 0; place < machine.places; place++)
        if (machine.node_of_place[place] == (unsigned)node)
            return memory_pages(bytes, (int)place);
    refuse("%s has no node %d", machine.name, node);
    return NULL;
}

void arrive_together(struct meeting *meeting, uint32_t count)
{
    uint32_t generation = load_relaxed(&meeting->generation);
    if (fetch_add_acq_rel(&meeting->arrived, 1) + 1 == count) {
        store_relaxed(&meeting->arrived, 0);
        store_release(&meeting->generation, generation + 1);
        if (scheduler_shares)
            unpark(&meeting->generation, count);
    } else {
        /* Workers that have not arrived may need this CPU, so do not spin for long. */
        uint32_t iterations = spin_limit();
        while (load_acquire(&meeting->generation) == generation)
            if (!scheduler_shares)
                relax();
            else if (iterations)
                iterations -= relax_at_most(iterations);
            else
                park(&meeting->generation, generation, NULL);
    }
}

/* --- platform.h --- */

uint32_t simulated_thread(void)
{
    return running ? running->index + 1u : THREADS_MAX + 1u;
}

/* The thread's own stores count before they take effect for others. */
static bool holds_by_node(void)
{
    const uint16_t *count = &simulated_held_nodes()->count.raw;
    const struct store *own = running ? find_store(running, count) : NULL;
    return (own ? own->value : *count) != 0;
}

uint32_t simulated_thread_if_known(void)
{
    const bool waits = running && running->expects_wait;
    return waits || holds_by_node() ? 0 : simulated_thread();
}

void simulated_expect_wait(bool waits)
{
    if (running)
        running->expects_wait = waits;
}

/* Each on lines of its own, as thread-local memory is; the last for calls outside
 * workers. */
static struct {
    struct held_nodes nodes __attribute__((aligned(CACHE_LINE)));
} held[THREADS_MAX + 1];

const void *thread_local_memory(unsigned index)
{
    return &held[index];
}

struct held_nodes *simulated_held_nodes(void)
{
    return &held[running ? running->index : THREADS_MAX].nodes;
}

uint32_t simulated_cpus(void)
{
    return (uint32_t)machine.cpus;
}

uint32_t simulated_nodes(void)
{
    return (uint32_t)machine.nodes;
}

uint32_t simulated_node(void)
{
    return running ? machine.node_of_place[running->place] : 0;
}

uint32_t simulated_cohort(void)
{
    if (!running || !places_are_cohorts)
        return simulated_node();
    return cohort_of_cache(running->place, (uint32_t)machine.places);
}

void *simulated_pages(size_t bytes)
{
    return memory_pages(bytes, -1);
}

/* Sleeping and being woken takes two system calls and a wake-up. The estimate is that
 * of platform/native/spinning.c, whose comment says that it is too low rather than too
 * high. */
uint32_t simulated_spin_limit(void)
{
    enum { FUTEX_CALLS_PER_PARK = 16 };
    uint64_t cycles = 2 * machine.scheduler.futex_call + wakeup_in_turns().futex_wake;
    const uint64_t estimate = FUTEX_CALLS_PER_PARK * machine.scheduler.futex_call;
    if (park_cost_is_estimated && estimate < cycles)
        cycles = estimate;
    uint64_t iterations = cycles / machine.local.pause;
    return iterations ? (uint32_t)iterations : 1;
}

void simulated_die(const char *text)
{
    fflush(stdout);
    fprintf(stderr, "hasp: %s\n", text);
    abort();
}
