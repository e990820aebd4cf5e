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

/* Returns whether a forked child may start threads while its parent has several, or
 * says that it may not: QEMU's user mode ends such a child (7.2: its list of CPUs is
 * emptied, and the assertion of qemu_plugin_vcpu_init_hook fails). Meson names the
 * emulator in the environment. */
static inline int child_may_start_threads(const char *test)
{
    if (getenv("MESON_EXE_WRAPPER") == NULL)
        return 1;
    fprintf(stderr, "%s: not tested under an emulator\n", test);
    return 0;
}

#endif
