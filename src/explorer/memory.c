/* SPDX-License-Identifier: MIT */
/* Cells and views; model.h says what they mean. */
#include "explorer/model.h"

#include <string.h>

struct model model;
struct known known;

/* Open addressing by address; entries are indices of known.cell plus one. */
static uint16_t *index_place(const void *address)
{
    unsigned at = (unsigned)((uintptr_t)address >> 1) * 2654435761u >> 20;
    while (known.index[at % INDEX] &&
           known.cell[known.index[at % INDEX] - 1].address != address)
        at++;
    return &known.index[at % INDEX];
}

static void forget_everywhere(struct view *view, uint16_t cell)
{
    view->at[cell] = 0;
}

/* Views are copied only as far as there are cells: what is behind is undefined. */
static void clear_column(uint16_t cell)
{
    for (int i = 0; i < THREADS; i++) {
        forget_everywhere(&model.thread[i].view, cell);
        forget_everywhere(&model.thread[i].pending, cell);
        forget_everywhere(&model.thread[i].released, cell);
    }
    for (int i = 0; i < VIEWS; i++)
        forget_everywhere(&model.views[i], cell);
    model.fenced_at[cell] = 0;
    model.cells[cell].count = 0;
}

uint16_t cell_of(const void *address, unsigned size)
{
    uint16_t *place = index_place(address);
    if (*place) {
        if (known.cell[*place - 1].size != size)
            fail("mixed sizes", "%s is accessed with %u and with %u bytes",
                 cell_name(address), known.cell[*place - 1].size, size);
        return (uint16_t)(*place - 1);
    }
    if (known.cells == CELLS) {
        fail("limit", "more than %d cells", CELLS);
        return 0;
    }
    uint64_t initial = 0;
    memcpy(&initial, address, size);
    uint16_t fresh = (uint16_t)known.cells++;
    known.cell[fresh].address = address;
    known.cell[fresh].size = size;
    known.cell[fresh].initial = initial;
    *place = (uint16_t)(fresh + 1);
    clear_column(fresh);
    return fresh;
}

/* A relaxed store of what a cell holds anyway, when nobody can read anything else: it
 * is as if it had not happened. Pools' users prepare their slots like that. */
bool store_is_void(const struct thread *thread, const void *address, unsigned size,
                   uint64_t value)
{
    uint16_t index = *index_place(address);
    if (thread->fenced)
        return false;
    if (index && model.cells[index - 1].count) {
        const struct cell *cell = &model.cells[index - 1];
        return cell->count == 1 && cell->messages[0].value == value &&
               cell->messages[0].view == NO_VIEW;
    }
    uint64_t initial = 0;
    memcpy(&initial, address, size);
    return initial == value;
}

unsigned message_count(uint16_t cell)
{
    return model.cells[cell].count ? model.cells[cell].count : 1;
}

static struct cell *touched(uint16_t index)
{
    struct cell *cell = &model.cells[index];
    if (!cell->count) {
        cell->count = 1;
        cell->messages[0] = (struct message){known.cell[index].initial, NO_VIEW, 0};
    }
    return cell;
}

