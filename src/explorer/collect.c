/* SPDX-License-Identifier: MIT */
/* Makes states equal that no thread can tell apart. */
#include "explorer/model.h"

#include <string.h>

/* Threads that take part, one after the other; the others tell nothing apart. */
static const struct thread *present[THREADS];
static unsigned present_count;

static bool tells_nothing(const struct view *view)
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

/* A read-modify-write that left value and view as they were, such as an exchange of an
 * attempt that failed: nothing comes between it and what it read, so nobody can tell
 * which of the two was read. */
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

/* Of what was read at a place it matters only whether there is something else to be
 * read there now. (That this may end, it may find out in one turn more.) And the order
 * of reads is no matter. */
static void forget_reads(struct thread *thread)
{
    for (unsigned i = 0; i < thread->reads; i++) {
        struct read moved = thread->read[i];
        unsigned at = i;
        if (is_stale(thread, &moved))
            moved = (struct read){moved.place, true, 0};
        for (; at && thread->read[at - 1].place > moved.place; at--)
            thread->read[at] = thread->read[at - 1];
        thread->read[at] = moved;
    }
}

/* Keeps equal what no thread can tell apart: messages that all have passed, views that
 * all have joined. */
void memory_collect(void)
{
    races_collect();
    present_count = 0;
    for (int t = 0; t < THREADS; t++) {
        struct thread *thread = &model.thread[t];
        if (takes_part(t))
            present[present_count++] = thread;
        if (!is_live(t))
            continue;
        if (t != model.running)
            thread->phase = PHASE_READING; /* as it will begin again */
        if (known.fences)
            forget_joined(&thread->pending, &thread->view);
        forget_reads(thread);
    }
    for (uint16_t c = 0; c < known.cells; c++) {
        struct cell *cell = &model.cells[c];
        if (!cell->count)
            continue;
        unsigned seen = cell->count - 1u;
        for (unsigned t = 0; t < present_count; t++)
            if (present[t]->view.at[c] < seen)
                seen = present[t]->view.at[c];
        if (seen)
            drop(cell, c, seen);
        for (unsigned i = 0; i < cell->count; i++) {
            struct message *message = &cell->messages[i];
            if (message->view && tells_nothing(&model.views[message->view])) {
                view_give(message->view);
                message->view = NO_VIEW;
            }
        }
        merge_repetitions(cell, c);
        if (cell->count == 1 &&
            cell->messages[0].value == place_of_index(c)->initial &&
            cell->messages[0].view == NO_VIEW)
            cell->count = 0;
    }
}
