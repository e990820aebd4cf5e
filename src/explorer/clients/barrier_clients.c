/* SPDX-License-Identifier: MIT */
/* Clients of barriers: nobody leaves a phase before all have arrived, one thread of
 * each phase is the serial one, and a barrier may be gone once one thread has left.
 * After a fork, those that had arrived count as arrived in the child. */
#include "explorer/base/variables.h"
#include "explorer/clients/clients.h"
#include "explorer/execution/services.h"
#include "explorer/memory/lifetime.h"

#include "barriers/algorithms/positions.h"
#include "barriers/list/descriptor.h"

#include <string.h>

enum { PHASES = 3, PLACES = 3 };

static unsigned algorithm;
static struct barrier next_barrier;
static struct barrier unmapped; /* leads to the blocks of one that was not destroyed */

/* Written by one thread before it arrives, and read by all that have left: the compiler
 * reports every access, and the explorer those that are not ordered. */
static uint32_t written[PHASES][PLACES];

void barrier_client_uses(unsigned index)
{
    algorithm = index;
}

static bool wait(struct barrier *barrier)
{
    begin_operation();
    return barrier_list[algorithm].operations.wait(barrier);
}

/* The first thread initialises the barrier. */
static void prepare(unsigned thread, unsigned count)
{
    if (thread == 0) {
        begin_operation();
        barrier_init(&client_barrier, algorithm, count);
        store_release(&flag, 1);
    } else {
        spin_until(load_acquire(&flag));
    }
}

static void arrive(unsigned thread, unsigned phase, unsigned count)
{
    written[phase][thread] = 1;
    if (wait(&client_barrier))
        fetch_add_relaxed(&served, 1);
    for (unsigned other = 0; other < count; other++)
        expect(written[phase][other], "a thread leaves before another has arrived");
}

static void finish_with(unsigned phases)
{
    expect(load_relaxed(&served) == phases, "not one serial thread in each phase");
    begin_operation();
    barrier_destroy(&client_barrier);
}

static void finish_one(void)
{
    finish_with(1);
}

static void finish_two(void)
{
    finish_with(2);
}

static void finish_three(void)
{
    finish_with(3);
}

static void phases_of_two(unsigned thread)
{
    prepare(thread, 2);
    for (unsigned phase = 0; phase < PHASES; phase++)
        arrive(thread, phase, 2);
}

static void phase_of_three(unsigned thread)
{
    prepare(thread, 3);
    arrive(thread, 0, 3);
}

static void phases_of_three(unsigned thread)
{
    prepare(thread, 3);
    arrive(thread, 0, 3);
    arrive(thread, 1, 3);
}

/* Four arrivals at a barrier for two, by any of three threads. */
static void turns(unsigned thread)
{
    prepare(thread, 2);
    while (fetch_add_relaxed(&arrived, 1) < 4)
        if (wait(&client_barrier))
            fetch_add_relaxed(&served, 1);
}

/* The first thread that leaves destroys the barrier, or only unmaps it, and uses
 * another one, whose blocks may be the same. */
static void first_destroys(unsigned thread)
{
    prepare(thread, 2);
    wait(&client_barrier);
    if (exchange_relaxed(&arrived, 1))
        return;
    begin_operation();
    memset(&unmapped, 0, sizeof unmapped);
    if (choose(2))
        barrier_destroy(&client_barrier);
    else
        unmapped = client_barrier;
    lock_is_destroyed();
    begin_operation();
    barrier_init(&next_barrier, algorithm, 1);
    expect(wait(&next_barrier), "a thread alone is not the serial one");
    begin_operation();
    barrier_destroy(&next_barrier);
}

/* Gives the blocks of the unmapped barrier back, which a program leaks. */
static void finish_unmapped(void)
{
    begin_operation();
    barrier_destroy(&unmapped);
}

/* Returns whether a thread has arrived at a barrier for `count`: it is counted, or has
 * claimed a position. */
static bool has_arrived(uint32_t count)
{
    if (load_relaxed(&client_barrier.arrivals))
        return true;
    struct barrier_block *root = barrier_block_at(client_barrier.block);
    bool numbered = barrier_list[algorithm].about.waiter_bytes != 0;
    for (uint32_t i = 0; numbered && i < count; i++)
        if (load_relaxed(&position_block(root, count, i)->words[POSITION_CLAIM]))
            return true;
    return false;
}

/* One of three has arrived when another one forks, and it does not exist in the child.
 * There the thread that forked and a new one complete the phase. */
static void fork_while_waited(unsigned thread)
{
    if (thread == 0) {
        prepare(thread, 3);
        spin_until(has_arrived(3));
        fork_here();
    } else if (thread == 1) {
        prepare(thread, 3);
        wait(&client_barrier);
        return;
    }
    written[0][thread] = 1;
    if (wait(&client_barrier))
        fetch_add_relaxed(&served, 1);
    bool both = written[0][0] && written[0][2];
    expect(both, "a thread leaves before another has arrived");
}

const struct client barrier_clients[] = {
    {.name = "phases",
     .summary = "two threads, three phases",
     .threads = 2,
     .body = phases_of_two,
     .finish = finish_three},
    {.name = "three",
     .summary = "three threads, one phase",
     .threads = 3,
     .body = phase_of_three,
     .finish = finish_one},
    {.name = "three-phases",
     .summary = "three threads, two phases",
     .threads = 3,
     .body = phases_of_three,
     .finish = finish_two},
    {.name = "turns",
     .summary = "three threads take turns at a barrier for two",
     .threads = 3,
     .body = turns,
     .finish = finish_two},
    {.name = "destroy",
     .summary = "the first thread that leaves destroys or unmaps the barrier",
     .threads = 2,
     .body = first_destroys,
     .finish = finish_unmapped,
     .every_step = true},
    {.name = "spurious",
     .summary = "two threads, three phases; each may wake up spuriously once",
     .threads = 2,
     .body = phases_of_two,
     .finish = finish_three,
     .spurious_wakeups = 1},
    {.name = "fork",
     .summary = "a thread forks while another waits, which vanishes; one starts",
     .threads = 3,
     .body = fork_while_waited,
     .finish = finish_one,
     .child = 2,
     .every_step = true},
};
const unsigned barrier_client_count =
    sizeof barrier_clients / sizeof barrier_clients[0];
