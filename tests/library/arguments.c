/* SPDX-License-Identifier: MIT */
/* What the library answers to arguments and calls that make no sense. */
#include <hasp/barrier.h>

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

/* A second destroy does not give the barrier's memory to two others. */
static void barriers(void)
{
    struct hasp_barrier barrier, other;
    EXPECT(hasp_barrier_init(&barrier, "central", 1), 0);
    EXPECT(hasp_barrier_destroy(&barrier), 0);
    EXPECT(hasp_barrier_destroy(&barrier), 0);
    EXPECT(hasp_barrier_init(&barrier, "dissemination", 1), 0);
    EXPECT(hasp_barrier_init(&other, "dissemination", 1), 0);
    EXPECT(hasp_barrier_wait(&barrier), true);
    EXPECT(hasp_barrier_wait(&other), true);
    EXPECT(hasp_barrier_destroy(&barrier), 0);
    EXPECT(hasp_barrier_destroy(&other), 0);
}

int main(void)
{
    barriers();
    puts("all answered");
    return 0;
}
