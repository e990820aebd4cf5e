/* SPDX-License-Identifier: MIT */
#include "simulator/marks.h"
#include "platform/htm.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

/* A slot of a transaction's hash table; free unless `transaction` is the number of the
 * present one. */
struct marked {
    uint64_t transaction;
    uint32_t line;
    uint8_t marks;
};

struct marks {
    uint64_t transaction; /* counts the thread's transactions, from 1 */
    uint64_t read, written, lines;
    struct marked *slots; /* a power of two of them, at least half free */
    uint32_t slot_count;
    uint32_t *line_numbers; /* of the marked lines */
};

static struct marks marks_of_thread[THREADS_MAX];
static uint16_t inside[THREADS_MAX]; /* threads in transactions */
static unsigned inside_count;

static struct marked *slot_of(const struct marks *marks, uint32_t line)
{
    uint32_t mask = marks->slot_count - 1;
    uint32_t at = (uint32_t)(line * UINT64_C(2654435761) >> 8) & mask;
    while (marks->slots[at].transaction == marks->transaction &&
           marks->slots[at].line != line)
        at = (at + 1) & mask;
    return &marks->slots[at];
}

static unsigned marks_on(const struct marks *marks, uint32_t line)
{
    const struct marked *slot = slot_of(marks, line);
    return slot->transaction == marks->transaction ? slot->marks : 0;
}

static void grow_if_needed(struct marks *marks)
{
    if (marks->lines * 2 < marks->slot_count)
        return;
    struct marked *old = marks->slots;
    uint32_t old_count = marks->slot_count;
    marks->slot_count = old_count ? 2 * old_count : FIRST_SLOTS;
    marks->slots = calloc(marks->slot_count, sizeof *old);
    marks->line_numbers =
        realloc(marks->line_numbers, marks->slot_count * sizeof *marks->line_numbers);
    if (!marks->slots || !marks->line_numbers)
        simulated_die("out of memory for the lines of a transaction");
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].transaction == marks->transaction)
            *slot_of(marks, old[i].line) = old[i];
    free(old);
}

void marks_begin(struct thread *thread)
{
    struct marks *marks = &marks_of_thread[thread->index];
    marks->transaction++;
    marks->read = marks->written = 0;
    grow_if_needed(marks);
    inside[inside_count++] = thread->index;
    thread->in_transaction = true;
}

void marks_end(struct thread *thread)
{
    struct marks *marks = &marks_of_thread[thread->index];
    for (uint64_t i = 0; i < marks->lines; i++)
        line_at(marks->line_numbers[i])->marks--;
    marks->lines = 0;
    thread->in_transaction = false;
    unsigned i = 0;
    while (inside[i] != thread->index)
        i++;
    inside[i] = inside[--inside_count];
}

void doom(struct thread *thread, uint32_t status)
{
    thread->doom_status = status;
    thread->doomed = true;
    marks_end(thread);
}

void marks_meet(struct line *line, const struct thread *thread, bool writes)
{
    uint32_t number = line_number(line);
    for (unsigned i = 0; i < inside_count;) {
        struct thread *other = &thread_table[inside[i]];
        unsigned marks =
            other == thread ? 0 : marks_on(&marks_of_thread[other->index], number);
        if (marks & MARK_WRITTEN || (marks && writes))
            doom(other, HTM_CONFLICT | HTM_RETRY);
        else
            i++;
    }
}

bool mark_line(struct thread *self, struct line *line, enum mark kind)
{
    struct marks *marks = &marks_of_thread[self->index];
    grow_if_needed(marks);
    struct marked *slot = slot_of(marks, line_number(line));
    if (slot->transaction != marks->transaction) {
        *slot = (struct marked){marks->transaction, line_number(line), 0};
        marks->line_numbers[marks->lines++] = slot->line;
        line->marks++;
    }
    if (slot->marks & kind)
        return true;
    slot->marks |= kind;
    return kind == MARK_READ ? ++marks->read <= machine.transactions.read_lines
                             : ++marks->written <= machine.transactions.write_lines;
}
