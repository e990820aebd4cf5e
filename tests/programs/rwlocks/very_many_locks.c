/* SPDX-License-Identifier: MIT */
/* Uses as many locks at once as its argument says. With CHECK_BYTES, checks that they
 * need at most so many bytes each outside the lock, with some for the process. */
#include "rw_check.h"

enum { FOR_THE_PROCESS = 1 << 20 };

int main(int count, char **words)
{
    CHECK_EQUAL(count, 2);
    int locks = atoi(words[1]);
    pthread_rwlock_t *all = calloc((size_t)locks, sizeof *all);
    CHECK(all != NULL);
    for (int i = 0; i < locks; i++)
        CHECK_OK(pthread_rwlock_init(&all[i], NULL));
    const char *bytes = getenv("CHECK_BYTES");
    long before = 1024 * check_resident_kb();
    for (int i = 0; i < locks; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&all[i]));
        CHECK_OK(pthread_rwlock_unlock(&all[i]));
        CHECK_OK(pthread_rwlock_rdlock(&all[i]));
        CHECK_OK(pthread_rwlock_unlock(&all[i]));
    }
    long more = 1024 * check_resident_kb() - before;
    printf("%ld bytes for each lock\n", more / locks);
    if (bytes != NULL)
        CHECK_COMPARE(more, <=, atol(bytes) * locks + FOR_THE_PROCESS);
    for (int i = 0; i < locks; i++)
        CHECK_OK(pthread_rwlock_destroy(&all[i]));
    free(all);
    return 0;
}
