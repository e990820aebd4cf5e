/* SPDX-License-Identifier: MIT */
#include "simulator/transactions.h"

#include "platform/simulated/switch.h"
#include "platform/htm.h"
#include "platform/platform.h"
#include "simulator/cells.h"
#include "simulator/event_loop.h"
#include "simulator/issue.h"
#include "simulator/marks.h"
#include "simulator/requests.h"
#include "simulator/stores.h"

#include <stdlib.h>
#include <string.h>

enum { HELPER_STACK = 64 << 10, WRITES_AT_A_TIME = 64 };

struct write {
    void *address;
    uint64_t value;
    unsigned size;
};

struct transaction {
    unsigned depth;
    uint64_t began;
    uint64_t lines_at; /* when all lines to be written have arrived */
    uint32_t status;   /* what htm_begin returns */

    struct write *writes;
    size_t write_count, write_space;

    /* The stack pointer at the beginning, and a copy of the stack above it. */
    void *stack;
    char *saved;
    size_t saved_bytes;
};

static struct transaction transactions[THREADS_MAX];
static void *reallocate(void *memory, size_t bytes)
{
    void *grown = realloc(memory, bytes);
    if (!grown)
        simulated_die("out of memory for the writes of a transaction");
    return grown;
}

static struct transaction *of(const struct thread *thread)
{
    return &transactions[thread->index];
}

/* Aborts the running thread's transaction. */
static __attribute__((noreturn)) void fail(struct thread *self, uint32_t status)
{
    doom(self, status);
    transaction_roll_back(self);
}

void transaction_forbids(struct thread *self)
{
    fail(self, 0);
}

static void mark(struct thread *self, struct line *line, enum mark kind)
{
    if (!mark_line(self, line, kind))
        fail(self, HTM_CAPACITY);
}

/* Returns how many interrupts the thread's CPU has had. CPUs are interrupted at
 * different times. */
static uint64_t interrupts_until(const struct thread *thread, uint64_t now)
{
    uint64_t every = machine.transactions.interrupt;
    return every ? (now + thread->cpu * every / machine.cpus) / every : 0;
}

static void fail_if_interrupted(struct thread *self)
{
    if (interrupts_until(self, self->now) != interrupts_until(self, of(self)->began))
        fail(self, 0);
}

static struct write *find_write(const struct transaction *transaction,
                                const void *address)
{
    for (size_t i = transaction->write_count; i; i--)
        if (transaction->writes[i - 1].address == address)
            return &transaction->writes[i - 1];
    return NULL;
}

uint64_t transaction_load(struct thread *self, const void *address, unsigned size)
{
    catch_up(self);
    fail_if_interrupted(self);
    const struct write *mine = find_write(of(self), address);
    if (mine) {
        issue_hit(self);
        return mine->value;
    }
    struct line *line = line_used(line_of(address), self);
    mark(self, line, MARK_READ);
    if (line->marks > 1) /* conflicts within this core involve no request */
        marks_meet(line, self, false);
    uint64_t at = readable_at(line, self, self->now);
    if (at == UINT64_MAX)
        at = request(line, self, MACHINE_LOAD, self->now);
    if (at > self->now) {
        block_until(self, at);
        self->now += machine.local.code;
    } else {
        issue_hit(self);
    }
    return cell_value(address, size);
}

void transaction_store(struct thread *self, void *address, unsigned size,
                       uint64_t value)
{
    struct transaction *transaction = of(self);
    catch_up(self);
    fail_if_interrupted(self);
    struct line *line = line_used(line_of(address), self);
    mark(self, line, MARK_WRITTEN);
    if (line->marks > 1)
        marks_meet(line, self, true);
    uint64_t at = writable_at(line, self, self->now);
    if (at == UINT64_MAX)
        at = request(line, self, MACHINE_STORE, self->now);
    transaction->lines_at = later(transaction->lines_at, at);
    struct write *write = find_write(transaction, address);
    if (!write) {
        if (transaction->write_count == transaction->write_space) {
            transaction->write_space += WRITES_AT_A_TIME;
            transaction->writes = reallocate(transaction->writes,
                                             transaction->write_space * sizeof *write);
        }
        write = &transaction->writes[transaction->write_count++];
    }
    *write = (struct write){address, value, size};
    issue(self, machine.local.store + machine.local.code);
}

