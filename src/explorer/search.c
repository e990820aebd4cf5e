/* SPDX-License-Identifier: MIT */
/* Depth first, with the states seen remembered. */
#include "explorer/search.h"
#include "explorer/model.h"
#include "explorer/trail.h"
#include "explorer/visited.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 1 << 14, CHOICES = 256, KICKS = 160 };

struct choice {
    uint8_t thread, costs;
    uint16_t what;
};

/* A state with more than one way on. */
struct frame {
    unsigned char *state;
    struct choice *choices;
    unsigned count, next, trail, preemptions;
};

static struct frame frames[FRAMES];
static unsigned depth, preemptions, bound;
static bool cut, out_of_limits;
static bool pruned, limited; /* by a table that is too small: now, in this search */
static struct outcome *found;
static const struct client *running_client;
static unsigned char state_bytes[STATE_BYTES];
static size_t saved; /* of them; choices are made of the state as saved */
static struct timespec began;

bool failed;
volatile int search_interrupted;

static double seconds_since(const struct timespec *from)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - from->tv_sec) +
           (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

void fail(const char *verdict, const char *format, ...)
{
    if (strcmp(verdict, "limit") == 0) {
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
    if (on_a_stack(&here))
        while (true)
            coroutine_yield();
}

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
    running_client->body((unsigned)model.running);
    end_thread();
}

static void finisher_body(void)
{
    model.thread[FINISHER].request = (struct request){.operation = OP_START};
    coroutine_yield();
    running_client->finish();
    unsigned taken = pool_taken();
    if (taken && !running_client->child) /* ghosts keep their waiters */
        fail("leak", "%u slots are not back in the pool at the end", taken);
    end_thread();
}

static void launch(int thread, void (*body)(void))
{
    model.running = thread;
    model.thread[thread].node = thread < 4 ? running_client->nodes[thread] : 0;
    model.thread[thread].naps = running_client->naps;
    model.thread[thread].in_child =
        running_client->child && thread >= running_client->child;
    coroutine_start(thread, body);
    model.running = -1;
}

static void begin(void)
{
    memory_reset();
    plain_reset();
    trail_cut(0);
    depth = preemptions = 0;
    for (unsigned t = 0; t < running_client->threads; t++)
        launch((int)t, thread_body);
}

static bool clients_done(void)
{
    for (int t = 0; t < FINISHER; t++)
        if (is_live(t))
            return false;
    return true;
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

/* One choice is made; the thread runs on to its next one. */
static void advance(struct choice choice)
{
    struct thread *thread = &model.thread[choice.thread];
    if (model.running < 0) {
        thread->phase = PHASE_READING;
        model.kicks = (uint8_t)(model.kicks + ((choice.what & KICK) != 0));
    }
    preemptions += choice.costs;
    model.running = model.last = choice.thread;
    bool goes_on = perform(choice.thread, choice.what & (uint16_t)~KICK);
    if (failed)
        return;
    if (goes_on)
        coroutine_resume(choice.thread);
    if (!may_go_on(thread, &thread->request))
        model.running = -1;
    if (thread->request.operation == OP_DONE) {
        model.running = -1;
        forget_ended(choice.thread);
    }
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
        if (others && goes_on && preemptions >= bound) {
            cut = true;
            continue;
        }
        memcpy(into + count, more, others * sizeof *more);
        count += others;
    }
    return count ? count : kick(into);
}

static void deadlock(void)
{
    char text[400] = "";
    size_t used = 0;
    for (int t = 0; t < THREADS; t++) {
        const struct thread *thread = &model.thread[t];
        if (!is_live(t) || used >= sizeof text)
            continue;
        const struct request *request = &thread->request;
        if (request->operation == OP_ASLEEP) {
            uint64_t value =
                message_of(request->cell, message_count(request->cell) - 1)->value;
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "; thread %d sleeps on %s, which is %d", t,
                                     cell_name(known.cell[request->cell].address),
                                     (int)value);
            continue;
        }
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "; thread %d waits in %s",
                             t, request->function ? request->function : "?");
        for (unsigned i = 0; i < thread->reads && used < sizeof text; i++)
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s%s (%d)", i ? ", " : " for ",
                cell_name(known.cell[thread->read[i].cell].address),
                (int)thread->read[i].value);
    }
    fail("deadlock", "nobody can go on%s", text);
}

/* Who ran last matters only where preemptions are counted. */
static bool is_new(void)
{
    saved = state_save(state_bytes);
    size_t unhashed = bound == UNBOUNDED ? STATE_UNHASHED : 0;
    return visit(state_bytes + unhashed, saved - unhashed, (uint8_t)preemptions);
}

/* The ways on from here; 0: this run has ended, or led to a known state. */
static unsigned ways_on(struct choice *into)
{
    if (model.running < 0 && clients_done()) {
        if (model.thread[FINISHER].request.operation == OP_NONE)
            launch(FINISHER, finisher_body);
        else if (!is_live(FINISHER)) {
            found->executions++;
            return 0;
        }
    }
    if (!is_new())
        return 0;
    if (model.running >= 0)
        return add_choices(model.running, 0, into);
    unsigned count = schedule(into);
    if (!count)
        deadlock();
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
    frame->preemptions = preemptions;
    return true;
}

/* To the next choice that was not made yet. */
static bool go_back(struct choice *choice)
{
    while (depth) {
        struct frame *frame = &frames[depth - 1];
        state_restore(frame->state);
        trail_cut(frame->trail);
        preemptions = frame->preemptions;
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

/* One search from the beginning. */
static void explore(const struct limits *limits)
{
    struct choice choices[CHOICES * THREADS], next;
    visited_clear();
    cut = pruned = limited = known.changed = false;
    known.heavy |= running_client->every_step;
    found->executions = 0;
    begin();
    for (uint64_t steps = 1; !failed; steps++) {
        unsigned count = pruned ? 0 : ways_on(choices);
        if (failed || known.changed || (steps % 1024 == 0 && !within(limits)))
            break;
        next = choices[0];
        if (!count || (count > 1 && !push(choices, count))) {
            pruned = false;
            if (!go_back(&next))
                break;
        }
        advance(next);
    }
    drop_frames();
}

struct outcome search(const struct client *client, const struct limits *limits)
{
    struct outcome outcome = {.preemptions = UNBOUNDED, .verdict = "ok"};
    static const unsigned bounds[] = {0, 1, 2, 3, 4, 6, UNBOUNDED};
    found = &outcome;
    running_client = client;
    failed = out_of_limits = false;
    memset(&known, 0, sizeof known);
    memset(&model, 0, sizeof model);
    pools_prepare();
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (unsigned i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        bound = bounds[i];
        if (bound > limits->preemptions)
            break;
        do
            explore(limits);
        while (known.changed && !failed && !out_of_limits);
        outcome.states += visited_count();
        if (failed || out_of_limits)
            break;
        if (limited)
            break;
        outcome.preemptions = bound;
        if (!cut) {
            outcome.complete = true;
            break;
        }
    }
    plain_reset();
    outcome.interrupted = search_interrupted;
    outcome.seconds = seconds_since(&began);
    return outcome;
}
