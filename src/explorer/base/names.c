/* SPDX-License-Identifier: MIT */
#include "explorer/base/names.h"

#include "explorer/base/slots.h"
#include "explorer/base/variables.h"

#include "delegation/call.h"
#include "locks/waiting/waiter.h"
#include "rwlocks/read_holds.h"

#include <stdio.h>

struct field {
    size_t offset, size;
    const char *name;
};

#define FIELD(type, member)                                                            \
    {                                                                                  \
        offsetof(struct type, member), sizeof((struct type *)0)->member, #member       \
    }
static const struct field lock_fields[] = {FIELD(lock, word),  FIELD(lock, count),
                                           FIELD(lock, owner), FIELD(lock, users),
                                           FIELD(lock, kind),  FIELD(lock, algorithm),
                                           FIELD(lock, mode),  FIELD(lock, generation),
                                           FIELD(lock, state), {0, 0, NULL}};
static const struct field rwlock_fields[] = {
    FIELD(rwlock, word),       FIELD(rwlock, state),     FIELD(rwlock, writer),
    FIELD(rwlock, shared),     FIELD(rwlock, algorithm), FIELD(rwlock, generation),
    FIELD(rwlock, side),       FIELD(rwlock, more),      FIELD(rwlock, kind),
    FIELD(rwlock, bias),       {0, 0, NULL}};
static const struct field waiter_fields[] = {
    FIELD(waiter, cell),   FIELD(waiter, next),           FIELD(waiter, previous),
    FIELD(waiter, asleep), FIELD(waiter, may_change),     FIELD(waiter, ticket),
    FIELD(waiter, epoch),  FIELD(waiter, condition_next), FIELD(waiter, condition),
    FIELD(waiter, lock),   FIELD(waiter, more),           FIELD(waiter, link),
    FIELD(waiter, holds),  FIELD(waiter, holder),         FIELD(waiter, generation),
    {0, 0, NULL}};
static const struct field side_block_fields[] = {{0, sizeof(struct pool_slot), "word"},
                                                 {0, 0, NULL}};

static const struct field read_holds_fields[] = {FIELD(read_holds, at),
                                                 FIELD(read_holds, nested),
                                                 FIELD(read_holds, generation),
                                                 FIELD(read_holds, below),
                                                 {0, 0, NULL}};
static const struct field barrier_block_fields[] = {FIELD(barrier_block, round),
                                                    FIELD(barrier_block, words),
                                                    {0, 0, NULL}};
static const struct field barrier_fields[] = {
    FIELD(barrier, arrivals), FIELD(barrier, count),      FIELD(barrier, kind),
    FIELD(barrier, block),    FIELD(barrier, base),       FIELD(barrier, generation),
    FIELD(barrier, central),  {0, 0, NULL}};
static const struct field call_fields[] = {
    FIELD(call, cell),    FIELD(call, next),    FIELD(call, asleep),
    FIELD(call, section), FIELD(call, context), FIELD(call, result),
    {0, 0, NULL}};
static const struct field delegate_fields[] = {
    FIELD(delegate, lines), FIELD(delegate, tail),     FIELD(delegate, word),
    FIELD(delegate, busy),  FIELD(delegate, sleepers), FIELD(delegate, lock),
    {0, 0, NULL}};
static const struct {
    const char *name;
    const struct field *fields;
} pools[POOLS] = {[WAITER_POOL] = {"waiter", waiter_fields},
                  [SIDE_POOL] = {"side block", side_block_fields},
                  [CALL_POOL] = {"call", call_fields},
                  [HOLDS_POOL] = {"read holds", read_holds_fields},
                  [BARRIER_POOL] = {"barrier block", barrier_block_fields}};

static const char *name_in(const struct field *fields, size_t offset, const char *whole)
{
    static char name[4][64];
    static unsigned used;
    char *text = name[used++ % 4];
    for (; fields->name; fields++) {
        if (offset < fields->offset || offset >= fields->offset + fields->size)
            continue;
        size_t within = offset - fields->offset;
        if (fields->size > 8 || within)
            snprintf(text, sizeof name[0], "%s.%s[%zu]", whole, fields->name,
                     within / 4);
        else
            snprintf(text, sizeof name[0], "%s.%s", whole, fields->name);
        return text;
    }
    snprintf(text, sizeof name[0], "%s", whole);
    return text;
}

const char *cell_name(const void *address)
{
    static char whole[64];
    const char *at = address, *lock = (const char *)&client_lock,
               *rwlock = (const char *)&client_rwlock,
               *barrier = (const char *)&client_barrier,
               *delegate = (const char *)&client_delegate;
    int pool;
    unsigned id;
    size_t offset;
    if (at >= lock && at < lock + sizeof client_lock)
        return name_in(lock_fields, (size_t)(at - lock), "lock");
    if (at >= rwlock && at < rwlock + sizeof client_rwlock)
        return name_in(rwlock_fields, (size_t)(at - rwlock), "rwlock");
    if (at >= barrier && at < barrier + sizeof client_barrier)
        return name_in(barrier_fields, (size_t)(at - barrier), "barrier");
    if (at >= delegate && at < delegate + sizeof client_delegate)
        return name_in(delegate_fields, (size_t)(at - delegate), "delegate");
    if (address == &client_spinlock)
        return "spinlock";
    if (address == &client_spinlock.next)
        return "spinlock.next";
    if (slot_at(address, &pool, &id, &offset)) {
        snprintf(whole, sizeof whole, "%s %u", pools[pool].name, id);
        return name_in(pools[pool].fields, offset, whole);
    }
    const char *variable = client_variable(address);
    if (variable)
        return variable;
    snprintf(whole, sizeof whole, "static %p", address);
    return whole;
}

const char *order_name(int order)
{
    static const char *const names[] = {"relaxed", "acquire", "release", "acq_rel"};
    return names[order & 3];
}
