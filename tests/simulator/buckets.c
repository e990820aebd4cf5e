/* SPDX-License-Identifier: MIT */
/* Prints in how many buckets of the kernel's table 256 futexes are, one in each line:
 * buckets MACHINE_FILE. */
#include "platform/workers.h"
#include "simulator/futex_bucket.h"

#include <stdio.h>
#include <stdlib.h>

enum { FUTEXES = 256 };

static int by_address(const void *one, const void *other)
{
    const char *a = *(const char *const *)one, *b = *(const char *const *)other;
    return (a > b) - (a < b);
}

int main(int count, char **arguments)
{
    const void *buckets[FUTEXES];
    if (!use_machine(count > 1 ? arguments[1] : NULL)) {
        fprintf(stderr, "%s\n", workers_error());
        return 2;
    }
    const char *pages = map_pages((size_t)FUTEXES * CACHE_LINE);
    for (int i = 0; i < FUTEXES; i++)
        buckets[i] = futex_bucket_of(pages + (size_t)i * CACHE_LINE);
    qsort(buckets, FUTEXES, sizeof *buckets, by_address);
    int different = 1;
    for (int i = 1; i < FUTEXES; i++)
        different += buckets[i] != buckets[i - 1];
    printf("%d\n", different);
    return 0;
}
