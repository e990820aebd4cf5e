/* SPDX-License-Identifier: MIT */
/* The operations of the checked platform, as the code under check calls them: each
 * makes a request and, where there is a choice, waits for the search. */
#include "explorer/base/coroutine.h"
#include "explorer/base/verdict.h"
#include "explorer/execution/services.h"
#include "explorer/execution/steps.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/ordered_cells.h"

enum { RUNAWAY = 4000 };

/* A thread that cannot continue must call relax() or park(). */
static void count_step(const struct request *wanted)
{
    struct thread *self = &model.thread[model.running];
    if (self->iteration.steps++ != RUNAWAY)
        return;
    fail(self->iteration.stale ? "limit" : "runaway loop",
         "thread %d made %d operations in a row in %s without waiting", model.running,
         RUNAWAY, wanted->function ? wanted->function : "?");
}

/* If there is nothing to choose, which is the common case, the operation is performed
 * on the thread's own stack. */
static uint64_t request(struct request wanted)
{
    static uint16_t choices[MESSAGES * THREADS];
    struct thread *self = &model.thread[model.running];
    self->request = wanted;
    if (!may_go_on(self, &self->request) || choices_of(model.running, choices) != 1 ||
        !perform(model.running, choices[0]) || verdict.failed)
        coroutine_yield();
    coroutine_wipe();
    return result;
}

enum { NULL_PAGE = 4096 };

static uint64_t operate(const void *address, unsigned size, struct request wanted)
{
    void *at = (void *)(uintptr_t)address;
    count_step(&wanted);
    int stack = stack_of(at);
    if ((uintptr_t)address < NULL_PAGE)
        fail("null pointer", "%s: there is no cell at %p", wanted.function, at);
    if (stack >= 0 && stack != model.running)
        fail("stack", "%s: this cell is on the stack of thread %d", wanted.function,
             stack);
    if (stack >= 0)
        return stack_operation(at, size, &wanted);
    struct location *location = location_of_cell(at, size);
    if (is_ordered_cell(location)) {
        uint64_t before = ordered_operation(location, &wanted);
        coroutine_wipe();
        return before;
    }
    wanted.cell = location->cell;
    return request(wanted);
}

/* The index of a cell of this size that threads sleep on. */
static uint16_t contended_cell_of(const void *address, unsigned size)
{
    struct location *location = location_of_cell(address, size);
    location_note_race(location);
    if (is_ordered_cell(location))
        fail("restart", "a cell became contended");
    return location->cell;
}

static uint16_t contended_cell(const void *address)
{
    return contended_cell_of(address, sizeof(uint32_t));
}

static bool is_wide(const void *address)
{
    const struct location *location = location_known_cell(address);
    return location && location->size == sizeof(uint64_t);
}

/* Sets the cell and the half of it that has this address. */
static void set_sleeping_place(struct request *wanted, const void *address)
{
    const char *before = (const char *)address - sizeof(uint32_t);
    const bool low = is_wide(address), high = !low && is_wide(before);
    wanted->half = low ? HALF_LOW : high ? HALF_HIGH : HALF_NONE;
    wanted->cell = low || high ? contended_cell_of(high ? before : address, 8)
                               : contended_cell(address);
}

uint64_t checked_load(const void *cell, unsigned size, enum checked_order order,
                      const char *function)
{
    return operate(
        cell, size,
        (struct request){.operation = OP_LOAD, .order = order, .function = function});
}

void checked_store(const void *cell, unsigned size, uint64_t value,
                   enum checked_order order, const char *function)
{
    uint64_t mask = size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
    operate(cell, size,
            (struct request){.operation = OP_STORE,
                             .order = order,
                             .operand = value & mask,
                             .function = function});
}

uint64_t checked_change(const void *cell, unsigned size, enum checked_change change,
                        uint64_t operand, enum checked_order order,
                        const char *function)
{
    return operate(cell, size,
                   (struct request){.operation = OP_CHANGE,
                                    .change = change,
                                    .order = order,
                                    .operand = operand,
                                    .function = function});
}

