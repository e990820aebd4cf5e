/* SPDX-License-Identifier: MIT */
/* Uses as many locks at once as its argument says, then others in a forked child. With
 * CHECK_BYTES, checks that they need at most so many bytes each outside the lock, with
 * some for the process. */
#include "rw_check.h"

#include <sys/wait.h>

enum { FOR_THE_PROCESS = 1 << 20 };

static pthread_rwlock_t *new_locks(int count)
{
    pthread_rwlock_t *all = calloc((size_t)count, sizeof *all);
    CHECK(all != NULL);
    for (int i = 0; i < count; i++)
        CHECK_OK(pthread_rwlock_init(&all[i], NULL));
    return all;
}

/* Returns by how many bytes the memory of the process grows. */
static long use(pthread_rwlock_t *all, int count)
{
    long before = 1024 * check_resident_kb();
    for (int i = 0; i < count; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&all[i]));
        CHECK_OK(pthread_rwlock_unlock(&all[i]));
        CHECK_OK(pthread_rwlock_rdlock(&all[i]));
        CHECK_OK(pthread_rwlock_unlock(&all[i]));
    }
    return 1024 * check_resident_kb() - before;
}

static void use_in_child(int count, long most)
{
    pthread_rwlock_t *all = new_locks(count);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < count; i++) /* its own copy of the pages */
            all[i].__data.__flags = 0;
        CHECK_COMPARE(use(all, count), <=, most);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
    free(all);
}

int main(int count, char **words)
{
    CHECK_EQUAL(count, 2);
    int locks = atoi(words[1]);
    pthread_rwlock_t *all = new_locks(locks);
    const char *bytes = getenv("CHECK_BYTES");
    long more = use(all, locks);
    printf("%ld bytes for each lock\n", more / locks);
    if (bytes != NULL) {
        long most = atol(bytes) * locks + FOR_THE_PROCESS;
        CHECK_COMPARE(more, <=, most);
        use_in_child(locks, most);
    }
    for (int i = 0; i < locks; i++)
        CHECK_OK(pthread_rwlock_destroy(&all[i]));
    free(all);
    return 0;
}
