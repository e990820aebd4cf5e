/* SPDX-License-Identifier: MIT */
/* Uses as many locks at once as its argument says. */
#include "rw_check.h"

int main(int count, char **words)
{
    CHECK_EQUAL(count, 2);
    int locks = atoi(words[1]);
    pthread_rwlock_t *all = calloc((size_t)locks, sizeof *all);
    for (int i = 0; i < locks; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&all[i]));
        CHECK_OK(pthread_rwlock_unlock(&all[i]));
        CHECK_OK(pthread_rwlock_rdlock(&all[i]));
        CHECK_OK(pthread_rwlock_unlock(&all[i]));
    }
    for (int i = 0; i < locks; i++)
        CHECK_OK(pthread_rwlock_destroy(&all[i]));
    free(all);
    return 0;
}
