/* SPDX-License-Identifier: MIT */
/* All workers execute the same atomic operation on one line. */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

enum operation { CAS, CAS_FAI, FAI, TAS, SWAP };

const char *const atomic_operations[] = {"cas", "cas-fai", "fai", "tas", "swap", NULL};

struct target {
    struct atomic_u64 number __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 flag;
};

bool atomics_prepare(struct run *run)
{
    run->shared = run_memory(run, sizeof(struct target));
    return run->shared != NULL;
}

static inline void operate(struct target *target, enum operation operation,
                           uint64_t *seen)
{
    switch (operation) {
    case CAS: /* one attempt, counted whether or not it succeeds */
        if (compare_exchange_acq_rel(&target->number, seen, *seen + 1))
            ++*seen;
        break;
    case CAS_FAI:
        *seen = load_relaxed(&target->number);
        while (!compare_exchange_acq_rel(&target->number, seen, *seen + 1))
            ;
        break;
    case FAI:
        fetch_add_acq_rel(&target->number, 1);
        break;
    case TAS: /* the flag is never cleared, so all but one attempt fail */
        *seen += test_and_set_acquire(&target->flag);
        break;
    case SWAP:
        *seen = exchange_acq_rel(&target->number, *seen);
        break;
    }
}

void atomics_work(struct run *run, struct worker *worker)
{
    struct target *target = run->shared;
    const struct section section = section_of(run);
    const enum operation operation = (enum operation)run->knobs[KNOB_OPERATION];
    uint64_t seen = 0;
    for (;;) {
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            return;
        operate(target, operation, &seen);
        run_count(run, worker, start, ticks());
        section_think(&section, worker);
    }
}

bool atomics_check(struct run *run)
{
    struct target *target = run->shared;
    enum operation operation = (enum operation)run->knobs[KNOB_OPERATION];
    uint64_t done = 0, counted = load_relaxed(&target->number);
    for (unsigned i = 0; i < run->threads; i++)
        done += run->workers[i].operations_ever;
    if ((operation != FAI && operation != CAS_FAI) || counted == done)
        return true;
    explain(run, "%llu additions, but the number is %llu", (unsigned long long)done,
            (unsigned long long)counted);
    return false;
}
