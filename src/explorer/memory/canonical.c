/* SPDX-License-Identifier: MIT */
#include "explorer/memory/canonical.h"

#include "explorer/memory/barriers.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/messages.h"
#include "explorer/memory/races.h"
#include "explorer/memory/reads.h"
#include "explorer/memory/views.h"

#include <string.h>

/* The threads that take part: only these can distinguish states. */
static const struct thread *present[THREADS];
static unsigned present_count;

static bool is_joined_by_all(const struct view *view)
{
    for (unsigned t = 0; t < present_count; t++) {
        const struct view *mine = &present[t]->view;
        for (unsigned i = 0; i < known.cells; i++)
            if (view->at[i] > mine->at[i])
                return false;
        for (unsigned i = 0; i < known.plains; i++)
            if (view->knows[i] & ~mine->knows[i])
                return false;
    }
    return true;
}

static void drop(struct cell *cell, uint16_t index, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        view_give(cell->messages[i].view);
    cell->count = (uint16_t)(cell->count - count);
    memmove(cell->messages, cell->messages + count,
            cell->count * sizeof *cell->messages);
    cell->messages[0].attached = 0;
    views_shift(index, 0, -(int)count);
}

static bool same_view(uint8_t one, uint8_t other)
{
    const struct view *a = &model.views[one], *b = &model.views[other];
    return one == other || (one != NO_VIEW && other != NO_VIEW &&
                            memcmp(a->at, b->at, known.cells) == 0 &&
                            memcmp(a->knows, b->knows, known.plains) == 0);
}

/* A read-modify-write that left value and view unchanged, such as the exchange of a
 * failed attempt. Nothing can come between it and the message that it read, so no
 * thread can tell which of the two it reads. */
static void merge_repetitions(struct cell *cell, uint16_t index)
{
    for (unsigned i = 1; i < cell->count;) {
        struct message *message = &cell->messages[i];
        if (!message->attached || message->value != message[-1].value ||
            !same_view(message->view, message[-1].view)) {
            i++;
            continue;
        }
        view_give(message->view);
        cell->count--;
        memmove(message, message + 1, (cell->count - i) * sizeof *message);
        views_shift(index, i, -1);
    }
}

static void forget_joined(struct view *view, const struct view *joined)
{
    for (unsigned i = 0; i < known.cells; i++)
        if (view->at[i] <= joined->at[i])
            view->at[i] = 0;
    for (unsigned i = 0; i < known.plains; i++)
        view->knows[i] &= (uint8_t)~joined->knows[i];
}

/* For each location that the thread has read, only one fact matters: whether another
 * value can be read there now. (If that ceases to be true, the thread waits one
 * iteration later.) The order of reads does not matter. */
static void forget_reads(struct thread *thread)
{
    for (unsigned i = 0; i < thread->reads; i++) {
        struct read moved = thread->read[i];
        unsigned at = i;
        if (is_stale(thread, &moved))
            moved = (struct read){moved.location, true, 0};
        for (; at && thread->read[at - 1].location > moved.location; at--)
            thread->read[at] = thread->read[at - 1];
        thread->read[at] = moved;
    }
}

static void canonicalise_cell(uint16_t index)
{
    struct cell *cell = &model.cells[index];
    if (!cell->count)
        return;
    unsigned seen = cell->count - 1u;
    for (unsigned t = 0; t < present_count; t++)
        if (present[t]->view.at[index] < seen)
            seen = present[t]->view.at[index];
    if (seen)
        drop(cell, index, seen);
    for (unsigned i = 0; i < cell->count; i++) {
        struct message *message = &cell->messages[i];
        if (message->view && is_joined_by_all(&model.views[message->view])) {
            view_give(message->view);
            message->view = NO_VIEW;
        }
    }
    merge_repetitions(cell, index);
    if (cell->count == 1 &&
        cell->messages[0].value == location_of_index(index)->initial &&
        cell->messages[0].view == NO_VIEW)
        cell->count = 0;
}

void canonicalise(void)
{
    races_canonicalise();
    barriers_canonicalise();
    present_count = 0;
    for (int t = 0; t < THREADS; t++) {
        struct thread *thread = &model.thread[t];
        if (takes_part(t))
            present[present_count++] = thread;
        if (!is_live(t))
            continue;
        if (t != model.running)
            thread->phase = PHASE_READING; /* in which its next block begins */
        if (known.fences)
            forget_joined(&thread->pending, &thread->view);
        forget_reads(thread);
    }
    for (uint16_t c = 0; c < known.cells; c++)
        canonicalise_cell(c);
}
