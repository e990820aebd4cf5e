/* SPDX-License-Identifier: MIT */
#include "profiler/threads/lock_counts.h"

#include "profiler/store/lock_registry.h"
#include "profiler/store/stacks.h"
#include "profiler/threads/site_stats.h"
#include "profiler/threads/stack_cache.h"

#include <string.h>

enum {
    SLOT_BYTES = sizeof(struct trace_lock_count),
    WAYS = 4,
    SMALL_BYTES = TRACE_TABLE, /* a thread's first table */
    GROWTH = 4,            /* factor */
    MOST_CHUNKS = 64,      /* in one table */
    MOST_RENEWED = 64,     /* threads visited */
    STALE = 2, /* set in the address of an earlier lock; a lock is aligned */
};

/*
 * The slot of a key is taken from bits 32 and up of its product with a factor. The
 * usual factor is the golden ratio in fixed point: adjacent locks of 40 bytes or more
 * get adjacent slots of 64 bytes, so a program with an array of thousands of locks does
 * not miss the TLB at each of them; other equidistant keys are spread as in Knuth's
 * multiplicative hashing (The Art of Computer Programming, 6.4). Smaller locks may be
 * too dense for that; then the other factor scatters them.
 */
static const uint64_t LOCAL = 0x19e3779b9, SCATTERING = 0x9e3779b97f4a7c15;

_Static_assert(SLOT_BYTES == 64 && sizeof(struct trace_chunk) == 64,
               "the header of a chunk is one slot of its table");

/* Small tables share a chunk. They are never freed: a later thread takes over the
 * record together with its table. */
static struct atomic_u32 dividing;
static struct trace_chunk *divided;
static uint32_t parts_used;

void lock_counts_forget(void)
{
    store_relaxed(&dividing, 0);
    divided = NULL;
}

/* Adds a table to the file, marked free so that readers ignore it for now. */
static struct trace_chunk *make_table(const struct recording *me, uint32_t chunks)
{
    struct trace_chunk *table = trace_file_add_chunks(TRACE_FREE, SLOT_BYTES, chunks);
    if (!table)
        return NULL;
    table->writer = me->thread;
    table->used = chunks * (TRACE_CHUNK / SLOT_BYTES) - 1;
    return table;
}

static unsigned char *make_small_table(const struct recording *me)
{
    unsigned char *table = NULL;
    if (trace_file_is_nearly_full() || !brief_lock(&dividing))
        return NULL;
    if (!divided || parts_used == TRACE_CHUNK / SMALL_BYTES) {
        divided = make_table(me, 1);
        parts_used = 0;
        if (divided) {
            divided->writer = 0;
            store_release((struct atomic_u32 *)(void *)&divided->kind,
                          TRACE_LOCK_COUNTS);
        }
    }
    if (divided) {
        table = (unsigned char *)divided + parts_used * SMALL_BYTES;
        if (parts_used++)
            ((struct trace_lock_count *)(void *)table)->site = me->thread;
        else
            divided->owner = me->thread;
    }
    brief_unlock(&dividing);
    return table;
}

/* The local factor sets the top slot bit only for odd keys (readers of rwlocks). */
static void set_slots(struct recording *me, uint64_t bytes)
{
    /* Pairs with the acquire in slot_of: the larger mask implies the larger table. */
    store_release((struct atomic_u64 *)(void *)&me->counts_mask, bytes - SLOT_BYTES);
    me->counts_factor = me->scattered ? SCATTERING : LOCAL + (bytes << 31);
}

/* Updates the tag after the entry in its slot has changed. */
static void tag(const struct recording *me, const struct trace_lock_count *count)
{
    const uint64_t slot = (uint64_t)((const unsigned char *)count - me->counts);
    struct record_tag tag = {0};
    if (record_slot(me, count->address) == slot)
        tag = (struct record_tag){(uint32_t)count->address, count->lock};
    me->tags[slot / SLOT_BYTES] = tag;
}

/* The old tags stay mapped: other threads may be about to write to them. */
static bool make_tags(struct recording *me, uint64_t bytes)
{
    struct record_tag *tags = map_pages(bytes / SLOT_BYTES * sizeof *tags);
    if (tags)
        me->tags = tags;
    return tags != NULL;
}

static void use_table(struct recording *me, struct trace_chunk *table)
{
    me->counts = (unsigned char *)table;
    set_slots(me, (uint64_t)(table->follow + 1) * TRACE_CHUNK);
    me->shared->lock_counts = trace_file_chunk_number(table);
    store_release((struct atomic_u32 *)(void *)&table->kind, TRACE_LOCK_COUNTS);
}

