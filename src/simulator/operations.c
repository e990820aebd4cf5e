/* SPDX-License-Identifier: MIT */
/* Operations on cells. Each takes effect at the running thread's time, or when its line
 * arrives. */
#include "simulator/cells.h"
#include "simulator/event_loop.h"
#include "simulator/holders.h"
#include "simulator/issue.h"
#include "simulator/marks.h"
#include "simulator/requests.h"
#include "simulator/stores.h"
#include "simulator/transactions.h"
#include "simulator/watching.h"

static void start_cold(struct thread *self)
{
    self->now += self->cold;
    self->cold = 0;
    catch_up(self);
}

static struct line *find_line(const void *address, struct thread *self)
{
    if (__builtin_expect(self->cold != 0, 0))
        start_cold(self);
    struct line *line = line_used(line_of(address), self);
    if (__builtin_expect(line->marks != 0, 0))
        marks_meet(line, self, false);
    return line;
}

/* Returns true if the access is not simulated: outside workers, where nothing takes
 * time, and on the thread's own stack. */
static bool is_private(struct thread *self, const void *address)
{
    if (!self)
        return true;
    if (!on_own_stack(self, address))
        return false;
    issue_hit(self);
    return true;
}

uint64_t simulated_load(const void *address, unsigned size)
{
    struct thread *self = running;
    if (is_private(self, address))
        return cell_value(address, size);
    if (__builtin_expect(self->in_transaction, 0))
        return transaction_load(self, address, size);
    catch_up(self);
    struct line *line = find_line(address, self);
    if (self->stores) {
        const struct store *mine = find_store(self, address);
        if (mine) {
            self->forwarded = true;
            issue_hit(self);
            return mine->value;
        }
    }
    uint64_t at = readable_at(line, self, self->now);
    uint32_t epoch = line->epoch;
    if (at == self->now) {
        if (!line_is_held(line, self->core) || at < line->written_at)
            epoch--; /* a copy of the previous epoch, lost or about to be */
        issue_hit(self);
    } else {
        if (at == UINT64_MAX) {
            at = request(line, self, MACHINE_LOAD, self->now);
            epoch = line->epoch; /* a load that takes the line begins one */
        }
        block_until(self, at);
        self->now += machine.local.code;
    }
    uint64_t value = cell_value(address, size);
    remember_read(self, line, epoch, address, size, value);
    return value;
}

void simulated_store(void *address, unsigned size, uint64_t value)
{
    struct thread *self = running;
    if (is_private(self, address)) {
        set_cell(address, size, value);
        return;
    }
    if (__builtin_expect(self->in_transaction, 0)) {
        transaction_store(self, address, size, value);
        return;
    }
    catch_up(self);
    store(self, find_line(address, self), address, size, value);
    issue(self, machine.local.store + machine.local.code);
}

/* The line of an atomic operation, and how it was obtained. */
struct access {
    struct line *line;
    uint32_t epoch;
    bool requested; /* by a request, whose latency includes the atomic */
};

/* Drains the store buffer and waits until the thread may write to the line. If the
 * thread loses its CPU meanwhile, it begins again: others may have had the line. */
static struct access begin_access(struct thread *self, const void *address,
                                  enum machine_operation operation)
{
    catch_up(self);
    drain(self);
    struct access access = {.line = find_line(address, self)};
    uint64_t at;
    do {
        at = writable_at(access.line, self, self->now);
        access.requested = at == UINT64_MAX;
        if (access.requested)
            at = request(access.line, self, operation, self->now);
        access.epoch = access.line->epoch;
        if (at > self->now)
            block_until(self, at);
    } while (__builtin_expect(self->now > at, 0));
    return access;
}

static void end_access(struct thread *self, const struct access *access, void *address,
                       unsigned size, uint64_t value)
{
    write_cell(self, access->line, address, size, value, self->now);
    if (!access->requested)
        watchers_miss(access->line, self, self->now);
    remember_read(self, access->line, access->epoch, address, size, value);
    self->changes = true;
    self->now += machine.local.code + (access->requested ? 0 : machine.local.atomic);
}

