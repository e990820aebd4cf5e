/* SPDX-License-Identifier: MIT */
/*
 * Each object has an entry here, which outlives a fork: the child has another file, and
 * an object gets a record in it at its first section there. The sums that it had before
 * are subtracted from those that the library reports.
 */
#include "profiler/session/record_delegated.h"

#include "profiler/session/session.h"
#include "profiler/store/stacks.h"
#include "profiler/threads/stack_cache.h"

#include <string.h>

enum {
    OBJECTS_MOST = 1024,
    RECORDS_MOST = 1 << 14,
    /* One of so many sections is timed. */
    PERIOD = 16,
    SAMPLED_PERIOD = 128,
};

struct object {
    struct trace_delegate *record; /* in the present file, or NULL */
    uintptr_t address;
    char executor[32];
    bool used, alive;
    uint32_t depth; /* of the stack of its initialisation */
    uintptr_t frames[TRACE_FRAMES];
    struct record_delegate_sums last, before; /* reported; in the parent */
};

struct host {
    struct trace_server *record;
    uint32_t number;                  /* of the record */
    struct trace_server last, before; /* as those of an object */
};

static struct object objects[OBJECTS_MOST];
static struct host hosts[RECORD_HOSTS];
static struct atomic_u32 busy;   /* creating */
static struct atomic_u32 adding; /* the record of a server */

SERIES(delegate_records, TRACE_DELEGATES, struct trace_delegate, RECORDS_MOST);
SERIES(server_records, TRACE_SERVERS, struct trace_server, RECORD_HOSTS);

void record_delegated_forget(void)
{
    for (uint32_t i = 0; i < OBJECTS_MOST && objects[i].used; i++) {
        objects[i].record = NULL;
        objects[i].before = objects[i].last;
    }
    for (uint32_t i = 0; i < RECORD_HOSTS; i++) {
        hosts[i].record = NULL;
        hosts[i].before = hosts[i].last;
    }
    store_relaxed(&busy, 0);
    store_relaxed(&adding, 0);
    series_forget(&delegate_records);
    series_forget(&server_records);
}

/* Returns the host with a record in the present file, or NULL. */
static struct host *host_of(const struct record_delegate_sums *sums)
{
    if (!sums->host)
        return NULL;
    struct host *host = &hosts[sums->host - 1];
    if (likely(host->record != NULL))
        return host;
    if (!brief_lock(&adding))
        return NULL;
    if (!host->record) {
        struct trace_server record = {.number = sums->server.number};
        memcpy(record.executor, sums->server.executor, sizeof record.executor);
        host->record = series_append(&server_records, &record, &host->number);
    }
    brief_unlock(&adding);
    return host->record ? host : NULL;
}

/* Gives the object a record in the present file. */
static void add_record(struct object *object)
{
    struct trace_delegate record = {
        .address = object->address,
        .created_stack = stack_intern(object->frames, object->depth),
        .creations = 1,
        .born = ticks(),
    };
    uint32_t number;
    memcpy(record.executor, object->executor, sizeof record.executor);
    record.site = stack_site(record.created_stack);
    if (!trace_file_is_nearly_full())
        object->record = series_append(&delegate_records, &record, &number);
    if (!object->record)
        add_shared(&trace->lost_others, 1);
}

/* Another object at the same address continues the record; its own sums begin at 0. */
static void revive(struct object *object)
{
    struct trace_delegate *record = object->record;
    object->alive = true;
    object->before.held_sections = 0 - record->held_sections;
    object->before.holds = 0 - record->holds;
    record->died = 0;
    record->creations++;
}

/* Returns the entry for a new object: one that was used for the same before, with its
 * record, else a free one. NULL: there is none. */
static struct object *claim(const struct object *wanted)
{
    struct object *found = NULL;
    for (uint32_t i = 0; i < OBJECTS_MOST; i++) {
        struct object *object = &objects[i];
        if (object->alive)
            continue;
        if (object->used && object->record && object->address == wanted->address &&
            object->depth == wanted->depth &&
            !memcmp(object->executor, wanted->executor, sizeof wanted->executor) &&
            !memcmp(object->frames, wanted->frames, sizeof wanted->frames)) {
            revive(object);
            return object;
        }
        if (!found || (found->used && !object->used))
            found = object;
    }
    if (found) {
        *found = *wanted;
        add_record(found);
    }
    return found;
}

