/* SPDX-License-Identifier: MIT */
/*
 * Checks that a forked child can use a cohort lock of ticket locks for which threads of
 * its parent were queueing while the number being served had been given up. A trylock
 * is then the first to find the parent's waiters, and both levels have to lose them.
 */
#include "crew.h"

#include "locks/algorithms/hticket.h"
#include "locks/list/descriptor.h"

#include <string.h>
#include <sys/wait.h>

enum { CHILD_SECONDS = 20 };

static struct lock lock;
static const struct lock_operations *operations;
static const struct ticket_kind *kind; /* of the numbers that timed waiters draw */

static void *lock_once(void *unused)
{
    operations->lock(&lock);
    operations->unlock(&lock);
    return unused;
}

/* The lock works for two threads, one of which waits. */
static void check_usable(void)
{
    pthread_t waiter;
    CHECK(operations->trylock(&lock));
    uint32_t drawn = load_relaxed(&tickets_of(&lock)->next);
    CHECK_EQUAL(pthread_create(&waiter, NULL, lock_once, NULL), 0);
    while (load_relaxed(&tickets_of(&lock)->next) == drawn)
        yield();
    operations->unlock(&lock);
    CHECK_EQUAL(pthread_join(waiter, NULL), 0);
    CHECK_EQUAL(load_relaxed(&lock.word), 0);
}

static void check_child(uint32_t number)
{
    alarm(CHILD_SECONDS); /* a lost handover ends the child */
    tickets_leave(&lock, number, kind);
    check_usable();
    check_usable();
}

static void check(const char *name, const struct ticket_kind *of_timed)
{
    kind = of_timed;
    operations = lock_operations_at((unsigned)lock_find(name));
    memset(&lock, 0, sizeof lock);
    struct tickets *tickets = tickets_of(&lock);
    CHECK(operations->trylock(&lock));
    CHECK(cohort_expect_leavers(&lock));
    uint32_t number = fetch_add_relaxed(&tickets->next, 1); /* of one who gives up */
    pthread_t waiter;
    CHECK_EQUAL(pthread_create(&waiter, NULL, lock_once, NULL), 0);
    while (load_relaxed(&tickets->next) != number + 2)
        yield();
    operations->unlock(&lock);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_child(number);
        _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    tickets_leave(&lock, number, kind);
    CHECK_EQUAL(pthread_join(waiter, NULL), 0);
    check_usable();
}

int main(void)
{
    if (!child_may_start_threads("numbers given up before fork()"))
        return 0;
    fork_watch();
    check("c-tkt-tkt", &ticket_kind);
    check("c-ptl-tkt", &partitioned_kind);
    check("hticket", &ticket_kind);
    return 0;
}
