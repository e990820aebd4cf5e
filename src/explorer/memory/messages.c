/* SPDX-License-Identifier: MIT */
#include "explorer/memory/messages.h"

#include "explorer/base/names.h"
#include "explorer/base/verdict.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/views.h"

#include <string.h>

unsigned message_count(uint16_t cell)
{
    return model.cells[cell].count ? model.cells[cell].count : 1;
}

static struct cell *touched(uint16_t index)
{
    struct cell *cell = &model.cells[index];
    if (!cell->count) {
        cell->count = 1;
        cell->messages[0] =
            (struct message){location_of_index(index)->initial, NO_VIEW, 0};
    }
    return cell;
}

struct message *message_of(uint16_t cell, unsigned index)
{
    static struct message untouched;
    if (model.cells[cell].count)
        return &model.cells[cell].messages[index];
    untouched = (struct message){location_of_index(cell)->initial, NO_VIEW, 0};
    return &untouched;
}

static void insert(struct thread *thread, uint16_t index, unsigned at,
                   struct message message)
{
    struct cell *cell = touched(index);
    thread->iteration.writes++;
    /* A thread that reads old values for ever does not count as a finding. */
    if (cell->count == MESSAGES && thread->iteration.writes >= MESSAGES &&
        !thread->iteration.stale)
        fail("runaway loop", "thread %d has written %d times, not waiting, last to %s",
             (int)(thread - model.thread), thread->iteration.writes,
             cell_name(location_of_index(index)->address));
    if (cell->count == MESSAGES) {
        fail("limit", "more than %d readable values of %s", MESSAGES,
             cell_name(location_of_index(index)->address));
        return;
    }
    if (at < cell->count) {
        memmove(&cell->messages[at + 1], &cell->messages[at],
                (cell->count - at) * sizeof message);
        views_shift(index, at, 1);
    }
    thread->view.at[index] = (uint8_t)at;
    if (message.view)
        model.views[message.view].at[index] = 0; /* a reader sees this message itself */
    cell->messages[at] = message;
    cell->count++;
}

static bool is_attached(uint16_t cell, unsigned index)
{
    return index < message_count(cell) && message_of(cell, index)->attached;
}

/* Newest first, so that sequentially consistent behaviour is tried first. */
unsigned load_choices(const struct thread *thread, uint16_t cell, uint16_t *choices)
{
    unsigned found = 0;
    for (unsigned i = message_count(cell); i-- > thread->view.at[cell];)
        choices[found++] = (uint16_t)i;
    return found;
}

unsigned store_choices(const struct thread *thread, uint16_t cell, uint16_t *choices)
{
    unsigned found = 0;
    for (unsigned i = message_count(cell); i > thread->view.at[cell]; i--)
        if (!is_attached(cell, i))
            choices[found++] = (uint16_t)i;
    return found;
}

unsigned change_choices(const struct thread *thread, const struct request *request,
                        uint16_t *choices)
{
    unsigned found = 0;
    uint16_t cell = request->cell;
    for (unsigned i = message_count(cell); i-- > thread->view.at[cell];) {
        bool fails = request->operation == OP_COMPARE &&
                     message_of(cell, i)->value != request->expected;
        if (fails || !is_attached(cell, i + 1))
            choices[found++] = (uint16_t)i;
    }
    return found;
}

static void see(struct thread *thread, uint16_t cell, unsigned index, int order)
{
    uint8_t view = message_of(cell, index)->view;
    thread->view.at[cell] = (uint8_t)index;
    if (!view)
        return;
    if (order & CHECKED_ACQUIRE)
        view_join(&thread->view, &model.views[view]);
    else if (known.fences)
        view_join(&thread->pending, &model.views[view]);
}

uint64_t memory_load(struct thread *thread, uint16_t cell, unsigned index, int order)
{
    see(thread, cell, index, order);
    return message_of(cell, index)->value;
}

/* Returns the view that a message of this thread carries. */
static uint8_t carried(const struct thread *thread, int order)
{
    if (order & CHECKED_RELEASE)
        return view_new(&thread->view);
    return thread->fenced ? view_new(&thread->released) : NO_VIEW;
}

void memory_store(struct thread *thread, uint16_t cell, unsigned index, uint64_t value,
                  int order)
{
    insert(thread, cell, index, (struct message){value, carried(thread, order), 0});
}

void memory_initialise(struct thread *thread, uint16_t cell, uint64_t value)
{
    const unsigned count = message_count(cell);
    if (message_of(cell, count - 1)->value != value)
        insert(thread, cell, count, (struct message){value, NO_VIEW, 0});
    else
        thread->view.at[cell] = (uint8_t)(count - 1);
}

void memory_change(struct thread *thread, uint16_t cell, unsigned index, uint64_t value,
                   int order)
{
    see(thread, cell, index, order);
    uint8_t before = message_of(cell, index)->view, view = carried(thread, order);
    /* A read-modify-write continues a release sequence. */
    if (before && view)
        view_join(&model.views[view], &model.views[before]);
    else if (before)
        view = view_new(&model.views[before]);
    insert(thread, cell, index + 1, (struct message){value, view, 1});
}
