/* SPDX-License-Identifier: MIT */
/*
 * A litmus test: a few threads, their allowed outcomes, and the expected verdict. The
 * outcome is the contents of `r` at the end; each word of it is written by one thread
 * or by the finishing function.
 */
#ifndef HASP_TESTS_EXPLORER_LITMUS_H
#define HASP_TESTS_EXPLORER_LITMUS_H

#include "explorer/clients/clients.h"
#include "explorer/execution/services.h"
#include "explorer/base/variables.h"

enum { REGISTERS = 4, VALUES = 4 };

struct litmus {
    const char *name; /* NULL ends a list */
    unsigned threads;
    void (*body)(unsigned);
    void (*finish)(void);              /* one of those below */
    bool (*allowed)(const uint32_t *); /* exactly these outcomes */
    const char *verdict;
};

extern const struct litmus asymmetric_tests[], ordering_tests[], cells_tests[],
    plain_data_tests[], sleeping_tests[];

extern struct atomic_u32 x, y, z;
extern uint32_t r[REGISTERS];

/* Note the outcome; first, as named, the last values of y and x as r[2] and r[3], or of
 * one of them as r[3]. */
void finish_seen(void);
void finish_x(void);
void finish_y(void);
void finish_xy(void);

bool nothing(const uint32_t *values); /* all are 0 */

#endif
