/* SPDX-License-Identifier: MIT */
#include "explorer/memory/views.h"

#include "explorer/base/verdict.h"
#include "explorer/memory/locations.h"

#include <string.h>

void view_join(struct view *into, const struct view *from)
{
    for (unsigned i = 0; i < known.cells; i++)
        into->at[i] = from->at[i] > into->at[i] ? from->at[i] : into->at[i];
    for (unsigned i = 0; i < known.plains; i++)
        into->knows[i] |= from->knows[i];
}

void views_visit(void (*visit)(struct view *, void *), void *argument)
{
    for (int t = 0; t < THREADS; t++) {
        visit(&model.thread[t].view, argument);
        visit(&model.thread[t].pending, argument);
        visit(&model.thread[t].released, argument);
    }
    for (unsigned word = 0; word < VIEWS / 64; word++)
        for (uint64_t used = model.view_used[word]; used; used &= used - 1)
            visit(&model.views[64 * word + (unsigned)__builtin_ctzll(used)], argument);
}

void view_copy(struct view *into, const struct view *from)
{
    memcpy(into->at, from->at, known.cells);
    memcpy(into->knows, from->knows, known.plains);
}

uint8_t view_take(void)
{
    for (unsigned word = 0; word < VIEWS / 64; word++) {
        uint64_t unused = ~model.view_used[word];
        if (word == 0)
            unused &= ~UINT64_C(1); /* NO_VIEW */
        if (unused) {
            model.view_used[word] |= unused & -unused;
            return (uint8_t)(64 * word + (unsigned)__builtin_ctzll(unused));
        }
    }
    fail("limit", "more than %d messages with a view", VIEWS);
    return NO_VIEW;
}

void view_give(uint8_t view)
{
    if (view != NO_VIEW)
        model.view_used[view / 64] &= ~(UINT64_C(1) << view % 64);
}

uint8_t view_new(const struct view *content)
{
    uint8_t fresh = view_take();
    view_copy(&model.views[fresh], content);
    return fresh;
}

struct shift {
    uint16_t cell;
    unsigned from;
    int by;
};

static uint8_t shifted(uint8_t at, const struct shift *shift)
{
    if (at < shift->from)
        return at;
    return at + shift->by > 0 ? (uint8_t)(at + shift->by) : 0;
}

static void shift_view(struct view *view, void *argument)
{
    const struct shift *shift = argument;
    view->at[shift->cell] = shifted(view->at[shift->cell], shift);
}

void views_shift(uint16_t cell, unsigned from, int by)
{
    struct shift shift = {cell, from, by};
    views_visit(shift_view, &shift);
    for (int t = 0; t < THREADS && known.heavy; t++) {
        struct thread *thread = &model.thread[t];
        thread->at_barrier[cell] = shifted(thread->at_barrier[cell], &shift);
        thread->delivered[cell] = shifted(thread->delivered[cell], &shift);
    }
    model.fenced_at[cell] = shifted(model.fenced_at[cell], &shift);
}
