/* SPDX-License-Identifier: MIT */
#include "explorer/execution/state.h"

#include "explorer/base/coroutine.h"
#include "explorer/memory/canonical.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/views.h"

#include <string.h>

/* Saving and restoring traverse the state in the same way. */
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

static void pass_view(struct tape *tape, struct view *view)
{
    pass(tape, view->at, known.cells);
    pass(tape, view->knows, known.plains);
}

static bool is_under_way(const struct thread *thread)
{
    return thread->request.operation != OP_NONE && thread->request.operation != OP_DONE;
}

/* Everything but the request and the view. */
static void thread_clear(struct thread *thread)
{
    memset(&thread->phase, 0, sizeof *thread - offsetof(struct thread, phase));
    memset(thread->pending.at, 0, known.cells);
    memset(thread->pending.knows, 0, known.plains);
    memset(thread->released.at, 0, known.cells);
    memset(thread->released.knows, 0, known.plains);
}

static void pass_thread(struct tape *tape, struct thread *thread)
{
    pass(tape, &thread->request, sizeof thread->request);
    pass_view(tape, &thread->view);
    if (known.heavy) {
        pass(tape, thread->at_barrier, known.cells);
        pass(tape, thread->delivered, known.cells);
    }
    if (!is_under_way(thread)) {
        if (!tape->saving)
            thread_clear(thread);
        return;
    }
    pass(tape, &thread->phase,
         offsetof(struct thread, read) - offsetof(struct thread, phase));
    pass(tape, thread->read, thread->reads * sizeof *thread->read);
    if (known.fences)
        pass_view(tape, &thread->pending);
    if (thread->fenced)
        pass_view(tape, &thread->released);
}

static void pass_message(struct tape *tape, struct message *message)
{
    uint8_t has_view = message->view != NO_VIEW;
    pass(tape, &message->value, sizeof message->value);
    pass(tape, &message->attached, sizeof message->attached);
    pass(tape, &has_view, sizeof has_view);
    if (!tape->saving)
        message->view = has_view ? view_take() : NO_VIEW;
    if (has_view)
        pass_view(tape, &model.views[message->view]);
}

static void pass_cells(struct tape *tape)
{
    for (uint16_t c = 0; c < known.cells; c++) {
        struct cell *cell = &model.cells[c];
        pass(tape, &cell->count, sizeof cell->count);
        for (unsigned i = 0; i < cell->count; i++)
            pass_message(tape, &cell->messages[i]);
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

static void pass_plain(struct tape *tape)
{
    pass(tape, model.plain, known.plains * sizeof *model.plain);
    for (unsigned i = 0; i < known.plains; i++) {
        const struct location *location = &known.location[known.plain[i]];
        pass(tape, location->address, location->size);
    }
}

static void pass_state(struct tape *tape)
{
    for (int t = 0; t < THREADS; t++)
        pass_thread(tape, &model.thread[t]);
    for (int pool = 0; pool < POOLS; pool++)
        pass_pool(tape, &model.pool[pool]);
    pass(tape, model.fenced_at, known.cells);
    pass(tape, &model.running, sizeof model.running);
    pass(tape, &model.forced_exits, sizeof model.forced_exits);
    pass(tape, &model.clock, sizeof model.clock);
    pass(tape, &model.generation, sizeof model.generation);
    pass(tape, &model.lock_destroyed, sizeof model.lock_destroyed);
    pass_plain(tape);
    pass_cells(tape);
}

/* Restored with the state, but not part of it; see STATE_HEAD. */
static void pass_head(struct tape *tape)
{
    unsigned char *begin = tape->at;
    for (int t = 0; t < THREADS; t++)
        pass(tape, &model.thread[t].iteration, sizeof(struct iteration));
    tape->at = begin + STATE_LAST;
    pass(tape, &model.last, sizeof model.last);
    tape->at = begin + STATE_HEAD;
}

size_t state_save(unsigned char *into)
{
    canonicalise();
    struct tape tape = {into, true};
    pass_head(&tape);
    pass_state(&tape);
    for (int t = 0; t < THREADS; t++)
        if (is_live(t))
            tape.at += coroutine_save(t, tape.at);
    return (size_t)(tape.at - into);
}

void state_restore(const unsigned char *from)
{
    struct tape tape = {(unsigned char *)(uintptr_t)from, false};
    memset(model.view_used, 0, sizeof model.view_used);
    pass_head(&tape);
    pass_state(&tape);
    for (int t = 0; t < THREADS; t++)
        if (is_live(t))
            tape.at += coroutine_restore(t, tape.at);
}
