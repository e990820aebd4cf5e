/* SPDX-License-Identifier: MIT */
/* CHECK() for unit tests: prints the place and the condition; also works with
 * NDEBUG. */
#ifndef HASP_TESTS_UNIT_CHECK_H
#define HASP_TESTS_UNIT_CHECK_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__,           \
                    #condition);                                                       \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define CHECK_EQUAL(a, b)                                                              \
    do {                                                                               \
        long long left = (long long)(a), right = (long long)(b);                       \
        if (left != right) {                                                           \
            fprintf(stderr, "%s:%d: %s is %lld, %s is %lld\n", __FILE__, __LINE__, #a, \
                    left, #b, right);                                                  \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#endif
