/* SPDX-License-Identifier: MIT */
/*
 * Sections of one object or several, executed by an executor of the list or under
 * mutexes: the micro-benchmark of RCL (Lozi et al., "Remote core locking", USENIX ATC
 * 2012). The pause between two sections sets the contention.
 *
 * Where the platform starts no threads, the first workers are the servers of executors
 * that have them: of N workers, N - 1 are clients of one server, as in the paper.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"
#include "delegating.h"

#include <inttypes.h>
#include <stdio.h>

#define EXECUTOR(...)
#include "delegation/executors.def"
#undef EXECUTOR

#define EXECUTOR(id, title, ...) title,
const char *const delegate_names[] = {"lock",
#include "delegation/executors.def"
                                      NULL};
#undef EXECUTOR

struct object {
    struct delegate delegate;
    struct delegated *delegated;
    struct guarded *guarded;
};

struct delegated {
    struct section section;
    bool chained;
    uint64_t executor, objects, servers, times;
    unsigned serving; /* workers that serve */
    struct atomic_u32 ended __attribute__((aligned(CACHE_LINE)));
    struct object object[];
};

static bool refuse(struct run *run, const char *reason)
{
    explain(run, "%s", reason);
    run->refused = true;
    return false;
}

bool delegation_prepare(struct run *run)
{
    const uint64_t lines = run->knobs[KNOB_CS_LINES], count = run->knobs[KNOB_LOCKS];
    const uint64_t executor = run->knobs[KNOB_EXECUTOR];
    const uint64_t servers = run->knobs[KNOB_SERVERS];
    if (executor && !CAN_DELEGATE)
        return refuse(run, "this program has no executors");
    if (executor && !servers)
        return refuse(run, "servers=0 leaves an executor without a server");
    if (servers > DELEGATING_SERVERS || servers > count)
        return refuse(run, "there are more servers than objects, or than possible");
    struct delegated *delegated =
        run_memory(run, sizeof *delegated + count * sizeof(struct object));
    void *all = delegated ? run_memory(run, count * guarded_bytes(lines)) : NULL;
    run->shared = delegated;
    if (!all)
        return false;
    guarded_create(all, count, lines);
    delegated->section = section_of(run);
    delegated->chained = run->knobs[KNOB_CHAINED];
    delegated->executor = executor;
    delegated->objects = count;
    delegated->servers = servers;
    delegated->times = run->knobs[KNOB_TIMES];
    delegated->serving = delegating_needs_servers(executor) ? (unsigned)servers : 0;
    for (uint64_t i = 0; i < count; i++) {
        delegated->object[i].delegated = delegated;
        delegated->object[i].guarded = guarded_at(all, lines, i);
    }
    if (run->threads <= delegated->serving)
        return refuse(run, "the simulated machine needs a thread for each server, and "
                           "another one");
    return true;
}

/* The first worker makes the objects. */
void delegation_enter(struct run *run, struct worker *worker)
{
    struct delegated *delegated = run->shared;
    const bool ahead = run->knobs[KNOB_READ_AHEAD];
    if (worker->index != 0 || !delegated->executor)
        return;
    for (uint64_t i = 0; i < delegated->objects; i++)
        delegating_init(&delegated->object[i].delegate, delegated->executor,
                        i % delegated->servers, ahead);
}

static void *section_body(void *context)
{
    const struct object *object = context;
    const struct section *section = &object->delegated->section;
    if (object->delegated->chained)
        guarded_chase(object->guarded, section->lines);
    else
        guarded_touch(object->guarded, section->lines);
    if (section->cycles)
        pause_cycles(section->cycles);
    return NULL;
}

static void section_do(struct run *run, struct object *object)
{
    const uint64_t executor = object->delegated->executor;
    if (executor) {
        delegating_run(&object->delegate, executor, section_body, object);
        return;
    }
    mutex_lock(run, &object->guarded->mutex);
    section_body(object);
    mutex_unlock(run, &object->guarded->mutex);
}

static struct object *pick(struct delegated *delegated, struct worker *worker)
{
    uint64_t index = 0;
    if (delegated->objects > 1)
        index = random_below(&worker->random, delegated->objects);
    return &delegated->object[index];
}

/* The last client that ends dismisses the servers. */
static void client_ends(const struct run *run, struct delegated *delegated)
{
    const uint32_t clients = run->threads - delegated->serving;
    if (!delegated->serving ||
        fetch_add_acq_rel(&delegated->ended, 1) + 1 != clients)
        return;
    for (unsigned i = 0; i < delegated->serving; i++)
        delegating_dismiss(&delegated->object[0].delegate, i);
}

void delegation_work(struct run *run, struct worker *worker)
{
    struct delegated *delegated = run->shared;
    if (worker->index < delegated->serving) {
        worker->aside = true;
        delegating_serve(&delegated->object[0].delegate, worker->index);
        return;
    }
    for (;;) {
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            break;
        for (uint64_t i = 0; i < delegated->times; i++)
            section_do(run, pick(delegated, worker));
        run_count(run, worker, start, section_ended(&delegated->section));
        section_think(&delegated->section, worker);
    }
    client_ends(run, delegated);
}

bool delegation_check(struct run *run)
{
    struct delegated *delegated = run->shared;
    return guarded_check(run, delegated->object[0].guarded, delegated->objects,
                         run->knobs[KNOB_CS_LINES], delegated->times);
}

/* Prints what the executor of the first object, or its server, has done. */
void delegation_report(const struct run *run)
{
    const struct delegated *delegated = run->shared;
    if (!delegated->executor)
        return;
    const struct delegating_counts counts =
        delegating_counts(&delegated->object[0].delegate);
    printf(",\"executor_sections\":%" PRIu64 ",\"executor_holds\":%" PRIu64
           ",\"executor_longest\":%" PRIu64,
           counts.sections, counts.holds, counts.longest);
    if (counts.of_server)
        printf(",\"server_lines\":%" PRIu64 ",\"server_serialised\":%" PRIu64
               ",\"server_replaced\":%" PRIu64,
               counts.lines, counts.serialised, counts.replaced);
}
