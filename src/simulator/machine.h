/* SPDX-License-Identifier: MIT */
/*
 * The machine to simulate, as a flattened machine file describes it.
 *
 * One `key value...` per line. Values are integers, in cycles unless stated otherwise.
 * Lines that start with # are comments. Every key appears exactly once, except
 * `between_places` (once per place), `latency` (once for each of the 30 pairs of an
 * operation and a state) and `wakeup` (any number of times). The Python command writes
 * this format from a TOML file.
 *
 *   name TEXT              of the machine, up to the end of the line
 *   clock_khz N            cycles per millisecond
 *   cpus N                 hardware threads; those of a core are numbered consecutively
 *   threads_per_core N     threads of a core share its caches
 *   places N               dies, tiles or chips: units that share a last-level cache or
 *                          are one stop of the interconnect
 *   place_of_cpu P...      for each CPU; the same for all threads of a core
 *   nodes N                NUMA nodes, as locks see them
 *   node_of_place M...     for each place
 *   cohorts N              what NUMA-aware locks group threads by: 0: places or nodes,
 *                          as cohort_rule.h says; 1: places; 2: nodes
 *   distance_names NAME... nearest first, one word each. If cores have several threads,
 *                          the first is the distance within a core.
 *   between_places P D...  distances (by number) from place P to each place. The entry
 *                          for P itself is the distance between two of its cores.
 *   protocol NAME
 *     moesi-broadcast      the home directory is on the path of each transfer, but does
 *                          not track sharers: a store to a shared line probes all
 *     moesi-directory      the same with a directory that tracks sharers
 *     moesi-grouped        the same between places; within a place, the last-level
 *                          cache knows who has a line, and the home is not asked
 *     mesif-inclusive      an inclusive last-level cache in each place; the nearest
 *                          holder responds
 *     home                 stores and atomics execute at the line's home (LLC bank or
 *                          tile); only loads are cached
 *   latency OPERATION STATE C...   for each distance. Operations: load store
 *                          compare_exchange fetch_add test_and_set exchange. States of
 *                          the line before: modified owned exclusive shared invalid
 *
 *   local.l1 local.l2 local.llc local.ram   a load that hits there
 *   local.atomic           an atomic on a line that the core owns
 *   local.store            issuing a store
 *   local.timer            reading the time-stamp counter
 *   local.pause            one iteration of a spin loop
 *   local.code             other instructions around each operation on a cell
 *   local.issue_millicycles   what a load that hits and a store add, with the code
 *                          around them, if the core executes out of order; else 0
 *   sharers.store_millicycles   added to an invalidation by each further sharer
 *
 *   model.occupancy_permille       share of a transfer's latency during which the line
 *                                  serves no other request
 *   model.home_occupancy_permille  the same at a home (protocol `home`)
 *   model.occupancy_least          minimum of both, in cycles
 *   model.grace_permille           share of a transfer's latency during which the old
 *                                  holder still hits
 *   model.store_buffer             entries of the store buffer
 *   model.misses_in_flight independent misses that a core can have in flight; 1: the
 *                          core executes in order
 *   model.migratory        number of distances, nearest first, at which a load takes a
 *                          modified line away from its owner, because a store is likely
 *                          to follow; at the other distances, the owner keeps a copy
 *   model.hashed_home      1: the homes of lines are hashed over all places; 0: a line
 *                          has its home in the place that first touched its page
 *   model.cold_after model.cold_start   cycles that are added after a pause of at least
 *                          cold_after: caches, TLB and branch history are cold
 *
 *   scheduler.slice scheduler.switch scheduler.migration
 *   scheduler.futex_call   a system call that sleeps, wakes or yields
 *   scheduler.waking       added to a call that interrupts another CPU to wake
 *   scheduler.futex_wake   from a waking system call until the woken thread runs, if it
 *                          does not stay on the caller's CPU
 *   scheduler.kernel_lock  the lock of a futex's bucket; see futex_bucket.h
 *   scheduler.fairness     who preempts whom, and who may move; see fairness.h
 *
 *   wakeup IDLE WAKE WAKING   instead of scheduler.futex_wake and scheduler.waking, if
 *                          the other CPU has been idle for IDLE or longer; in order,
 *                          the first one with 0
 *
 *   power.active_mw power.pausing_mw power.parked_mw   each core
 *   power.base_mw          the rest of the machine
 *   power.transfer_local_pj power.transfer_remote_pj   each transfer of a line
 *
 *   transactions.read_lines transactions.write_lines   capacity; 0: no transactions
 *   transactions.nesting transactions.begin transactions.commit transactions.abort
 *   transactions.interrupt interval between interrupts, which abort; 0: none
 */