uint64_t checked_compare_exchange(const void *cell, unsigned size, uint64_t expected,
                                  uint64_t desired, enum checked_order order,
                                  const char *function)
{
    return operate(cell, size,
                   (struct request){.operation = OP_COMPARE,
                                    .order = order,
                                    .operand = desired,
                                    .expected = expected,
                                    .function = function});
}

void checked_fence(const char *function)
{
    if (!known.fences)
        known.fences = verdict.learnt = true;
    request((struct request){.operation = OP_FENCE, .function = function});
}

void checked_light_barrier(const char *function)
{
    if (known.heavy)
        request((struct request){.operation = OP_LIGHT, .function = function});
}

bool checked_without_barrier;

bool checked_heavy_barrier(const char *function)
{
    if (checked_without_barrier)
        return false;
    if (!known.heavy)
        known.fences = known.heavy = verdict.learnt = true;
    return request((struct request){.operation = OP_HEAVY, .function = function});
}

void checked_relax(const char *function)
{
    request((struct request){.operation = OP_RELAX, .function = function});
}

bool checked_deadline_passed(bool long_ago, const char *function)
{
    if (long_ago || model.thread[model.running].expired)
        return true;
    return request(
        (struct request){.operation = OP_DEADLINE, .operand = 2, .function = function});
}

bool checked_park(const void *cell, uint32_t expected, enum checked_deadline deadline,
                  const char *function)
{
    struct request wanted = {.operation = OP_PARK,
                             .deadline = deadline,
                             .expected = expected,
                             .function = function};
    set_sleeping_place(&wanted, cell);
    return request(wanted);
}

void checked_unpark(const void *cell, uint32_t count, const char *function)
{
    struct request wanted = {
        .operation = OP_UNPARK, .operand = count, .function = function};
    set_sleeping_place(&wanted, cell);
    request(wanted);
}

void checked_requeue(const void *from, uint32_t expected, const void *to,
                     const char *function)
{
    request((struct request){.operation = OP_REQUEUE,
                             .cell = contended_cell(from),
                             .other = contended_cell(to),
                             .expected = expected,
                             .function = function});
}

/* Time stands still, except that it may jump by a second. */
uint64_t checked_now_ns(void)
{
    model.thread[model.running].read_clock = 1;
    return 1000 + UINT64_C(1000000000) * model.clock;
}

/* Called before a spin of this many iterations, which may be in vain. */
uint32_t checked_spin_limit(void)
{
    model.thread[model.running].spins = 1;
    model.thread[model.running].iteration.idle = 0;
    return 1;
}

uint32_t checked_thread(void)
{
    return (uint32_t)model.running + 1;
}

/* Plain memory of the explorer, whose contents are part of the state as those of any
 * cell. */
static struct held_nodes held[THREADS];

struct held_nodes *checked_held_nodes(void)
{
    return &held[model.running];
}

uint32_t checked_thread_if_known(void)
{
    const void *count = &held[model.running].count.raw;
    bool holds = checked_load(count, sizeof(uint16_t), CHECKED_RELAXED, __func__) != 0;
    return holds ? 0 : checked_thread();
}

uint32_t checked_fork_generation(void)
{
    return 1u + model.generation;
}

void fork_here(void)
{
    request((struct request){.operation = OP_FORK, .function = __func__});
}

bool fork_here_if_unmoved(unsigned threads)
{
    return request((struct request){
        .operation = OP_FORK, .operand = threads, .function = __func__});
}

uint32_t checked_node(void)
{
    return model.thread[model.running].node;
}

void checked_die(const char *text)
{
    fail("died", "%s", text);
    __builtin_unreachable();
}

unsigned choose(unsigned alternatives)
{
    return (unsigned)request(
        (struct request){.operation = OP_CHOOSE, .operand = alternatives});
}

void *checked_pages(size_t bytes)
{
    (void)bytes;
    fail("limit", "the pool of the explorer maps no pages");
    return NULL;
}
