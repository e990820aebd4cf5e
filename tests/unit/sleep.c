/* SPDX-License-Identifier: MIT */
/* Checks that waiters of a parking lock leave the CPUs to other threads, and that all
 * others do not. */
#include "crew.h"
#include "properties.h"

#include "locks/algorithms/gcr.h"

#include <string.h>

enum {
    SLEEPERS = 3,
    SETTLE_US = 30000,
    HOLD_US = 60000,
    PARKED_PERCENT = 10,   /* largest share of time awake for a parked waiter */
    SPINNING_PERCENT = 50, /* smallest share of time awake for a spinning waiter */
};

struct bed {
    struct lock lock;
    const struct lock_operations *operations;
};

static void wait_work(struct member *member)
{
    struct bed *bed = member->subject;
    bed->operations->lock(&bed->lock);
    bed->operations->unlock(&bed->lock);
}

static bool sleeps_as_claimed(const struct lock_descriptor *descriptor)
{
    static struct bed bed;
    bool as_claimed = true;
    struct member members[SLEEPERS];
    struct usage before[SLEEPERS], after[SLEEPERS];
    bed = (struct bed){.operations = &descriptor->operations};
    bed.operations->lock(&bed.lock);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        members[i] =
            (struct member){.work = wait_work, .subject = &bed, .node = ANY_NODE};
        crew_start(&members[i]);
    }
    usleep(SETTLE_US);
    uint64_t start = now_ns();
    for (int i = 0; i < SLEEPERS; i++)
        before[i] = usage_of(load_relaxed(&members[i].id));
    usleep(HOLD_US);
    for (int i = 0; i < SLEEPERS; i++)
        after[i] = usage_of(load_relaxed(&members[i].id));
    uint64_t elapsed = now_ns() - start;
    uint32_t spinning = 0; /* waiters that spin while the others sleep */
    bed.operations->unlock(&bed.lock);
    for (int i = 0; i < SLEEPERS; i++) {
        pthread_join(members[i].thread, NULL);
        /* A thread that waits for a CPU also counts as awake. */
        uint64_t awake =
            after[i].run_ns + after[i].ready_ns - before[i].run_ns - before[i].ready_ns;
        uint64_t percent = awake * 100 / elapsed;
        if (strcmp(descriptor->waiting, "restricted") == 0)
            spinning += percent > PARKED_PERCENT;
        else if (descriptor->parks)
            as_claimed &= percent <= PARKED_PERCENT;
        else
            as_claimed &= percent >= SPINNING_PERCENT;
    }
    descriptor->operations.destroy(&bed.lock);
    return as_claimed && spinning <= gcr_limit();
}

/* The kernel accounts for a thread that waits for a CPU only when it gets one, so on a
 * busy machine a single sample may be too early. A wrong claim fails every time. */
void check_sleep(const struct lock_descriptor *descriptor)
{
    bool as_claimed = false;
    for (int attempt = 0; attempt < 4 && !as_claimed; attempt++)
        as_claimed = sleeps_as_claimed(descriptor);
    CHECK(as_claimed);
}