struct message *message_of(uint16_t cell, unsigned index)
{
    static struct message untouched;
    if (model.cells[cell].count)
        return &model.cells[cell].messages[index];
    untouched = (struct message){known.cell[cell].initial, NO_VIEW, 0};
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

void view_join(struct view *into, const struct view *from)
{
    for (unsigned i = 0; i < known.cells; i++)
        into->at[i] = from->at[i] > into->at[i] ? from->at[i] : into->at[i];
    for (unsigned i = 0; i < known.plains; i++)
        into->knows[i] |= from->knows[i];
}

void views_visit(void (*visit)(struct view *, void *), void *argument)
{
    for (int i = 0; i < THREADS; i++) {
        visit(&model.thread[i].view, argument);
        visit(&model.thread[i].pending, argument);
        visit(&model.thread[i].released, argument);
    }
    for (int i = 1; i < VIEWS; i++)
        if (model.view_used[i])
            visit(&model.views[i], argument);
}

static void view_copy(struct view *into, const struct view *from)
{
    memcpy(into->at, from->at, known.cells);
    memcpy(into->knows, from->knows, known.plains);
}

static uint8_t view_new(const struct view *content)
{
    for (unsigned i = 1; i < VIEWS; i++)
        if (!model.view_used[i]) {
            model.view_used[i] = 1;
            view_copy(&model.views[i], content);
            return (uint8_t)i;
        }
    fail("limit", "more than %d messages with a view", VIEWS);
    return NO_VIEW;
}

struct shift {
    uint16_t cell;
    unsigned from;
    int by;
};

static uint8_t shifted(uint8_t at, const struct shift *shift)
{
    if (shift->by > 0)
        return at >= shift->from ? (uint8_t)(at + shift->by) : at;
    return at > -shift->by ? (uint8_t)(at + shift->by) : 0;
}

static void shift_view(struct view *view, void *argument)
{
    struct shift *shift = argument;
    view->at[shift->cell] = shifted(view->at[shift->cell], shift);
}

static void shift_all(struct shift shift)
{
    views_visit(shift_view, &shift);
    model.fenced_at[shift.cell] = shifted(model.fenced_at[shift.cell], &shift);
}

static void insert(struct thread *thread, uint16_t index, unsigned at,
                   struct message message)
{
    struct cell *cell = touched(index);
    if (cell->count == MESSAGES) {
        fail("limit", "more than %d values of %s that can still be read", MESSAGES,
             cell_name(known.cell[index].address));
        return;
    }
    if (at < cell->count) {
        memmove(&cell->messages[at + 1], &cell->messages[at],
                (cell->count - at) * sizeof message);
        shift_all((struct shift){index, at, 1});
    }
    thread->view.at[index] = (uint8_t)at;
    if (message.view)
        model.views[message.view].at[index] = (uint8_t)at;
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

void memory_prepare(struct thread *thread, uint16_t cell, uint64_t value)
{
    if (message_of(cell, message_count(cell) - 1)->value != value)
        insert(thread, cell, message_count(cell), (struct message){value, NO_VIEW, 0});
    else
        thread->view.at[cell] = (uint8_t)(message_count(cell) - 1);
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
            model.view_used[cell->messages[i].view] = 0;
        cell->messages[0] =
            (struct message){cell->messages[cell->count - 1].value, NO_VIEW, 0};
        cell->count = 1;
    }
    memset(model.fenced_at, 0, known.cells);
    for (unsigned i = 0; i < known.plains; i++)
        model.plain[i].readers = 0;
    views_visit(know_all, NULL);
}

/* Could the thread read another value, where it has read since its last relax()? */
bool changed_since_read(const struct thread *thread)
{
    for (unsigned i = 0; i < thread->reads; i++) {
        uint16_t cell = (uint16_t)thread->read[i].cell;
        for (unsigned m = thread->view.at[cell]; m < message_count(cell); m++)
            if (message_of(cell, m)->value != thread->read[i].value)
                return true;
    }
    return false;
}

bool is_live(int thread)
{
    uint8_t operation = model.thread[thread].request.operation;
    return operation != OP_DONE && operation != OP_NONE;
}

static bool tells_nothing(const struct view *view)
{
    for (int t = 0; t < THREADS; t++) {
        if (!is_live(t))
            continue;
        const struct view *mine = &model.thread[t].view;
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
        model.view_used[cell->messages[i].view] = 0;
    cell->count = (uint16_t)(cell->count - count);
    memmove(cell->messages, cell->messages + count,
            cell->count * sizeof *cell->messages);
    cell->messages[0].attached = 0;
    shift_all((struct shift){index, 0, -(int)count});
}

static void forget_joined(struct view *view, const struct view *joined)
{
    for (unsigned i = 0; i < known.cells; i++)
        if (view->at[i] <= joined->at[i])
            view->at[i] = 0;
    for (unsigned i = 0; i < known.plains; i++)
        view->knows[i] &= (uint8_t)~joined->knows[i];
}

/* Keeps equal what no thread can tell apart: messages that all have passed, views that
 * all have joined. */
void memory_collect(void)
{
    if (known.fences)
        for (int t = 0; t < THREADS; t++)
            forget_joined(&model.thread[t].pending, &model.thread[t].view);
    for (uint16_t c = 0; c < known.cells; c++) {
        struct cell *cell = &model.cells[c];
        if (!cell->count)
            continue;
        unsigned seen = cell->count - 1u;
        for (int t = 0; t < THREADS; t++)
            if (is_live(t) && model.thread[t].view.at[c] < seen)
                seen = model.thread[t].view.at[c];
        if (seen)
            drop(cell, c, seen);
        for (unsigned i = 0; i < cell->count; i++) {
            struct message *message = &cell->messages[i];
            if (message->view && tells_nothing(&model.views[message->view])) {
                model.view_used[message->view] = 0;
                message->view = NO_VIEW;
            }
        }
        if (cell->count == 1 && cell->messages[0].value == known.cell[c].initial &&
            cell->messages[0].view == NO_VIEW)
            cell->count = 0;
    }
}