bool htm_offered(void)
{
    return machine.transactions.read_lines > 0;
}

bool htm_emulated(void)
{
    return false;
}

/* Each thread's words are on lines of their own, as thread-local memory is. The last
 * element is for calls outside workers. */
static struct {
    uint64_t words[HTM_THREAD_WORDS] __attribute__((aligned(CACHE_LINE)));
} own[THREADS_MAX + 1];

void *htm_thread(void)
{
    return own[running ? running->index : THREADS_MAX].words;
}

void htm_thread_begins(void)
{
}

unsigned htm_depth(void)
{
    return running && running->in_transaction ? of(running)->depth : 0;
}

/* A stack to run on while another is copied, and the transaction to copy it for. */
static void *helper;
static struct transaction *copied;
static bool saving;

static void copy_stacks(void)
{
    while (true) {
        struct transaction *transaction = copied;
        if (saving) {
            transaction->saved_bytes =
                (size_t)((char *)running->stack_end - (char *)transaction->stack);
            transaction->saved =
                reallocate(transaction->saved, transaction->saved_bytes);
            memcpy(transaction->saved, transaction->stack, transaction->saved_bytes);
        } else {
            memcpy(transaction->stack, transaction->saved, transaction->saved_bytes);
        }
        switch_stack(&helper, transaction->stack);
    }
}

/* Returns again after each rollback. By then registers are on the stack, too. */
static __attribute__((noinline)) void save_stack(struct transaction *transaction)
{
    if (!helper)
        helper =
            new_stack((char *)memory_stack(HELPER_STACK) + HELPER_STACK, copy_stacks);
    copied = transaction;
    saving = true;
    switch_stack(&transaction->stack, helper);
}

void transaction_roll_back(struct thread *self)
{
    struct transaction *transaction = of(self);
    void *left;
    transaction->status =
        self->doom_status | (transaction->depth > 1 ? HTM_NESTED : 0);
    transaction->depth = 0;
    transaction->write_count = 0;
    self->doomed = false;
    self->watch_count = 0;
    self->changes = self->forwarded = self->read_clock = false;
    self->now += machine.transactions.abort;
    copied = transaction;
    saving = false;
    switch_stack(&left, helper);
    __builtin_unreachable();
}

static void enter(struct thread *self)
{
    struct transaction *transaction = of(self);
    transaction->depth = 1;
    transaction->began = transaction->lines_at = self->now;
    marks_begin(self);
}

uint32_t htm_begin(void)
{
    struct thread *self = running;
    if (!self || !htm_offered())
        simulated_die("transactions need a worker, and a machine that supports them");
    struct transaction *transaction = of(self);
    if (self->in_transaction) {
        if (++transaction->depth > machine.transactions.nesting)
            fail(self, HTM_CAPACITY);
        return HTM_STARTED;
    }
    drain(self);
    self->now += machine.transactions.begin;
    transaction->status = HTM_STARTED;
    save_stack(transaction);
    if (transaction->status == HTM_STARTED)
        enter(self);
    return transaction->status;
}

void htm_commit(void)
{
    struct thread *self = running;
    if (!self || !self->in_transaction)
        simulated_die("htm_commit() outside a transaction");
    struct transaction *transaction = of(self);
    catch_up(self);
    if (transaction->depth > 1) {
        transaction->depth--;
        return;
    }
    if (transaction->lines_at > self->now)
        block_until(self, transaction->lines_at);
    self->now += machine.transactions.commit;
    catch_up(self);
    fail_if_interrupted(self);
    for (size_t i = 0; i < transaction->write_count; i++) {
        const struct write *write = &transaction->writes[i];
        struct line *line = line_of(write->address);
        write_cell(self, line, write->address, write->size, write->value, self->now);
        watchers_miss(line, self, self->now);
    }
    transaction->depth = 0;
    transaction->write_count = 0;
    marks_end(self);
}

void htm_abort(uint8_t code)
{
    struct thread *self = running;
    if (!self || !self->in_transaction)
        simulated_die("htm_abort() outside a transaction");
    catch_up(self);
    fail(self, htm_explicit(code));
}
