/* SPDX-License-Identifier: MIT */
/*
 * The states of a line and how each is brought about: a script of roles and what they
 * do to the line, in turn. Six operations on five states are the 30 cases of SSYNC
 * (David, Guerraoui and Trigonakis, "Everything you always wanted to know about
 * synchronization but were afraid to ask", SOSP 2013, section 5.2); the other states
 * need fewer CPUs, or show what a script has brought about.
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

/* Workers 0 and 1, and all others one after the other. */
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
    struct step steps[STEPS_MAX]; /* they bring it about */
    enum role timed;              /* who does the operation that is timed */
};

extern const struct state states[];
extern const unsigned state_count;
extern const char *const operation_names[OPERATIONS];

#endif
