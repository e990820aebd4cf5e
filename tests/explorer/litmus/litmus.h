/* SPDX-License-Identifier: MIT */
/*
 * A litmus test: a few threads, their allowed outcomes, and the expected verdict. The
 * outcome is the final contents of `r`. Each word of `r` is written by one thread or by
 * the finishing function.
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

/* These functions record the outcome. Those named after x or y first store the final
 * values of y and x in r[2] and r[3], or that of one of them in r[3]. */
void finish_seen(void);
void finish_x(void);
void finish_y(void);
void finish_xy(void);

bool nothing(const uint32_t *values); /* all are 0 */

#endif