bool lock_counts_create(struct recording *me)
{
    uint64_t bytes = SMALL_BYTES;
    unsigned char *table = make_small_table(me);
    if (table) {
        me->shared->lock_counts = trace_file_chunk_number((void *)table);
    } else {
        bytes = TRACE_CHUNK;
        table = map_pages(bytes);
        add_shared(&trace->lost_lock_counts, 1);
    }
    if (!table || !make_tags(me, bytes))
        return false;
    me->counts = table;
    set_slots(me, bytes);
    return true;
}

/* Moves an entry's sums to the lock's record. */
static void move_sums(struct trace_lock_count *count)
{
    const struct trace_lock_count sums = *count;
    if (!sums.lock)
        return;
    struct trace_lock *lock = registry_record(sums.lock);
    add_shared(&lock->acquisitions, sums.acquisitions);
    add_shared(&lock->contended, sums.contended);
    add_shared(&lock->wait_ticks, sums.wait_ticks);
    add_shared(&lock->hold_ticks, sums.hold_ticks);
    add_shared(&lock->owner_changes, sums.owner_changes);
    add_shared(&lock->node_changes, sums.node_changes);
    count->acquisitions -= sums.acquisitions;
    count->contended -= sums.contended;
    count->wait_ticks -= sums.wait_ticks;
    count->hold_ticks -= sums.hold_ticks;
    count->owner_changes -= sums.owner_changes;
    count->node_changes -= sums.node_changes;
}

void lock_counts_publish(struct recording *me)
{
    for (uint64_t slot = SLOT_BYTES;
         !me->shared->lock_counts && slot <= me->counts_mask; slot += SLOT_BYTES)
        move_sums((void *)(me->counts + slot));
}

static void give_up(struct trace_lock_count *count)
{
    move_sums(count);
    memset(count, 0, sizeof *count);
}

void lock_counts_merge(struct recording *me)
{
    for (uint64_t slot = 0; slot <= me->counts_mask; slot += SLOT_BYTES)
        if (slot && ((struct trace_lock_count *)(void *)(me->counts + slot))->address)
            give_up((void *)(me->counts + slot));
    memset(me->tags, 0, (me->counts_mask / SLOT_BYTES + 1) * sizeof *me->tags);
}

/* Returns the entry of a key, or the slot to use for it. */
static struct trace_lock_count *find_entry(const struct recording *me, uintptr_t key)
{
    uint64_t first = record_slot(me, key);
    struct trace_lock_count *free = NULL, *least = NULL;
    for (unsigned way = 0; way < WAYS; way++) {
        uint64_t slot = first ^ way * SLOT_BYTES;
        if (!slot)
            continue;
        struct trace_lock_count *count = (void *)(me->counts + slot);
        if (count->address == key)
            return count;
        if (count->address == (key | STALE) || (!count->address && !free))
            free = count;
        else if (!least || count->acquisitions < least->acquisitions)
            least = count;
    }
    return free ? free : least;
}

/* Clears the pointers of current holds to an entry. */
static void detach_holds(struct recording *me, const struct trace_lock_count *count)
{
    for (uint32_t i = 0; i < me->depth; i++)
        if (me->hold[i].count == count)
            me->hold[i].count = NULL;
}

static uint64_t used_slots(const struct recording *me)
{
    uint64_t used = 0;
    for (uint64_t at = SLOT_BYTES; at <= me->counts_mask; at += SLOT_BYTES)
        used +=
            ((const struct trace_lock_count *)(void *)(me->counts + at))->address != 0;
    return used;
}

/* Returns a larger table in the file, or NULL. */
static struct trace_chunk *make_larger_table(struct recording *me, uint32_t chunks)
{
    if (!me->shared->lock_counts || chunks > MOST_CHUNKS || trace_file_is_half_full())
        return NULL;
    struct trace_chunk *table = make_table(me, chunks);
    return table && make_tags(me, (uint64_t)chunks * TRACE_CHUNK) ? table : NULL;
}

static void move_entries(struct recording *me, unsigned char *old, uint64_t mask)
{
    for (uint64_t slot = SLOT_BYTES; slot <= mask; slot += SLOT_BYTES) {
        struct trace_lock_count *from = (void *)(old + slot);
        if (from->address && !(from->address & STALE)) {
            struct trace_lock_count *to = find_entry(me, from->address);
            if (to->address)
                give_up(to);
            *to = *from;
            tag(me, to);
            memset(from, 0, sizeof *from);
        } else {
            give_up(from);
        }
    }
}

