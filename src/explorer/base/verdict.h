/* SPDX-License-Identifier: MIT */
/* Failures of the run under way, and their consequences for the search. */
#ifndef HASP_EXPLORER_BASE_VERDICT_H
#define HASP_EXPLORER_BASE_VERDICT_H

#include <stdbool.h>

struct verdict {
    bool failed;  /* there is a finding: `name` and `detail` describe it */
    bool pruned;  /* the current run must not be continued */
    bool limited; /* a table was too small somewhere in this search */
    bool learnt;  /* something new about memory: the search must begin again, and
                     nothing found meanwhile counts */
    char name[32];
    char detail[512]; /* of the finding, or which table was too small */
};

extern struct verdict verdict;

/* Ends the run with this verdict. On a client's stack it does not return. */
void fail(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
