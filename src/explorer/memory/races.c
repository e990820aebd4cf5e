/* SPDX-License-Identifier: MIT */
#include "explorer/memory/races.h"

#include "explorer/memory/locations.h"
#include "explorer/memory/views.h"

#include <string.h>

struct knowledge {
    unsigned plain;
    uint8_t forget;
};

static void forget(struct view *view, void *argument)
{
    const struct knowledge *knowledge = argument;
    view->knows[knowledge->plain] &= (uint8_t)~knowledge->forget;
}

bool read_is_ordered(unsigned plain, int thread)
{
    struct plain_state *state = &model.plain[plain];
    uint8_t *mine = &model.thread[thread].view.knows[plain];
    if (state->written && !(*mine & KNOWS_WRITE))
        return false;
    uint8_t self = (uint8_t)(1u << thread);
    views_visit(forget, &(struct knowledge){plain, self});
    state->readers |= self;
    *mine |= self;
    return true;
}

uint8_t unordered_readers(unsigned plain, int thread)
{
    uint8_t mine = model.thread[thread].view.knows[plain];
    return model.plain[plain].readers & (uint8_t) ~(mine | 1u << thread);
}

bool write_is_ordered(unsigned plain, int thread)
{
    struct plain_state *state = &model.plain[plain];
    uint8_t *mine = &model.thread[thread].view.knows[plain];
    if ((state->written && !(*mine & KNOWS_WRITE)) || unordered_readers(plain, thread))
        return false;
    views_visit(forget, &(struct knowledge){plain, 0xff});
    *mine = KNOWS_WRITE;
    *state = (struct plain_state){.written = 1, .writer = (uint8_t)thread};
    return true;
}

static uint8_t agreed[PLAINS];

static void forget_agreed(struct view *view, void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < known.plains; i++)
        view->knows[i] &= (uint8_t)~agreed[i];
}

/* Accesses that every thread knows need not be kept. (The finisher inherits the
 * knowledge of the threads that have ended.) */
void races_canonicalise(void)
{
    memset(agreed, 0xff, known.plains);
    for (int t = 0; t < THREADS; t++) {
        const uint8_t *knows = model.thread[t].view.knows;
        if (takes_part(t))
            for (unsigned i = 0; i < known.plains; i++)
                agreed[i] &= (uint8_t)(knows[i] | 1u << t);
    }
    views_visit(forget_agreed, NULL);
    for (unsigned i = 0; i < known.plains; i++) {
        struct plain_state *state = &model.plain[i];
        state->readers &= (uint8_t)~agreed[i];
        if (agreed[i] & KNOWS_WRITE)
            state->written = state->writer = 0;
    }
}
