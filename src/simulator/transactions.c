/* SPDX-License-Identifier: MIT */
#include "simulator/transactions.h"

#include "platform/simulated/switch.h"
#include "platform/transactions.h"
#include "simulator/cells.h"
#include "simulator/lines.h"
#include "simulator/stores.h"
#include "simulator/watching.h"

#include <stdlib.h>
#include <string.h>

enum { HELPER_STACK = 64 << 10, FIRST_PLACES = 64 };

enum mark { MARK_READ = 1, MARK_WRITTEN = 2 };

/* A line of a transaction, in a hash table; of an earlier one if `transaction` is not
 * the present one's number. */
struct marked {
    uint64_t transaction;
    uint32_t line;
    uint8_t marks;
};

struct write {
    void *address;
    uint64_t value;
    unsigned size;
};

struct transaction {
    unsigned depth;
    uint64_t number; /* counts this thread's transactions, from 1 */
    uint64_t began;
    uint64_t lines_at; /* when all lines that it writes will have come */
    uint32_t status;   /* of its end */

    uint64_t lines_read, lines_written, lines;
    struct marked *places; /* `place_count` of them, a power of two; half are free */
    uint32_t *line_numbers;
    uint32_t place_count;

    struct write *writes;
    size_t write_count, write_space;

    /* Where it began: the stack's pointer, and what lay above it. */
    void *stack;
    char *saved;
    size_t saved_bytes;
};

static struct transaction transactions[THREADS_MAX];
static uint16_t inside[THREADS_MAX]; /* threads in transactions */
static unsigned inside_count;

static void *more(void *memory, size_t bytes)
{
    void *grown = realloc(memory, bytes);
    if (!grown)
        simulated_die("no memory for what a transaction has touched");
    return grown;
}

static struct transaction *of(const struct thread *thread)
{
    return &transactions[thread->index];
}

/* Its place in the table, or a free one. */
static struct marked *place_of_line(const struct transaction *transaction,
                                    uint32_t line)
{
    uint32_t mask = transaction->place_count - 1;
    uint32_t at = (uint32_t)(line * UINT64_C(2654435761) >> 8) & mask;
    while (transaction->places[at].transaction == transaction->number &&
           transaction->places[at].line != line)
        at = (at + 1) & mask;
    return &transaction->places[at];
}

static unsigned marks_of(const struct transaction *transaction, uint32_t line)
{
    const struct marked *place = place_of_line(transaction, line);
    return place->transaction == transaction->number ? place->marks : 0;
}

static void make_room(struct transaction *transaction)
{
    if (transaction->lines * 2 < transaction->place_count)
        return;
    struct marked *old = transaction->places;
    uint32_t old_count = transaction->place_count;
    transaction->place_count = old_count ? 2 * old_count : FIRST_PLACES;
    transaction->places = calloc(transaction->place_count, sizeof *old);
    if (!transaction->places)
        simulated_die("no memory for what a transaction has touched");
    transaction->line_numbers =
        more(transaction->line_numbers,
             transaction->place_count * sizeof *transaction->line_numbers);
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].transaction == transaction->number)
            *place_of_line(transaction, old[i].line) = old[i];
    free(old);
}

/* Takes the thread's marks away; what it has written is forgotten. */
static void end(struct thread *thread)
{
    struct transaction *transaction = of(thread);
    for (uint64_t i = 0; i < transaction->lines; i++)
        line_at(transaction->line_numbers[i])->marks--;
    transaction->lines = transaction->write_count = 0;
    transaction->depth = 0;
    thread->in_transaction = false;
    unsigned i = 0;
    while (inside[i] != thread->index)
        i++;
    inside[i] = inside[--inside_count];
}

static void doom(struct thread *thread, uint32_t status)
{
    struct transaction *transaction = of(thread);
    transaction->status = status | (transaction->depth > 1 ? TRANSACTION_NESTED : 0);
    thread->doomed = true;
    end(thread);
}

/* The running thread's own fault. */
static __attribute__((noreturn)) void fail(struct thread *self, uint32_t status)
{
    doom(self, status);
    transaction_roll_back(self);
}

void transaction_forbids(struct thread *self)
{
    fail(self, 0);
}

void transactions_meet(struct line *line, const struct thread *thread, bool writes)
{
    uint32_t number = line_number(line);
    for (unsigned i = 0; i < inside_count;) {
        struct thread *other = &thread_table[inside[i]];
        unsigned marks = other == thread ? 0 : marks_of(of(other), number);
        if (marks & MARK_WRITTEN || (marks && writes))
            doom(other, TRANSACTION_CONFLICT | TRANSACTION_RETRY);
        else
            i++;
    }
}

static void mark(struct thread *self, struct line *line, enum mark kind)
{
    struct transaction *transaction = of(self);
    make_room(transaction);
    struct marked *place = place_of_line(transaction, line_number(line));
    if (place->transaction != transaction->number) {
        *place = (struct marked){transaction->number, line_number(line), 0};
        transaction->line_numbers[transaction->lines++] = place->line;
        line->marks++;
    }
    if (place->marks & kind)
        return;
    place->marks |= kind;
    uint64_t *count =
        kind == MARK_READ ? &transaction->lines_read : &transaction->lines_written;
    uint64_t most = kind == MARK_READ ? machine.transactions.read_lines
                                      : machine.transactions.write_lines;
    if (++*count > most)
        fail(self, TRANSACTION_CAPACITY);
}

