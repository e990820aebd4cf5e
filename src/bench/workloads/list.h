/* SPDX-License-Identifier: MIT */
/* The functions of each kind of workload, for list.c. */
#ifndef HASP_BENCH_WORKLOADS_LIST_H
#define HASP_BENCH_WORKLOADS_LIST_H

#include "bench/workloads/workloads.h"

#define DECLARE_WORKLOAD(kind)                                                         \
    bool kind##_prepare(struct run *run);                                              \
    void kind##_work(struct run *run, struct worker *worker);                          \
    bool kind##_check(struct run *run);

DECLARE_WORKLOAD(allocator)
DECLARE_WORKLOAD(atomics)
DECLARE_WORKLOAD(bank)
DECLARE_WORKLOAD(delegation)
DECLARE_WORKLOAD(fork_join)
DECLARE_WORKLOAD(grid)
DECLARE_WORKLOAD(hash_table)
DECLARE_WORKLOAD(lifetimes)
DECLARE_WORKLOAD(messages)
DECLARE_WORKLOAD(page_cache)
DECLARE_WORKLOAD(readers)
DECLARE_WORKLOAD(pipeline)
DECLARE_WORKLOAD(replay)
DECLARE_WORKLOAD(sections)
DECLARE_WORKLOAD(task_queue)
DECLARE_WORKLOAD(uncontended)
#undef DECLARE_WORKLOAD
void bank_enter(struct run *run, struct worker *worker);
void delegation_enter(struct run *run, struct worker *worker);
void hash_table_enter(struct run *run, struct worker *worker);
void delegation_report(const struct run *run);
void replay_report(const struct run *run);

extern const char *const atomic_operations[]; /* values of the knob `operation` */
extern const char *const bank_atomic_by[];    /* values of the knob `atomic_by` */
extern const char *const delegate_names[];    /* values of the knob `executor` */
extern const char *const message_patterns[];  /* values of the knob `pattern` */

#endif
