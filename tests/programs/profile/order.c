/* SPDX-License-Identifier: MIT */
/* Locks acquired while others are held, in known pairs. */
#include "named.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *a_then_b(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&a));
    CHECK_OK(pthread_mutex_lock(&b));
    CHECK_OK(pthread_mutex_unlock(&b));
    CHECK_OK(pthread_mutex_unlock(&a));
    return unused;
}

static void *b_then_a(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&b));
    CHECK_OK(pthread_mutex_lock(&a));
    CHECK_OK(pthread_mutex_unlock(&a));
    CHECK_OK(pthread_mutex_unlock(&b));
    return unused;
}

/* One thread locks a before b 200 times; then another locks b before a. They run one
 * after the other, so that they cannot deadlock. */
static void inversion(void)
{
    begin_recording();
    TELL(a);
    TELL(b);
    for (int i = 0; i < 200; i++)
        a_then_b(NULL);
    check_join(check_start(b_then_a, NULL));
}

/* Acquires b and c by trylock while a is held, and then b by lock as well. */
static void by_try(void)
{
    begin_recording();
    TELL(a);
    TELL(b);
    TELL(c);
    CHECK_OK(pthread_mutex_lock(&a));
    CHECK_OK(pthread_mutex_trylock(&b));
    CHECK_OK(pthread_mutex_unlock(&b));
    CHECK_OK(pthread_mutex_trylock(&c));
    CHECK_OK(pthread_mutex_unlock(&c));
    CHECK_OK(pthread_mutex_unlock(&a));
    check_join(check_start(a_then_b, NULL));
}

/* Hand-over-hand locking: a is held when b is acquired, and b when c is acquired, but
 * not a when c is acquired. The shelf is acquired within c, and a second time by the
 * same reader, which makes no pair. */
static void chains(void)
{
    begin_recording();
    TELL(a);
    TELL(b);
    TELL(c);
    TELL(shelf);
    CHECK_OK(pthread_mutex_lock(&a));
    CHECK_OK(pthread_mutex_lock(&b));
    CHECK_OK(pthread_mutex_unlock(&a));
    CHECK_OK(pthread_mutex_lock(&c));
    CHECK_OK(pthread_mutex_unlock(&b));
    CHECK_OK(pthread_rwlock_rdlock(&shelf));
    CHECK_OK(pthread_rwlock_rdlock(&shelf));
    CHECK_OK(pthread_rwlock_unlock(&shelf));
    CHECK_OK(pthread_rwlock_unlock(&shelf));
    CHECK_OK(pthread_mutex_unlock(&c));
}

/* Locks a, then b, then waits, which releases a and reacquires it while b is held. */
static void waits(void)
{
    begin_recording();
    TELL(a);
    TELL(b);
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 2);
    CHECK_OK(pthread_mutex_lock(&a));
    CHECK_OK(pthread_mutex_lock(&b));
    CHECK_RETURNS(pthread_cond_timedwait(&condition, &a, &soon), ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&b));
    CHECK_OK(pthread_mutex_unlock(&a));
}

static pthread_rwlock_t other_shelf = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void read_both(pthread_rwlock_t *first, pthread_rwlock_t *second)
{
    CHECK_OK(pthread_rwlock_rdlock(first));
    CHECK_OK(pthread_rwlock_rdlock(second));
    CHECK_OK(pthread_rwlock_unlock(second));
    CHECK_OK(pthread_rwlock_unlock(first));
}

/* Acquires both shelves in both orders, mostly as a reader; locks a only outside a
 * shelf, and b only inside. */
static void readers(void)
{
    begin_recording();
    TELL(a);
    TELL(b);
    TELL(shelf);
    TELL(other_shelf);
    for (int i = 0; i < 3; i++) {
        read_both(&shelf, &other_shelf);
        read_both(&other_shelf, &shelf);
    }
    for (int i = 0; i < 20000; i++) { /* often enough that most are only counted */
        CHECK_OK(pthread_rwlock_rdlock(&shelf));
        CHECK_OK(pthread_mutex_lock(&b));
        CHECK_OK(pthread_mutex_unlock(&b));
        CHECK_OK(pthread_rwlock_unlock(&shelf));
    }
    CHECK_OK(pthread_rwlock_wrlock(&other_shelf));
    CHECK_OK(pthread_rwlock_rdlock(&shelf));
    CHECK_OK(pthread_rwlock_unlock(&shelf));
    CHECK_OK(pthread_rwlock_unlock(&other_shelf));
    CHECK_OK(pthread_mutex_lock(&a));
    CHECK_OK(pthread_rwlock_rdlock(&shelf));
    CHECK_OK(pthread_rwlock_unlock(&shelf));
    CHECK_OK(pthread_mutex_unlock(&a));
    CHECK_OK(pthread_rwlock_wrlock(&shelf));
    CHECK_OK(pthread_mutex_lock(&b));
    CHECK_OK(pthread_mutex_unlock(&b));
    CHECK_OK(pthread_rwlock_unlock(&shelf));
}

enum { MANY = 64, TURNS = 4 };
static pthread_mutex_t outer[MANY], inner[MANY];

/* One place acquires thousands of pairs; then another place inverts one of them. */
static void many_pairs(void)
{
    begin_recording();
    tell("outer", &outer[5]);
    tell("inner", &inner[7]);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < MANY; i++)
            for (int k = 0; k < MANY; k++) {
                CHECK_OK(pthread_mutex_lock(&outer[i]));
                CHECK_OK(pthread_mutex_lock(&inner[k]));
                CHECK_OK(pthread_mutex_unlock(&inner[k]));
                CHECK_OK(pthread_mutex_unlock(&outer[i]));
            }
    CHECK_OK(pthread_mutex_lock(&inner[7]));
    CHECK_OK(pthread_mutex_lock(&outer[5]));
    CHECK_OK(pthread_mutex_unlock(&outer[5]));
    CHECK_OK(pthread_mutex_unlock(&inner[7]));
}

CHECK_MAIN(CASE(inversion), CASE(by_try), CASE(chains), CASE(waits), CASE(readers),
           CASE(many_pairs))
