/* SPDX-License-Identifier: MIT */
#include "explorer/search/search.h"

#include "explorer/base/counterexample.h"
#include "explorer/base/verdict.h"
#include "explorer/execution/pool.h"
#include "explorer/execution/run.h"
#include "explorer/execution/state.h"
#include "explorer/memory/locations.h"
#include "explorer/search/deadlock.h"
#include "explorer/search/visited.h"
#include "platform/xorshift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 1 << 14 };
enum { LEARNING_STEPS = 4096 }; /* of a run whose findings do not count */
enum { PROBES = 2000, PROBES_IN_VAIN = 100 };

/* A state with more than one choice. */
struct frame {
    unsigned char *state;
    struct choice *choices;
    unsigned count, next, steps, preemptions;
};

static struct frame frames[FRAMES];
static unsigned depth;
static bool out_of_limits;
static uint64_t executions;
static unsigned char state_bytes[STATE_BYTES];
static size_t saved; /* bytes of the current state in state_bytes */
static struct timespec began;

volatile int search_interrupted;

static double seconds_since(const struct timespec *from)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)(now.tv_sec - from->tv_sec) +
           (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

/* The thread that ran last distinguishes states only where preemptions are counted. */
static bool is_new(void)
{
    saved = state_save(state_bytes);
    size_t unhashed = STATE_HEAD;
    if (run.bound != UNBOUNDED && run_last_goes_on())
        unhashed = STATE_LAST;
    return visit(state_bytes + unhashed, saved - unhashed, (uint8_t)run.preemptions);
}

/* Returns the number of choices in the current state; 0 if the run has ended or the
 * state is known. */
static unsigned next_choices(struct choice *into)
{
    if (run_is_over()) {
        executions++;
        return 0;
    }
    if (!verdict.learnt && !is_new())
        return 0;
    unsigned count = run_choices(into);
    if (!count)
        report_deadlock();
    return count;
}

static bool push(const struct choice *choices, unsigned count)
{
    if (depth == FRAMES) {
        fail("limit", "more than %d choices in a row", FRAMES);
        return false;
    }
    size_t size = saved;
    struct frame *frame = &frames[depth++];
    frame->state = malloc(size + count * sizeof *choices + 8);
    if (!frame->state)
        abort();
    memcpy(frame->state, state_bytes, size);
    size = (size + 7) / 8 * 8;
    frame->choices = (struct choice *)(frame->state + size);
    memcpy(frame->choices, choices, count * sizeof *choices);
    frame->count = count;
    frame->next = 1;
    frame->steps = counterexample_length();
    frame->preemptions = run.preemptions;
    return true;
}

/* Returns to the deepest state with a choice that has not been made yet. */
static bool go_back(struct choice *choice)
{
    if (!depth)
        return false;
    struct frame *frame = &frames[depth - 1];
    state_restore(frame->state);
    counterexample_truncate(frame->steps);
    run.preemptions = frame->preemptions;
    *choice = frame->choices[frame->next++];
    if (frame->next == frame->count) {
        free(frame->state);
        depth--;
    }
    return true;
}

static void drop_frames(void)
{
    while (depth)
        free(frames[--depth].state);
}

static bool within(const struct limits *limits)
{
    if (search_interrupted || visited_count() > limits->states ||
        seconds_since(&began) > limits->seconds)
        out_of_limits = true;
    return !out_of_limits;
}

/* One search from the beginning. If it learns something new about memory, the current
 * run still goes on to its end, because it may learn more; then the search ends. */
static void explore(const struct limits *limits)
{
    struct choice choices[CHOICES * THREADS], next;
    unsigned learning = 0;
    visited_clear();
    run.cut = verdict.pruned = verdict.limited = verdict.learnt = false;
    verdict.detail[0] = '\0';
    executions = 0;
    run_begin();
    for (uint64_t steps = 1; !verdict.failed; steps++) {
        unsigned count = verdict.pruned ? 0 : next_choices(choices);
        if (verdict.failed || (steps % 1024 == 0 && !within(limits)))
            break;
        if (verdict.learnt && (!count || learning++ == LEARNING_STEPS))
            break;
        next = choices[0];
        if (!count || (count > 1 && !verdict.learnt && !push(choices, count))) {
            verdict.pruned = false;
            if (!go_back(&next))
                break;
        }
        verdict.pruned |= !run_advance(next) && !verdict.learnt;
    }
    drop_frames();
}

/* One random run, whose findings do not count. */
static void probe_once(void)
{
    static uint64_t random = 0x9e3779b97f4a7c15;
    struct choice choices[CHOICES * THREADS];
    run_begin();
    verdict.pruned = false;
    verdict.learnt = true;
    for (unsigned i = 0; i < LEARNING_STEPS && !verdict.pruned; i++) {
        unsigned count = next_choices(choices);
        if (!count)
            return;
        random = xorshift64(random);
        run_advance(choices[(random >> 32) % count]);
    }
}

/* A few random runs reveal most facts about memory cheaply: each fact that the search
 * itself discovers restarts it. */
static void probe(void)
{
    unsigned without_news = 0;
    run.bound = UNBOUNDED;
    for (unsigned i = 0; i < PROBES && without_news < PROBES_IN_VAIN; i++) {
        unsigned before = locations_learnt();
        probe_once();
        without_news = locations_learnt() == before ? without_news + 1 : 0;
    }
}

static void prepare(const struct client *client, const struct limits *limits)
{
    run.client = client;
    run.ids_matter = limits->ids_matter;
    out_of_limits = false;
    verdict = (struct verdict){.name = "ok"};
    memset(&known, 0, sizeof known);
    memset(&model, 0, sizeof model);
    known.every_step = client->every_step;
    pools_prepare();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
}

struct outcome search(const struct client *client, const struct limits *limits)
{
    struct outcome outcome = {.preemptions = UNBOUNDED};
    static const unsigned bounds[] = {0, 1, 2, 3, 4, 6, UNBOUNDED};
    prepare(client, limits);
    probe();
    for (unsigned i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        run.bound = bounds[i];
        if (run.bound > limits->preemptions)
            break;
        do
            explore(limits);
        while (verdict.learnt && !verdict.failed && !out_of_limits);
        outcome.states += visited_count();
        if (verdict.failed || verdict.limited || out_of_limits)
            break;
        outcome.preemptions = run.bound;
        if (!run.cut) {
            outcome.complete = true;
            break;
        }
    }
    locations_reset();
    outcome.executions = executions;
    outcome.interrupted = search_interrupted;
    outcome.seconds = seconds_since(&began);
    snprintf(outcome.verdict, sizeof outcome.verdict, "%s", verdict.name);
    snprintf(outcome.detail, sizeof outcome.detail, "%s", verdict.detail);
    return outcome;
}