static uint64_t changed(uint64_t value, enum simulated_change change, uint64_t operand)
{
    switch (change) {
    case SIMULATED_ADD:
        return value + operand;
    case SIMULATED_OR:
        return value | operand;
    case SIMULATED_AND:
        return value & operand;
    default:
        return operand;
    }
}

static enum machine_operation price_of(enum simulated_change change)
{
    switch (change) {
    case SIMULATED_EXCHANGE:
        return MACHINE_EXCHANGE;
    case SIMULATED_TEST_AND_SET:
        return MACHINE_TEST_AND_SET;
    case SIMULATED_ADD:
        return MACHINE_FETCH_ADD;
    default:
        return MACHINE_COMPARE_EXCHANGE;
    }
}

static uint64_t narrow(uint64_t value, unsigned size)
{
    return size == sizeof value ? value : value & ((UINT64_C(1) << size * 8) - 1);
}

uint64_t simulated_change(void *address, unsigned size, enum simulated_change change,
                          uint64_t operand)
{
    struct thread *self = running;
    uint64_t old, value;
    if (is_private(self, address)) {
        old = cell_value(address, size);
        set_cell(address, size, changed(old, change, operand));
        return old;
    }
    if (__builtin_expect(self->in_transaction, 0)) {
        old = transaction_load(self, address, size);
        value = narrow(changed(old, change, operand), size);
        transaction_store(self, address, size, value);
        return old;
    }
    const struct access access = begin_access(self, address, price_of(change));
    old = cell_value(address, size);
    value = narrow(changed(old, change, operand), size);
    end_access(self, &access, address, size, value);
    return old;
}

bool simulated_compare_exchange(void *address, unsigned size, uint64_t *expected,
                                uint64_t desired)
{
    struct thread *self = running;
    uint64_t seen;
    bool equal;
    if (is_private(self, address)) {
        seen = cell_value(address, size);
        equal = seen == narrow(*expected, size);
        if (equal)
            set_cell(address, size, desired);
        *expected = seen;
        return equal;
    }
    if (__builtin_expect(self->in_transaction, 0)) {
        seen = transaction_load(self, address, size);
        equal = seen == narrow(*expected, size);
        if (equal)
            transaction_store(self, address, size, narrow(desired, size));
        *expected = seen;
        return equal;
    }
    const struct access access = begin_access(self, address, MACHINE_COMPARE_EXCHANGE);
    seen = cell_value(address, size);
    equal = seen == narrow(*expected, size);
    end_access(self, &access, address, size, equal ? narrow(desired, size) : seen);
    *expected = seen;
    return equal;
}

void simulated_fence(void)
{
    struct thread *self = running;
    if (!self)
        return;
    catch_up(self);
    drain(self);
    self->now += machine.local.code;
}

/* Requests the line without waiting for it. */
void simulated_prefetch(const void *address, bool writes)
{
    struct thread *self = running;
    if (is_private(self, address))
        return;
    if (self->in_transaction)
        return;
    catch_up(self);
    struct line *line = find_line(address, self);
    if (machine.protocol == HOME_EXECUTED)
        return; /* cores own no lines */
    const uint64_t there = writes ? writable_at(line, self, self->now)
                                  : readable_at(line, self, self->now);
    self->changes |= writes;
    if (there == UINT64_MAX)
        request(line, self, writes ? MACHINE_STORE : MACHINE_LOAD, self->now);
    issue(self, machine.local.store);
}

/* The kernel interrupts all other CPUs, which drains their store buffers. */
bool simulated_heavy_barrier(void)
{
    enum { POLL = 100 };
    struct thread *self = running;
    if (!self)
        return true;
    simulated_fence();
    self->now += machine.scheduler.futex_call;
    for (unsigned i = 0; i < thread_count; i++)
        while (thread_table[i].stores) {
            self->now += POLL;
            catch_up(self);
        }
    return true;
}
