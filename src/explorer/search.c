/* SPDX-License-Identifier: MIT */
/* Depth first, with the states seen remembered. */
#include "explorer/search.h"
#include "explorer/run.h"
#include "explorer/trail.h"
#include "explorer/visited.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 1 << 14, LESSONS = 4096 };
enum { SCOUTS = 2000, SCOUTS_IN_VAIN = 100 };

/* A state with more than one way on. */
struct frame {
    unsigned char *state;
    struct choice *choices;
    unsigned count, next, trail, preemptions;
};

static struct frame frames[FRAMES];
static unsigned depth;
static bool out_of_limits;
static bool pruned, limited; /* by a table that is too small: now, in this search */
static struct outcome *found;
static unsigned char state_bytes[STATE_BYTES];
static size_t saved; /* of them; choices are made of the state as saved */
static struct timespec began;

bool failed;
volatile int search_interrupted;

static double seconds_since(const struct timespec *from)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)(now.tv_sec - from->tv_sec) +
           (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

void fail(const char *verdict, const char *format, ...)
{
    if (known.changed) { /* nothing counts: the search is to begin again */
        pruned = true;
    } else if (strcmp(verdict, "limit") == 0) {
        pruned = limited = true;
    } else if (!failed) {
        va_list arguments;
        va_start(arguments, format);
        snprintf(found->verdict, sizeof found->verdict, "%s", verdict);
        vsnprintf(found->detail, sizeof found->detail, format, arguments);
        va_end(arguments);
        failed = true;
    }
    char here;
    if (stack_of(&here) >= 0)
        while (true)
            coroutine_yield();
}

/* Who ran last matters only where preemptions are counted. */
static bool is_new(void)
{
    saved = state_save(state_bytes);
    size_t unhashed = STATE_HEAD;
    if (run.bound != UNBOUNDED && run_last_goes_on())
        unhashed = STATE_LAST;
    return visit(state_bytes + unhashed, saved - unhashed, (uint8_t)run.preemptions);
}

/* The ways on from here; 0: this run has ended, or led to a known state. */
static unsigned ways_on(struct choice *into)
{
    if (run_is_over()) {
        found->executions++;
        return 0;
    }
    if (!known.changed && !is_new())
        return 0;
    unsigned count = run_ways_on(into);
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
    frame->trail = trail_length();
    frame->preemptions = run.preemptions;
    return true;
}

/* To the next choice that was not made yet. */
static bool go_back(struct choice *choice)
{
    while (depth) {
        struct frame *frame = &frames[depth - 1];
        state_restore(frame->state);
        trail_cut(frame->trail);
        run.preemptions = frame->preemptions;
        *choice = frame->choices[frame->next++];
        if (frame->next == frame->count) {
            free(frame->state);
            depth--;
        }
        return true;
    }
    return false;
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

/* One search from the beginning. What it learns of places ends it, but not before the
 * run under way, which may learn more. */
static void explore(const struct limits *limits)
{
    struct choice choices[CHOICES * THREADS], next;
    unsigned lessons = 0;
    visited_clear();
    run.cut = pruned = limited = known.changed = false;
    found->executions = 0;
    run_begin();
    for (uint64_t steps = 1; !failed; steps++) {
        unsigned count = pruned ? 0 : ways_on(choices);
        if (failed || (steps % 1024 == 0 && !within(limits)))
            break;
        if (known.changed && (!count || lessons++ == LESSONS))
            break;
        next = choices[0];
        if (!count || (count > 1 && !known.changed && !push(choices, count))) {
            pruned = false;
            if (!go_back(&next))
                break;
        }
        pruned |= !run_advance(next) && !known.changed;
    }
    drop_frames();
}

/* One run at random, whose findings do not count. */
static void scout(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    struct choice choices[CHOICES * THREADS];
    run_begin();
    pruned = false;
    known.changed = true;
    for (unsigned i = 0; i < LESSONS && !pruned; i++) {
        unsigned count = ways_on(choices);
        if (!count)
            return;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        run_advance(choices[(state >> 32) % count]);
    }
}

/* What kinds of places there are shows in few runs; to learn it late is expensive. */
static void send_scouts(void)
{
    unsigned in_vain = 0;
    run.bound = UNBOUNDED;
    for (unsigned i = 0; i < SCOUTS && in_vain < SCOUTS_IN_VAIN; i++) {
        unsigned before = places_learnt();
        scout();
        in_vain = places_learnt() == before ? in_vain + 1 : 0;
    }
}

struct outcome search(const struct client *client, const struct limits *limits)
{
    struct outcome outcome = {.preemptions = UNBOUNDED, .verdict = "ok"};
    static const unsigned bounds[] = {0, 1, 2, 3, 4, 6, UNBOUNDED};
    found = &outcome;
    run.client = client;
    run.ids_matter = limits->ids_matter;
    failed = out_of_limits = false;
    memset(&known, 0, sizeof known);
    memset(&model, 0, sizeof model);
    pools_prepare();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
    known.heavy = client->every_step;
    send_scouts();
    for (unsigned i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        run.bound = bounds[i];
        if (run.bound > limits->preemptions)
            break;
        do
            explore(limits);
        while (known.changed && !failed && !out_of_limits);
        outcome.states += visited_count();
        if (failed || out_of_limits)
            break;
        if (limited)
            break;
        outcome.preemptions = run.bound;
        if (!run.cut) {
            outcome.complete = true;
            break;
        }
    }
    places_reset();
    outcome.interrupted = search_interrupted;
    outcome.seconds = seconds_since(&began);
    return outcome;
}
