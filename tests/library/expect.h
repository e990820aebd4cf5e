/* SPDX-License-Identifier: MIT */
/* A check of what a function of the library returns. */
#ifndef HASP_TESTS_LIBRARY_EXPECT_H
#define HASP_TESTS_LIBRARY_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(expression, wanted)                                                     \
    do {                                                                               \
        long is = (long)(expression);                                                  \
        if (is != (long)(wanted)) {                                                    \
            fprintf(stderr, "%s:%d: %s is %ld\n", __FILE__, __LINE__, #expression,     \
                    is);                                                               \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#endif
