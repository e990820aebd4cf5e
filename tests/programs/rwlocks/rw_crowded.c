/* SPDX-License-Identifier: MIT */
/* More threads wait than there are CPUs: the others sleep instead of spinning. */
#include "rw_check.h"

#include <sched.h>

enum { MORE = 4, MOST_CPUS = 508 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t writers_first =
    PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static int cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > MOST_CPUS)
        check_skip("the number of CPUs is unknown, or too high");
    return CPU_COUNT(&set);
}

/* Returns whether the thread that published itself in `slot` sleeps. */
static int sleeps(const pid_t *slot)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", check_get(slot));
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(file);
    return state == 'S';
}

static int count_sleeping(const struct rw_attempt *attempts, int count)
{
    int sleeping = 0;
    for (int i = 0; i < count; i++)
        sleeping += check_get(&attempts[i].thread) != 0 && sleeps(&attempts[i].thread);
    return sleeping;
}

/* Starts threads that make the call while this one has the lock, and returns once at
 * most one for each CPU does not sleep. */
static void crowd(pthread_rwlock_t *on, enum rw_call hold, enum rw_call call)
{
    static struct rw_attempt attempts[MOST_CPUS + MORE];
    static pthread_t threads[MOST_CPUS + MORE];
    if (getenv("CHECK_SLEEPS") == NULL)
        check_skip("the waiters of this lock only spin");
    const int count = cpus() + MORE;
    CHECK_OK(rw_do(on, hold));
    for (int i = 0; i < count; i++) {
        attempts[i] = (struct rw_attempt){.lock = on, .call = call};
        threads[i] = check_start(rw_attempt_body, &attempts[i]);
    }
    CHECK_UNTIL(count_sleeping(attempts, count) >= MORE);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(check_get(&attempts[i].entered), 0);
    CHECK_OK(pthread_rwlock_unlock(on));
    for (int i = 0; i < count; i++) {
        check_join(threads[i]);
        CHECK_OK(attempts[i].result);
    }
    rw_check_free(on);
}

static void writers_behind_a_writer(void)
{
    crowd(&lock, RW_WRITE, RW_WRITE);
}

static void writers_behind_a_reader(void)
{
    crowd(&lock, RW_READ, RW_WRITE);
}

static void readers_behind_a_writer(void)
{
    crowd(&lock, RW_WRITE, RW_READ);
}

static void writers_that_are_preferred(void)
{
    crowd(&writers_first, RW_WRITE, RW_WRITE);
}

static void writers_with_a_deadline(void)
{
    crowd(&lock, RW_WRITE, RW_PATIENT_WRITE);
}

CHECK_MAIN(CASE(writers_behind_a_writer), CASE(writers_behind_a_reader),
           CASE(readers_behind_a_writer), CASE(writers_that_are_preferred),
           CASE(writers_with_a_deadline))
