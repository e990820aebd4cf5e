/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_ELISION_H
#define HASP_PRELOAD_ELISION_H

#include <stdbool.h>

struct elision_environment {
    const char *back_end;   /* HASP_ELISION */
    const char *options;    /* HASP_ELISION_OPTIONS */
    const char *statistics; /* HASP_ELISION_STATISTICS: a file to append to */
    char *note;             /* HASP_ELISION_NOTE: "0" if the user has been informed */
};

/* Returns the index of an elided lock that this process uses, or 0. */
unsigned elision_in_use(unsigned chosen);

/* Returns whether the algorithm `chosen`, or one of the plan's, elides. */
bool elision_wanted(unsigned chosen);

/* Prepares lock elision if the algorithms, or those of the plan, elide. Returns whether
 * locks are going to be elided. If not, prints the reason, once for the process and the
 * children that inherit its environment. Ends the process with a message if a variable
 * is wrong. */
bool elision_prepare(unsigned chosen, unsigned rwlock, struct elision_environment with);

#endif
