/* SPDX-License-Identifier: MIT */
/* Contended cells: their messages, and reading and writing them. */
#include "explorer/model.h"

#include <string.h>

struct model model;

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
            (struct message){place_of_index(index)->initial, NO_VIEW, 0};
    }
    return cell;
}

struct message *message_of(uint16_t cell, unsigned index)
{
    static struct message untouched;
    if (model.cells[cell].count)
        return &model.cells[cell].messages[index];
    untouched = (struct message){place_of_index(cell)->initial, NO_VIEW, 0};
    return &untouched;
}

/* Everything but what nobody looks at: the contents of unused messages and views. */
void memory_reset(void)
{
    memset(&model, 0, offsetof(struct model, cells));
    for (unsigned i = 0; i < known.cells; i++)
        model.cells[i].count = 0;
    memset(model.view_used, 0, sizeof model.view_used);
    model.running = model.last = -1;
}

static void insert(struct thread *thread, uint16_t index, unsigned at,
                   struct message message)
{
    struct cell *cell = touched(index);
    thread->turn.writes++;
    /* That old values are read for ever, as if new ones never came, is no finding. */
    if (cell->count == MESSAGES && thread->turn.writes >= MESSAGES &&
        !thread->turn.stale)
        fail("runaway loop", "thread %d has written %d times, not waiting, last to %s",
             (int)(thread - model.thread), thread->turn.writes,
             cell_name(place_of_index(index)->address));
    if (cell->count == MESSAGES) {
        fail("limit", "more than %d values of %s that can still be read", MESSAGES,
             cell_name(place_of_index(index)->address));
        return;
    }
    if (at < cell->count) {
        memmove(&cell->messages[at + 1], &cell->messages[at],
                (cell->count - at) * sizeof message);
        views_shift(index, at, 1);
    }
    thread->view.at[index] = (uint8_t)at;
    if (message.view)
        model.views[message.view].at[index] = 0; /* whoever reads it sees itself */
    cell->messages[at] = message;
    cell->count++;
}

static bool is_attached(uint16_t cell, unsigned index)
{
    return index < message_count(cell) && message_of(cell, index)->attached;
}

/* Newest first: what looks like sequential consistency is tried before the rest. */
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

/* What a message of this thread carries besides itself. */
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

void memory_prepare(struct thread *thread, struct place *place, uint64_t value)
{
    if (is_quiet(place)) {
        quiet_prepare(place, value);
        return;
    }
    const uint16_t cell = place->cell;
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
    /* A release sequence goes on through read-modify-writes. */
    if (before && view)
        view_join(&model.views[view], &model.views[before]);
    else if (before)
        view = view_new(&model.views[before]);
    insert(thread, cell, index + 1, (struct message){value, view, 1});
}

void memory_order_parking(struct thread *thread)
{
    for (unsigned i = 0; i < known.cells; i++) {
        uint8_t *mine = &thread->view.at[i], *all = &model.fenced_at[i];
        *mine = *all = *mine > *all ? *mine : *all;
    }
}

void memory_fence(struct thread *thread)
{
    view_join(&thread->view, &thread->pending);
    memory_order_parking(thread);
    view_copy(&thread->released, &thread->view);
    thread->fenced = 1;
}

static void know_all(struct view *view, void *argument)
{
    (void)argument;
    memset(view->at, 0, known.cells);
    memset(view->knows, KNOWS_WRITE, known.plains);
}

void memory_fork(void)
{
    for (unsigned c = 0; c < known.cells; c++) {
        struct cell *cell = &model.cells[c];
        if (!cell->count)
            continue;
        for (unsigned i = 0; i < cell->count; i++)
            view_give(cell->messages[i].view);
        cell->messages[0] =
            (struct message){cell->messages[cell->count - 1].value, NO_VIEW, 0};
        cell->count = 1;
    }
    memset(model.fenced_at, 0, known.cells);
    for (unsigned i = 0; i < known.plains; i++)
        model.plain[i].readers = 0;
    views_visit(know_all, NULL);
}

bool is_stale(const struct thread *thread, const struct read *read)
{
    const struct place *place = &known.place[read->place];
    if (read->stale)
        return true;
    if (is_quiet(place))
        return value_at(place->address, place->size) != read->value;
    for (unsigned m = thread->view.at[place->cell]; m < message_count(place->cell); m++)
        if (message_of(place->cell, m)->value != read->value)
            return true;
    return false;
}

bool is_live(int thread)
{
    uint8_t operation = model.thread[thread].request.operation;
    return operation != OP_DONE && operation != OP_NONE;
}

bool takes_part(int thread)
{
    return is_live(thread) && (!model.thread[thread].in_child || model.generation);
}