uint32_t record_delegate(const void *object, const char *executor, void *caller)
{
    struct object wanted = {.address = (uintptr_t)object};
    uint32_t number = 0;
    session_needs_file();
    struct recording *me = record_me();
    if (!me || !session_is_active())
        return 0;
    record_enter(me);
    wanted.used = wanted.alive = true;
    strncpy(wanted.executor, executor, sizeof wanted.executor - 1);
    const uint32_t stack = stack_of_origin(me, caller);
    if (stack) {
        const struct trace_stack *origin = stack_record(stack);
        wanted.depth = origin->depth;
        memcpy(wanted.frames, origin->frame, sizeof wanted.frames);
    }
    if (brief_lock(&busy)) {
        struct object *mine = claim(&wanted);
        if (mine)
            number = (uint32_t)(mine - objects) + 1;
        brief_unlock(&busy);
    }
    if (!number)
        add_shared(&trace->lost_others, 1);
    record_leave(me);
    return number;
}

/* Returns the object if it can be recorded now. */
static struct object *object_at(uint32_t number)
{
    struct object *object = &objects[number - 1];
    if (unlikely(!session_is_active()))
        session_needs_file();
    if (!session_is_active())
        return NULL;
    if (unlikely(!object->record))
        add_record(object);
    return object->record ? object : NULL;
}

static void take_sums(struct object *object, const struct record_delegate_sums *sums)
{
    struct trace_delegate *record = object->record;
    const struct record_delegate_sums *before = &object->before;
    object->last = *sums;
    record->held_sections = sums->held_sections - before->held_sections;
    record->holds = sums->holds - before->holds;
    if (sums->held_most > record->held_most)
        record->held_most = sums->held_most;
    struct host *host = host_of(sums);
    record->server = host ? host->number : 0;
    if (!host)
        return;
    host->last = sums->server;
    host->record->sections = sums->server.sections - host->before.sections;
    host->record->rounds = sums->server.rounds - host->before.rounds;
    host->record->lines = sums->server.lines - host->before.lines;
    host->record->serialised = sums->server.serialised - host->before.serialised;
    host->record->replaced = sums->server.replaced - host->before.replaced;
}

static void add_time(uint64_t taken, uint64_t weight, uint64_t *sum, uint64_t *most,
                     struct trace_histogram *histogram)
{
    *sum += weight * taken;
    if (taken > *most)
        *most = taken;
    histogram->bucket[trace_bucket(taken)] += (uint32_t)weight;
}

/* Returns how many sections the next one of the object shall stand for. */
static uint32_t period_of(const struct trace_delegate *record)
{
    if (record->sections < TRACE_SECTIONS_REPORTED)
        return 1;
    return sampling.sampled_mode ? SAMPLED_PERIOD : PERIOD;
}

uint32_t record_delegated(uint32_t number, const struct record_section *section,
                          const struct record_delegate_sums *sums)
{
    struct object *object = object_at(number);
    if (!object)
        return 1;
    struct trace_delegate *record = object->record;
    const uint64_t weight = section->stands_for;
    record->sections += weight;
    add_time(section->waited, weight, &record->wait_ticks, &record->wait_most,
             &record->wait);
    add_time(section->took, weight, &record->service_ticks, &record->service_most,
             &record->service);
    if (section->bytes) {
        record->contexts += weight;
        record->context_bytes += weight * section->bytes;
        if (section->bytes > record->context_most)
            record->context_most = section->bytes;
    }
    take_sums(object, sums);
    return period_of(record);
}

void record_delegate_ended(uint32_t number, const struct record_delegate_sums *sums)
{
    struct object *object = object_at(number);
    if (!object) {
        objects[number - 1].alive = false;
        return;
    }
    take_sums(object, sums);
    object->record->died = ticks();
    object->alive = false;
}
