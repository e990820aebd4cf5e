/* SPDX-License-Identifier: MIT */
/* The checked platform's operations, as the code under check calls them: each states
 * its request and, where there is something to choose, waits for the search. */
#include "explorer/clients.h"
#include "explorer/model.h"
#include "explorer/trail.h"

int running_thread(void)
{
    return model.running;
}

/* On the thread's own stack where nothing is to be chosen, which is most often. */
static uint64_t request(struct request wanted)
{
    struct thread *self = &model.thread[model.running];
    uint16_t choices[MESSAGES * THREADS];
    self->request = wanted;
    if (may_go_on(self, &wanted) && choices_of(model.running, choices) == 1 &&
        perform(model.running, choices[0]) && !failed)
        return result;
    coroutine_yield();
    return result;
}

static uint16_t index_of(struct checked_cell cell)
{
    return cell_of(cell.address, cell.size);
}

uint64_t checked_load(struct checked_cell cell, enum checked_order order)
{
    return request((struct request){.operation = OP_LOAD,
                                    .order = order,
                                    .cell = index_of(cell),
                                    .function = cell.function});
}

void checked_store(struct checked_cell cell, uint64_t value, enum checked_order order)
{
    uint64_t mask = cell.size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * cell.size) - 1;
    if (order == CHECKED_RELAXED &&
        store_is_void(&model.thread[model.running], cell.address, cell.size,
                      value & mask))
        return;
    request((struct request){.operation = OP_STORE,
                             .order = order,
                             .cell = index_of(cell),
                             .operand = value & mask,
                             .function = cell.function});
}

uint64_t checked_change(struct checked_cell cell, enum checked_change change,
                        uint64_t operand, enum checked_order order)
{
    return request((struct request){.operation = OP_CHANGE,
                                    .change = change,
                                    .order = order,
                                    .cell = index_of(cell),
                                    .operand = operand,
                                    .function = cell.function});
}

bool checked_compare_exchange(struct checked_cell cell, uint64_t *expected,
                              uint64_t desired, enum checked_order order)
{
    uint64_t wanted = *expected;
    *expected = request((struct request){.operation = OP_COMPARE,
                                         .order = order,
                                         .cell = index_of(cell),
                                         .operand = desired,
                                         .expected = wanted,
                                         .function = cell.function});
    return *expected == wanted;
}

void checked_fence(const char *function)
{
    if (!known.fences)
        known.fences = known.changed = true;
    request((struct request){.operation = OP_FENCE, .function = function});
}

bool checked_heavy_barrier(const char *function)
{
    if (!known.heavy)
        known.fences = known.heavy = known.changed = true;
    request((struct request){.operation = OP_HEAVY, .function = function});
    return true;
}

void checked_relax(const char *function)
{
    request((struct request){.operation = OP_RELAX, .function = function});
}

bool checked_deadline_passed(bool long_ago, const char *function)
{
    if (long_ago || model.thread[model.running].struck)
        return true;
    return request(
        (struct request){.operation = OP_DEADLINE, .operand = 2, .function = function});
}

bool checked_park(struct checked_cell cell, uint32_t expected,
                  enum checked_deadline deadline)
{
    return request((struct request){.operation = OP_PARK,
                                    .deadline = deadline,
                                    .cell = index_of(cell),
                                    .expected = expected,
                                    .function = cell.function});
}

void checked_unpark(struct checked_cell cell, uint32_t count)
{
    request((struct request){.operation = OP_UNPARK,
                             .cell = index_of(cell),
                             .operand = count,
                             .function = cell.function});
}

void checked_requeue(struct checked_cell from, uint32_t expected,
                     struct checked_cell to)
{
    request((struct request){.operation = OP_REQUEUE,
                             .cell = index_of(from),
                             .other = index_of(to),
                             .expected = expected,
                             .function = from.function});
}

/* Time stands still but for leaps of a second. */
uint64_t checked_now_ns(void)
{
    model.thread[model.running].read_clock = 1;
    return 1000 + UINT64_C(1000000000) * model.clock;
}

/* Whoever asks is about to spin so often, which it may do in vain. */
uint32_t checked_spin_limit(void)
{
    model.thread[model.running].spins = 1;
    return 1;
}

uint32_t checked_thread(void)
{
    return (uint32_t)model.running + 1;
}

uint32_t checked_fork_generation(void)
{
    return 1u + model.generation;
}

void fork_here(void)
{
    request((struct request){.operation = OP_FORK, .function = __func__});
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
    fail("limit", "the model pool maps no pages");
    return NULL;
}
