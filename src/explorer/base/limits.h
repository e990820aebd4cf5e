/* SPDX-License-Identifier: MIT */
/* Sizes of the explorer's tables. A run that exceeds one ends with the verdict "limit",
 * which makes the search incomplete. */
#ifndef HASP_EXPLORER_BASE_LIMITS_H
#define HASP_EXPLORER_BASE_LIMITS_H

enum {
    THREADS = 5, /* the last one runs the client's finish() after all others */
    FINISHER = THREADS - 1,
    LOCATIONS = 4096,
    CELLS = 512, /* contended cells */
    PLAINS = 768,
    MESSAGES = 24, /* of a cell that some thread may still read */
    VIEWS = 192,
    READS = 24,
    SLOTS = 51, /* in each pool, and the value of an unknown word: SIDE_IN_USE and
                 * SIDE_LEAVERS are set in it */
    POOLS = 5,
    CHOICES = 256, /* of one thread at one step */
};

#endif