/* Moves the entries to a larger table and updates current holds. */
static bool grow(struct recording *me)
{
    unsigned char *old = me->counts;
    const uint64_t mask = me->counts_mask;
    const bool small = mask < TRACE_CHUNK - SLOT_BYTES;
    me->evictions = 0;
    me->scattered |= used_slots(me) < mask / SLOT_BYTES / 4;
    struct trace_chunk *table =
        make_larger_table(me, small ? 1 : GROWTH * (uint32_t)(mask / TRACE_CHUNK + 1));
    if (!table)
        return false;
    if (!small)
        store_release((struct atomic_u32 *)(void *)&((struct trace_chunk *)old)->kind,
                      TRACE_FREE);
    use_table(me, table);
    move_entries(me, old, mask);
    for (uint32_t i = 0; i < me->depth; i++) {
        struct trace_lock_count *count = find_entry(me, me->hold[i].key);
        me->hold[i].count = count->address == me->hold[i].key ? count : NULL;
    }
    return true;
}

/* Returns true after many evictions: the thread uses more locks than fit. */
static bool is_small(const struct recording *me)
{
    return me->evictions > me->counts_mask / SLOT_BYTES / 2;
}

static uint32_t make_known(struct recording *me, uintptr_t address,
                           const struct record_as *as, void *caller)
{
    uint32_t number = registry_find(address);
    if (number)
        return number;
    struct registry_origin origin = {
        .as = as,
        .flags = TRACE_STATIC | as->flags,
        .stack = stack_of_origin(me, caller),
        .thread = me->thread,
        .born = ticks(),
    };
    origin.site = stack_site(origin.stack);
    return registry_add(address, &origin);
}

static struct trace_lock_count *fill(struct recording *me,
                                     struct trace_lock_count *count, uintptr_t key,
                                     const struct record_as *as, void *caller)
{
    uintptr_t address = record_address(key, as->operation);
    uint32_t number = make_known(me, address, as, caller);
    if (count->address && (count->address & ~(uint64_t)STALE) != key) {
        me->evictions++;
        if (is_small(me) && grow(me))
            count = find_entry(me, key);
    }
    detach_holds(me, count);
    give_up(count);
    count->lock = number;
    count->site =
        number ? registry_locks[number].site : stack_site(stack_of_origin(me, caller));
    count->private =
        (uintptr_t)site_stats_find(me, count->site, as->operation, as->lock_kind);
    store_release((struct atomic_u64 *)(void *)&count->address, key);
    tag(me, count);
    return count;
}

struct trace_lock_count *lock_counts_find(struct recording *me, uintptr_t key,
                                          const struct record_as *as, void *caller)
{
    struct trace_lock_count *count = find_entry(me, key);
    uintptr_t address = record_address(key, as->operation);
    if (count->address != key || (count->lock && !registry_still(count->lock, address)))
        return fill(me, count, key, as, caller);
    return count;
}

/* The slot in the thread's current table, or in its previous one, still mapped. */
static uint64_t slot_of(const struct recording *thread, uintptr_t key)
{
    uint64_t mask =
        load_acquire((const struct atomic_u64 *)(const void *)&thread->counts_mask);
    return key * thread->counts_factor >> 32 & mask;
}

uint64_t lock_counts_seen(const struct recording *thread, uintptr_t key)
{
    const struct trace_lock_count *count =
        (void *)(thread->counts + slot_of(thread, key));
    return count->address == key ? count->acquisitions : 0;
}

static void make_stale(const struct recording *thread, uintptr_t key)
{
    const uint64_t slot = slot_of(thread, key);
    struct trace_lock_count *count = (void *)(thread->counts + slot);
    struct atomic_u64 *address = (void *)&count->address;
    struct atomic_u32 *tag = (void *)&thread->tags[slot / SLOT_BYTES].key;
    uint64_t expected = key;
    if (load_relaxed(address) != key)
        return;
    compare_exchange_relaxed(address, &expected, key | STALE);
    if (load_relaxed(tag) == (uint32_t)key)
        store_relaxed(tag, (uint32_t)key | STALE);
}

/* The counted path checks only the tag of a key's first slot. */
void lock_counts_renew(struct recording *me, uintptr_t key)
{
    uint32_t left = MOST_RENEWED;
    make_stale(me, key);
    for (struct recording *one = recordings_first(); one && left--; one = one->next)
        make_stale(one, key);
}
