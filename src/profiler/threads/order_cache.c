/* SPDX-License-Identifier: MIT */
#include "profiler/threads/order_cache.h"

#include "profiler/store/lock_order.h"
#include "profiler/threads/stack_cache.h"

enum {
    CACHED = 256,       /* pairs known to one thread */
    OUTER_MOST = 8,     /* held locks that are paired, from the innermost outwards */
    COUNTED_APART = 64, /* by one thread before it adds them to the record */
    CALLERS = 64,       /* known to one thread */
    MANY = 1024,        /* new pairs by one caller */
    SELDOM = 64,        /* after that, one in so many of its acquisitions is checked */
};

/* A code location that nests locks. Where it keeps producing new pairs, as with two
 * arrays of locks, most are treated as known. */
struct pairing {
    uintptr_t caller;
    uint32_t unknown, seen;
};

struct order_cache {
    struct pairing pairing[CALLERS];
    struct known {
        struct trace_lock_order *edge; /* NULL: free */
        uint32_t outer, inner;
        uint32_t count; /* not added to the record yet */
        bool often;
        uint8_t modes; /* that this thread has added to the record */
        uint32_t gate; /* that of the record, unless the record's has become 0 */
    } known[CACHED];
};

static bool is_held_reading(const struct record_hold *hold)
{
    return hold->key & 1; /* record_key */
}

/* The outermost lock, if it is held exclusively and is not `outer` itself: threads that
 * all hold it cannot deadlock inside. */
static uint32_t gate_of(const struct recording *me, uint32_t outer)
{
    const struct record_hold *first = &me->hold[0];
    return first->lock == outer || is_held_reading(first) ? 0 : first->lock;
}

static struct trace_lock_order *find(struct recording *me, uint32_t outer,
                                     uint32_t inner, bool by_try, void *caller)
{
    struct trace_lock_order *edge = lock_order_find(outer, inner);
    if (edge)
        return edge;
    if (lock_order_has_space()) {
        const struct trace_lock_order record = {
            .outer = outer,
            .inner = inner,
            .stack = stack_take(me, caller),
            .thread = me->thread,
            .by_try = by_try,
            .gate = gate_of(me, outer),
        };
        edge = lock_order_add(&record);
    }
    if (!edge)
        add_shared(&trace->lost_lock_order, 1);
    return edge;
}

static void add(struct known *known)
{
    if (known->edge && known->count)
        add_shared(&known->edge->count, known->count);
    known->count = 0;
}

static struct known *slot_in(struct order_cache *cache, uint32_t outer, uint32_t inner)
{
    return &cache->known[lock_order_hash(outer, inner) >> 56];
}

static bool is_pair(const struct known *known, uint32_t outer, uint32_t inner)
{
    return known->edge && known->outer == outer && known->inner == inner;
}

static void count_one(struct known *known)
{
    known->count++;
    if (!known->often || known->count == COUNTED_APART) {
        add(known);
        known->often = known->edge->count >= COUNTED_APART;
    }
}

/* The lock that is acquired, and how. */
struct acquired {
    uint32_t lock;
    bool reading, by_try;
};

static uint8_t mode_of(const struct record_hold *outer, bool inner_reading)
{
    if (is_held_reading(outer))
        return inner_reading ? TRACE_BOTH_READ : TRACE_OUTER_READ;
    return inner_reading ? TRACE_INNER_READ : TRACE_BOTH_ALONE;
}

static void add_mode(struct known *known, uint8_t mode)
{
    if (known->modes & mode)
        return;
    known->modes |= mode;
    fetch_or_relaxed((struct atomic_u32 *)(void *)&known->edge->modes, mode);
}

static void note(struct recording *me, struct pairing *pairing,
                 const struct record_hold *hold, const struct acquired *acquired)
{
    void *caller = (void *)pairing->caller;
    const uint32_t outer = hold->lock, inner = acquired->lock;
    const bool by_try = acquired->by_try;
    struct known *known = slot_in(me->order, outer, inner);
    if (!is_pair(known, outer, inner)) {
        struct trace_lock_order *edge = find(me, outer, inner, by_try, caller);
        if (!edge)
            return;
        add(known);
        pairing->unknown++;
        *known = (struct known){.edge = edge, .outer = outer, .inner = inner};
        known->gate = edge->gate;
    }
    if (!by_try && known->gate && known->gate != gate_of(me, outer))
        known->gate = known->edge->gate = 0;
    if (!by_try && known->edge->by_try)
        known->edge->by_try = 0;
    if (!by_try)
        add_mode(known, mode_of(hold, acquired->reading));
    count_one(known);
}

static struct pairing *pairing_of(struct recording *me, void *caller)
{
    uint64_t hash = (uintptr_t)caller * 0x9e3779b97f4a7c15u;
    struct pairing *pairing = &me->order->pairing[(hash >> 40) % CALLERS];
    if (pairing->caller != (uintptr_t)caller)
        *pairing = (struct pairing){.caller = (uintptr_t)caller};
    return pairing;
}

/* Returns whether to skip the pairs of this acquisition. */
static bool as_good_as_known(struct recording *me, void *caller)
{
    struct pairing *pairing = pairing_of(me, caller);
    if (pairing->unknown < MANY || (pairing->seen + 1) % SELDOM == 0)
        return false;
    pairing->seen++;
    return true;
}

bool order_is_known(struct recording *me, uint32_t inner, bool by_try, void *caller)
{
    struct known *found[OUTER_MOST];
    uint32_t pairs = 0, depth = me->depth;
    if (!me->order || depth > OUTER_MOST || !inner)
        return false;
    while (depth-- > 0) {
        const struct record_hold *hold = &me->hold[depth];
        uint32_t outer = hold->lock;
        if (!outer || outer == inner)
            return false;
        found[pairs] = slot_in(me->order, outer, inner);
        if (!is_pair(found[pairs], outer, inner))
            return as_good_as_known(me, caller);
        /* A pair seen only by trylock has no mode yet. */
        if (!by_try && !(found[pairs]->modes & mode_of(hold, false)))
            return false;
        if (!by_try && found[pairs]->gate && found[pairs]->gate != gate_of(me, outer))
            return false;
        pairs++;
    }
    while (pairs-- > 0)
        count_one(found[pairs]);
    return true;
}

static void note_all(struct recording *me, const struct acquired *acquired,
                     void *caller)
{
    const uint32_t inner = acquired->lock;
    if (!me->order)
        me->order = map_pages(sizeof *me->order);
    if (!me->order || !inner)
        return;
    struct pairing *pairing = pairing_of(me, caller);
    if (pairing->unknown >= MANY && ++pairing->seen % SELDOM)
        return; /* as in as_good_as_known */
    uint32_t depth = me->depth;
    uint32_t end = depth > OUTER_MOST ? depth - OUTER_MOST : 0;
    while (depth-- > end) {
        uint32_t outer = me->hold[depth].lock;
        if (outer && outer != inner)
            note(me, pairing, &me->hold[depth], acquired);
    }
}

void order_acquiring(struct recording *me, uint32_t inner, bool reading, void *caller)
{
    const struct acquired acquired = {.lock = inner, .reading = reading};
    note_all(me, &acquired, caller);
}

void order_acquired_by_trylock(struct recording *me, uint32_t inner, void *caller)
{
    const struct acquired acquired = {.lock = inner, .by_try = true};
    note_all(me, &acquired, caller);
}

void order_flush(struct recording *me)
{
    for (unsigned i = 0; me->order && i < CACHED; i++)
        add(&me->order->known[i]);
}
