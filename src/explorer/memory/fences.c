/* SPDX-License-Identifier: MIT */
#include "explorer/memory/fences.h"

#include "explorer/memory/locations.h"
#include "explorer/memory/views.h"

#include <string.h>

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
