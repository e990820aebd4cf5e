/* SPDX-License-Identifier: MIT */
#include "explorer/execution/run.h"

#include "explorer/base/coroutine.h"
#include "explorer/base/counterexample.h"
#include "explorer/base/verdict.h"
#include "explorer/execution/pool.h"
#include "explorer/execution/steps.h"
#include "explorer/execution/waiting.h"
#include "explorer/memory/barriers.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/views.h"

#include <string.h>

enum { FORCED_EXITS = 160 };
/* Marks of choices: with PASS_FORCED, see force_exit(); with the caller of a heavy
 * barrier that reaches the thread. */
enum { FORCED = 0x4000, REACHED = 0x2000 };

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
    if (taken && !run.client->child) /* vanished threads keep their waiters */
        fail("leak", "%u slots were not given back to their pool", taken);
    end_thread();
}

static void launch(int thread, void (*body)(void))
{
    model.running = thread;
    model.thread[thread].node = thread < 4 ? run.client->nodes[thread] : 0;
    model.thread[thread].spurious_wakeups = run.client->spurious_wakeups;
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
    locations_begin();
    model_reset(known.cells);
    locations_reset();
    counterexample_truncate(0);
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

/* A thread's end happens before finish(). */
static void forget_ended(int thread)
{
    struct thread *ended = &model.thread[thread];
    if (thread == FINISHER || ended->request.operation != OP_DONE)
        return;
    view_join(&model.thread[FINISHER].view, &ended->view);
    barriers_thread_ended(ended);
    memset(ended, 0, sizeof *ended);
    ended->request.operation = OP_DONE;
}

static bool goes_on_by_itself(int index)
{
    uint16_t choices[THREADS * MESSAGES];
    return model.thread[index].request.operation != OP_RELAX &&
           choices_of(index, choices);
}

/* Returns whether the thread has just ended a redundant iteration; see model.h. */
static bool was_idle_iteration(int index)
{
    const struct iteration *iteration = &model.thread[index].iteration;
    if (model.thread[index].request.operation != OP_RELAX || !iteration->idle ||
        iteration->began != coroutine_digest(index))
        return false;
    bool all_wait = true;
    for (int t = 0; t < THREADS; t++)
        all_wait &= t == index || !goes_on_by_itself(t);
    return iteration->stale || !all_wait;
}

static void reach(int thread, unsigned caller)
{
    heavy_barrier_reach(thread, (int)caller);
    counterexample_add(&(struct counterexample_step){
        .thread = thread, .operation = OP_REACHED, .threads = 1u << caller});
}

bool run_advance(struct choice choice)
{
    struct thread *thread = &model.thread[choice.thread];
    if (choice.what & REACHED) {
        reach(choice.thread, choice.what & (uint16_t)~REACHED);
        return true;
    }
    if (model.running < 0) {
        thread->phase = PHASE_READING;
        thread->watched = 0;
        model.forced_exits =
            (uint8_t)(model.forced_exits + ((choice.what & FORCED) != 0));
    }
    run.preemptions += choice.costs;
    model.running = model.last = choice.thread;
    bool goes_on = perform(choice.thread, choice.what & (uint16_t)~FORCED);
    if (verdict.failed)
        return true;
    if (goes_on)
        coroutine_resume(choice.thread);
    if (!may_go_on(thread, &thread->request))
        model.running = -1;
    bool without_news = goes_on && was_idle_iteration(choice.thread);
    if (thread->request.operation == OP_DONE) {
        model.running = -1;
        forget_ended(choice.thread);
    }
    return !without_news;
}

static unsigned add_choices(int thread, uint8_t costs, struct choice *into)
{
    uint16_t what[CHOICES];
    unsigned count = choices_of(thread, what);
    for (unsigned i = 0; i < count; i++)
        into[i] = (struct choice){(uint8_t)thread, costs, what[i]};
    return count;
}

/* No thread can continue. Before that counts as a deadlock, the threads that wait are
 * let out of their loops one after the other: a loop of bounded length may end. */
static unsigned force_exit(struct choice *into)
{
    if (model.forced_exits >= FORCED_EXITS)
        return 0;
    for (int i = 0; i < THREADS; i++) {
        int thread = (model.last + 1 + i) % THREADS;
        if (model.thread[thread].request.operation == OP_RELAX) {
            into[0] = (struct choice){(uint8_t)thread, 0, FORCED | PASS_FORCED};
            return 1;
        }
    }
    return 0;
}

static unsigned add_barriers(struct choice *into)
{
    struct barrier_choice barriers[THREADS * THREADS];
    unsigned count = barriers_choices(barriers);
    for (unsigned i = 0; i < count; i++)
        into[i] = (struct choice){barriers[i].thread, 0,
                                  (uint16_t)(REACHED | barriers[i].caller)};
    return count;
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
    count += add_barriers(into + count);
    return count ? count : force_exit(into);
}

unsigned run_choices(struct choice *into)
{
    return model.running >= 0 ? add_choices(model.running, 0, into) : schedule(into);
}

bool run_last_goes_on(void)
{
    uint16_t choices[CHOICES];
    return model.last >= 0 && !gives_way(&model.thread[model.last]) &&
           choices_of(model.last, choices);
}