#ifndef HASP_SIMULATOR_MACHINE_H
#define HASP_SIMULATOR_MACHINE_H

#include "simulator/wakeups.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CPUS_MAX = 2048, PLACES_MAX = 256, DISTANCES_MAX = 64 };

enum fairness { FAIRNESS_CREDIT, FAIRNESS_LAG };
enum kernel_lock { KERNEL_LOCK_NONE, KERNEL_LOCK_TICKET, KERNEL_LOCK_QUEUE };

enum machine_operation {
    MACHINE_LOAD,
    MACHINE_STORE,
    MACHINE_COMPARE_EXCHANGE,
    MACHINE_FETCH_ADD,
    MACHINE_TEST_AND_SET,
    MACHINE_EXCHANGE,
    MACHINE_OPERATIONS
};

enum machine_state {
    MACHINE_MODIFIED,
    MACHINE_OWNED,
    MACHINE_EXCLUSIVE,
    MACHINE_SHARED,
    MACHINE_INVALID,
    MACHINE_STATES
};

enum machine_protocol {
    MOESI_BROADCAST,
    MOESI_DIRECTORY,
    MOESI_GROUPED,
    MESIF_INCLUSIVE,
    HOME_EXECUTED,
    MACHINE_PROTOCOLS
};

struct machine {
    char name[64];
    uint64_t clock_khz, cpus, threads_per_core, places, nodes, cohorts, distances;
    enum machine_protocol protocol;
    char distance_name[DISTANCES_MAX][32];
    uint16_t place_of_cpu[CPUS_MAX];
    uint16_t node_of_place[PLACES_MAX];
    uint8_t between_places[PLACES_MAX][PLACES_MAX];
    uint32_t latency[MACHINE_OPERATIONS][MACHINE_STATES][DISTANCES_MAX];
    struct {
        uint64_t l1, l2, llc, ram, atomic, store, timer, pause, code, issue_millicycles;
    } local;
    struct {
        uint64_t store_millicycles;
    } sharers;
    struct {
        uint64_t occupancy_permille, home_occupancy_permille, occupancy_least;
        uint64_t grace_permille, store_buffer, misses_in_flight, hashed_home;
        uint64_t migratory;
        uint64_t cold_after, cold_start;
    } model;
    struct {
        uint64_t slice, switch_, migration, futex_call, waking, futex_wake;
        uint64_t kernel_lock; /* enum kernel_lock */
        uint64_t fairness;    /* enum fairness */
    } scheduler;
    struct wakeups wakeups;
    struct {
        uint64_t active_mw, pausing_mw, parked_mw, base_mw;
        uint64_t transfer_local_pj, transfer_remote_pj;
    } power;
    struct {
        uint64_t read_lines, write_lines, nesting, begin, commit, abort, interrupt;
    } transactions;
};

/* The machine of this process. */
extern struct machine machine;

/* Reads a flattened machine file. On failure, returns false with a message in `error`
 * that names the file, the line and the key, and the values that are allowed. */
bool machine_read(struct machine *machine, FILE *file, const char *file_name,
                  char *error, size_t error_size);

#endif
