/* SPDX-License-Identifier: MIT */
/* Records of the trace that the sampler thread writes. Include trace.h instead. */
#ifndef HASP_PROFILER_TRACE_SAMPLES_H
#define HASP_PROFILER_TRACE_SAMPLES_H

#include <stdint.h>

/* Data on the program's threads that the sampler could not read. */
enum trace_unread {
    TRACE_NO_STATES = 1, /* /proc/self/task/TID/stat */
    TRACE_NO_CALLS = 2,  /* /proc/self/task/TID/syscall */
};

/* A lock that threads waited for when the sampler ran; the records of one sample have
 * the same `ticks`. A sample without waiters leaves no record. When there are too many
 * records, old ones are thinned out: `weight` is the number of samples represented. */
struct trace_waiter_sample {
    uint64_t ticks;
    uint32_t lock;
    uint16_t waiters;
    uint16_t spinning;  /* of the `inspected` ones, in a running state */
    uint16_t inspected; /* waiters whose thread state was read */
    uint16_t weight;
    uint32_t holder; /* thread, or 0 */
    /* Holders that were inspected: on a CPU, and preempted or blocked. Since version 2;
     * records of some traces of that version end before these fields. */
    uint16_t holders_on_cpu, holders_off_cpu;
    uint32_t reserved;
};

struct trace_process_sample {
    uint64_t ticks;
    uint32_t threads;
    uint32_t waiting;  /* for locks */
    uint32_t runnable; /* running or ready, estimated; 0 if not known */
    uint32_t weight;
    uint64_t cpu_ns, system_ns;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary, involuntary;
    uint64_t locks_created, locks_destroyed;
    /* The idle time of all CPUs of the machine since its start, and their number; 0 if
     * not known. Records of some traces of version 2 end before these fields. */
    uint64_t idle_ns;
    uint32_t machine_cpus;
    uint32_t reserved;
};

/*
 * How often the sampler saw holders of a lock in a state: while other threads waited
 * for the lock (`waited`), and otherwise in holds of a sampler period or longer
 * (`alone`). A state is the kernel's state of the thread, its system call, and the
 * recorded object that it waits for.
 */
struct trace_hold_state {
    uint32_t lock;
    uint32_t state;  /* the letter of /proc, such as 'S'; 'R' for ready to run */
    uint32_t on_cpu; /* 1: running */
    int32_t call;    /* number of the system call, or enum trace_no_call */
    uint32_t awaits; /* lock, condition variable or barrier, or 0 */
    uint32_t stack;  /* where it blocked; found by scanning, so only approximate */
    uint64_t waited, alone;
};

enum trace_no_call {
    TRACE_CALL_UNKNOWN = -2, /* not read */
    TRACE_CALL_NONE = -1,    /* blocked outside system calls: a page fault */
};

/* The sampler's sums for a lock that threads waited for. */
struct trace_contention {
    uint32_t lock;
    uint32_t reserved;
    uint64_t samples; /* in which threads waited */
    /* Waiting threads, summed over the samples, by their operation and the holders'. */
    uint64_t reads_for_reads, reads_for_writes, writes_for_reads, writes_for_writes;
    uint64_t for_unknown; /* no holder was seen */
    /* Full mode only: acquisitions in sampler periods throughout which some thread
     * waited, and a lower bound on how many of them the previous holder made itself. */
    uint64_t overtaken, retaken;
};

/* Number of times that the sampler saw threads blocked in futexes that belong to no
 * recorded object. The sum over all threads is trace_header.tasks_inspected. */
struct trace_foreign_wait {
    uint32_t stack; /* found by scanning, so only approximate; or 0 */
    uint32_t reserved;
    uint64_t samples;
    uint64_t brief; /* the thread had run since it was last inspected */
};

/* Instruction pointers sampled while threads held a lock that others waited for. */
struct trace_executed {
    uint64_t address;
    uint32_t lock;
    uint32_t stack; /* as of trace_hold_state */
    uint64_t samples;
};

#endif
