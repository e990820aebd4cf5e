/* SPDX-License-Identifier: MIT */
/* The whole state as bytes, to come back to it, and to know it again. */
#include "explorer/model.h"

#include <string.h>

/* One walk for both directions. */
struct tape {
    unsigned char *at;
    bool saving;
};

static inline __attribute__((always_inline)) void pass(struct tape *tape, void *data,
                                                       size_t size)
{
    if (tape->saving)
        memcpy(tape->at, data, size);
    else
        memcpy(data, tape->at, size);
    tape->at += size;
}

static void pass_view(struct tape *tape, struct view *view, unsigned cells,
                      unsigned plains)
{
    pass(tape, view->at, cells);
    pass(tape, view->knows, plains);
    if (!tape->saving) { /* it was saved when fewer were known */
        memset(view->at + cells, 0, known.cells - cells);
        memset(view->knows + plains, 0, known.plains - plains);
    }
}

static bool is_under_way(const struct thread *thread)
{
    return thread->request.operation != OP_NONE && thread->request.operation != OP_DONE;
}

static void pass_thread(struct tape *tape, struct thread *thread, unsigned cells,
                        unsigned plains)
{
    pass(tape, &thread->request, sizeof thread->request);
    pass_view(tape, &thread->view, cells, plains);
    if (!is_under_way(thread))
        return;
    pass(tape, &thread->phase,
         offsetof(struct thread, read) - offsetof(struct thread, phase));
    pass(tape, thread->read, thread->reads * sizeof *thread->read);
    if (known.fences)
        pass_view(tape, &thread->pending, cells, plains);
    if (thread->fenced)
        pass_view(tape, &thread->released, cells, plains);
}

static uint8_t free_view(void)
{
    for (unsigned i = 1; i < VIEWS; i++)
        if (!model.view_used[i])
            return (uint8_t)i;
    return NO_VIEW; /* there were as many when it was saved */
}

static void pass_message(struct tape *tape, struct message *message, unsigned cells,
                         unsigned plains)
{
    uint8_t has_view = message->view != NO_VIEW;
    pass(tape, &message->value, sizeof message->value);
    pass(tape, &message->attached, sizeof message->attached);
    pass(tape, &has_view, sizeof has_view);
    if (!tape->saving) {
        message->view = has_view ? free_view() : NO_VIEW;
        model.view_used[message->view] = 1;
    }
    if (has_view)
        pass_view(tape, &model.views[message->view], cells, plains);
}

static void pass_cells(struct tape *tape, unsigned cells, unsigned plains)
{
    for (uint16_t c = 0; c < cells; c++) {
        struct cell *cell = &model.cells[c];
        pass(tape, &cell->count, sizeof cell->count);
        for (unsigned i = 0; i < cell->count; i++)
            pass_message(tape, &cell->messages[i], cells, plains);
    }
}

static void pass_pool(struct tape *tape, struct pool_state *pool)
{
    pass(tape, &pool->carved, sizeof pool->carved);
    pass(tape, pool->home, pool->carved);
    pass(tape, pool->taken, pool->carved);
    pass(tape, pool->free_count, sizeof pool->free_count);
    for (int t = 0; t < THREADS; t++)
        pass(tape, pool->free[t], pool->free_count[t]);
}

static void pass_plain(struct tape *tape, unsigned plains)
{
    pass(tape, model.plain, plains * sizeof *model.plain);
    for (unsigned i = 0; i < plains; i++)
        if (known.plain[i].written)
            pass(tape, known.plain[i].address, known.plain[i].size);
}

/* The instance of known.written that a saved state was made under must not change while
 * it is in use: search.c begins again when it does. */
static void pass_state(struct tape *tape, unsigned cells, unsigned plains)
{
    for (int t = 0; t < THREADS; t++)
        pass_thread(tape, &model.thread[t], cells, plains);
    for (int pool = 0; pool < POOLS; pool++)
        pass_pool(tape, &model.pool[pool]);
    pass(tape, model.fenced_at, cells);
    pass(tape, &model.running, sizeof model.running);
    pass(tape, &model.kicks, sizeof model.kicks);
    pass(tape, &model.clock, sizeof model.clock);
    pass(tape, &model.generation, sizeof model.generation);
    pass(tape, &model.gone, sizeof model.gone);
    pass_plain(tape, plains);
    pass_cells(tape, cells, plains);
}

size_t state_save(unsigned char *into)
{
    memory_collect();
    uint16_t cells = (uint16_t)known.cells, plains = (uint16_t)known.plains;
    int8_t last = (int8_t)model.last;
    struct tape tape = {into, true};
    pass(&tape, &last, sizeof last);
    tape.at = into + 2;
    pass(&tape, &cells, sizeof cells);
    pass(&tape, &plains, sizeof plains);
    tape.at = into + STATE_UNHASHED;
    pass_state(&tape, cells, plains);
    for (int t = 0; t < THREADS; t++)
        if (is_live(t))
            tape.at += coroutine_save(t, tape.at);
    return (size_t)(tape.at - into);
}

void state_restore(const unsigned char *from)
{
    struct tape tape = {(unsigned char *)(uintptr_t)from, false};
    uint16_t cells, plains;
    int8_t last;
    pass(&tape, &last, sizeof last);
    tape.at = (unsigned char *)(uintptr_t)from + 2;
    pass(&tape, &cells, sizeof cells);
    pass(&tape, &plains, sizeof plains);
    tape.at = (unsigned char *)(uintptr_t)from + STATE_UNHASHED;
    memory_reset();
    plain_reset();
    pass_state(&tape, cells, plains);
    model.last = last;
    for (int t = 0; t < THREADS; t++)
        if (is_live(t))
            tape.at += coroutine_restore(t, tape.at);
}