/* Interrupts come to each CPU at its own time. */
static uint64_t interrupts_until(const struct thread *thread, uint64_t now)
{
    uint64_t every = machine.transactions.interrupt;
    return every ? (now + thread->cpu * every / machine.cpus) / every : 0;
}

static void look_for_interrupt(struct thread *self)
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
    look_for_interrupt(self);
    const struct write *mine = find_write(of(self), address);
    if (mine) {
        self->now += machine.local.l1 + machine.local.code;
        return mine->value;
    }
    struct line *line = line_used(line_of(address), self);
    mark(self, line, MARK_READ);
    if (line->marks > 1) /* also within this core, where nobody asks */
        transactions_meet(line, self, false);
    uint64_t at = readable_at(line, self, self->now);
    if (at == UINT64_MAX)
        at = request(line, self, MACHINE_LOAD, self->now);
    if (at > self->now)
        block_until(self, at);
    else
        self->now += machine.local.l1;
    self->now += machine.local.code;
    return cell_value(address, size);
}

void transaction_store(struct thread *self, void *address, unsigned size,
                       uint64_t value)
{
    struct transaction *transaction = of(self);
    catch_up(self);
    look_for_interrupt(self);
    struct line *line = line_used(line_of(address), self);
    mark(self, line, MARK_WRITTEN);
    if (line->marks > 1)
        transactions_meet(line, self, true);
    uint64_t at = writable_at(line, self, self->now);
    if (at == UINT64_MAX)
        at = request(line, self, MACHINE_STORE, self->now);
    transaction->lines_at = later(transaction->lines_at, at);
    struct write *write = find_write(transaction, address);
    if (!write) {
        if (transaction->write_count == transaction->write_space) {
            transaction->write_space += FIRST_PLACES;
            transaction->writes =
                more(transaction->writes, transaction->write_space * sizeof *write);
        }
        write = &transaction->writes[transaction->write_count++];
    }
    *write = (struct write){address, value, size};
    self->now += machine.local.store + machine.local.code;
}

bool transactions_offered(void)
{
    return machine.transactions.read_lines > 0;
}

unsigned transaction_depth(void)
{
    return running && running->in_transaction ? of(running)->depth : 0;
}

/* A stack to stand on while another one is copied, and what to copy. */
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
            transaction->saved = more(transaction->saved, transaction->saved_bytes);
            memcpy(transaction->saved, transaction->stack, transaction->saved_bytes);
        } else {
            memcpy(transaction->stack, transaction->saved, transaction->saved_bytes);
        }
        switch_stack(&helper, transaction->stack);
    }
}

/* Returns once more for each roll-back. Registers are on the stack then, too. */
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
    void *left;
    self->doomed = false;
    self->sights = 0;
    self->changes = self->forwarded = self->asked_clock = false;
    self->now += machine.transactions.abort;
    copied = of(self);
    saving = false;
    switch_stack(&left, helper);
    __builtin_unreachable();
}

static void enter(struct thread *self)
{
    struct transaction *transaction = of(self);
    transaction->depth = 1;
    transaction->number++;
    transaction->began = transaction->lines_at = self->now;
    transaction->lines_read = transaction->lines_written = 0;
    make_room(transaction);
    inside[inside_count++] = self->index;
    self->in_transaction = true;
}

uint32_t transaction_begin(void)
{
    struct thread *self = running;
    if (!self || !transactions_offered())
        simulated_die("a transaction on a machine without, or outside of workers");
    struct transaction *transaction = of(self);
    if (self->in_transaction) {
        if (++transaction->depth > machine.transactions.nesting)
            fail(self, TRANSACTION_CAPACITY);
        return TRANSACTION_STARTED;
    }
    drain(self);
    self->now += machine.transactions.begin;
    transaction->status = TRANSACTION_STARTED;
    save_stack(transaction);
    if (transaction->status == TRANSACTION_STARTED)
        enter(self);
    return transaction->status;
}

void transaction_commit(void)
{
    struct thread *self = running;
    if (!self || !self->in_transaction)
        simulated_die("a transaction is committed that was never begun");
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
    look_for_interrupt(self);
    for (size_t i = 0; i < transaction->write_count; i++) {
        const struct write *write = &transaction->writes[i];
        struct line *line = line_of(write->address);
        write_cell(self, line, write->address, write->size, write->value, self->now);
        watchers_miss(line, self, self->now);
    }
    end(self);
}

void transaction_abort(uint8_t code)
{
    struct thread *self = running;
    if (!self || !self->in_transaction)
        simulated_die("a transaction is aborted that was never begun");
    catch_up(self);
    fail(self, TRANSACTION_EXPLICIT | (uint32_t)code << 24);
}
