/* SPDX-License-Identifier: MIT */
/* Threads begin, go on one choice at a time, and end; then the finisher. */
#include "explorer/run.h"
#include "explorer/trail.h"

#include <stdio.h>
#include <string.h>

enum { KICKS = 160 };

struct run run;

static void end_thread(void)
{
    model.thread[model.running].request = (struct request){.operation = OP_DONE};
    while (true)
        coroutine_yield();
}

static void thread_body(void)
{
    struct thread *self = &model.thread[model.running];
    self->request = (struct request){.operation = OP_START};
    coroutine_yield();
    run.client->body((unsigned)model.running);
    end_thread();
}

static void finisher_body(void)
{
    model.thread[FINISHER].request = (struct request){.operation = OP_START};
    coroutine_yield();
    run.client->finish();
    unsigned taken = pool_taken();
    if (taken && !run.client->child) /* ghosts keep their waiters */
        fail("leak", "%u slots are not back in the pool at the end", taken);
    end_thread();
}

static void launch(int thread, void (*body)(void))
{
    model.running = thread;
    model.thread[thread].node = thread < 4 ? run.client->nodes[thread] : 0;
    model.thread[thread].naps = run.client->naps;
    model.thread[thread].in_child =
        run.client->child && thread >= run.client->child && thread != FINISHER;
    if (run.client->alike & 1u << thread && !run.ids_matter)
        model.thread[thread].before =
            (uint8_t)(run.client->alike & ((1u << thread) - 1));
    coroutine_start(thread, body);
    model.running = -1;
}

void run_begin(void)
{
    places_begin();
    memory_reset();
    places_reset();
    trail_cut(0);
    run.preemptions = 0;
    for (unsigned t = 0; t < run.client->threads; t++)
        launch((int)t, thread_body);
}

static bool clients_done(void)
{
    for (int t = 0; t < FINISHER; t++)
        if (takes_part(t))
            return false;
    return true;
}

bool run_is_over(void)
{
    if (model.running >= 0 || !clients_done())
        return false;
    if (model.thread[FINISHER].request.operation == OP_NONE)
        launch(FINISHER, finisher_body);
    return !is_live(FINISHER);
}

/* What happened before a thread's end happens before finish(). */
static void forget_ended(int thread)
{
    struct thread *ended = &model.thread[thread];
    if (thread == FINISHER || ended->request.operation != OP_DONE)
        return;
    view_join(&model.thread[FINISHER].view, &ended->view);
    memset(ended, 0, sizeof *ended);
    ended->request.operation = OP_DONE;
}

bool run_advance(struct choice choice)
{
    struct thread *thread = &model.thread[choice.thread];
    if (model.running < 0) {
        thread->phase = PHASE_READING;
        thread->watched = 0;
        model.kicks = (uint8_t)(model.kicks + ((choice.what & KICK) != 0));
    }
    run.preemptions += choice.costs;
    model.running = model.last = choice.thread;
    bool goes_on = perform(choice.thread, choice.what & (uint16_t)~KICK);
    if (failed)
        return true;
    if (goes_on)
        coroutine_resume(choice.thread);
    if (!may_go_on(thread, &thread->request))
        model.running = -1;
    bool in_vain = goes_on && was_idle_turn(choice.thread);
    if (thread->request.operation == OP_DONE) {
        model.running = -1;
        forget_ended(choice.thread);
    }
    return !in_vain;
}

static unsigned add_choices(int thread, uint8_t costs, struct choice *into)
{
    uint16_t what[CHOICES];
    unsigned count = choices_of(thread, what);
    for (unsigned i = 0; i < count; i++)
        into[i] = (struct choice){(uint8_t)thread, costs, what[i]};
    return count;
}

/* Nobody can go on. Whoever waits in a loop of a fixed length (which costs nothing to
 * let run) gets the chance to leave it, in turn, before that counts as a deadlock. */
static unsigned kick(struct choice *into)
{
    if (model.kicks >= KICKS)
        return 0;
    for (int i = 0; i < THREADS; i++) {
        int thread = (model.last + 1 + i) % THREADS;
        if (model.thread[thread].request.operation == OP_RELAX) {
            into[0] = (struct choice){(uint8_t)thread, 0, KICK | PASS_KICK};
            return 1;
        }
    }
    return 0;
}

static unsigned schedule(struct choice *into)
{
    unsigned count = 0;
    int last = model.last;
    bool goes_on = false;
    if (last >= 0) {
        count = add_choices(last, 0, into);
        goes_on = count && !gives_way(&model.thread[last]);
    }
    for (int t = 0; t < THREADS; t++) {
        if (t == last)
            continue;
        struct choice more[CHOICES];
        unsigned others = add_choices(t, goes_on, more);
        if (others && goes_on && run.preemptions >= run.bound) {
            run.cut = true;
            continue;
        }
        memcpy(into + count, more, others * sizeof *more);
        count += others;
    }
    return count ? count : kick(into);
}

unsigned run_ways_on(struct choice *into)
{
    return model.running >= 0 ? add_choices(model.running, 0, into) : schedule(into);
}

bool run_last_goes_on(void)
{
    uint16_t choices[CHOICES];
    return model.last >= 0 && !gives_way(&model.thread[model.last]) &&
           choices_of(model.last, choices);
}
