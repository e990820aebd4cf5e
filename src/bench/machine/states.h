/* SPDX-License-Identifier: MIT */
/*
 * The states of a line and the scripts that produce them: sequences of roles and
 * operations. Six operations on five states are the 30 cases of SSYNC (David, Guerraoui
 * and Trigonakis, "Everything you always wanted to know about synchronization but were
 * afraid to ask", SOSP 2013, section 5.2); the other states need fewer CPUs, or check
 * the effect of a script.
 */
#ifndef HASP_BENCH_MACHINE_STATES_H
#define HASP_BENCH_MACHINE_STATES_H

enum operation {
    LOAD,
    STORE,
    COMPARE_EXCHANGE,
    FETCH_ADD,
    TEST_AND_SET,
    EXCHANGE,
    OPERATIONS,
    EVICT = OPERATIONS, /* in scripts only */
};

/* Worker 0, worker 1, and all other workers in sequence. */
enum role { MEASURER, HOLDER, SHARERS };

enum { STEPS_MAX = 4 };

struct step {
    enum role role;
    enum operation operation;
};

struct state {
    const char *name;
    unsigned workers_least;
    unsigned step_count;
    struct step steps[STEPS_MAX]; /* produce the state */
    enum role timed;              /* executes the timed operation */
};

extern const struct state states[];
extern const unsigned state_count;
extern const char *const operation_names[OPERATIONS];

#endif
