/* SPDX-License-Identifier: MIT */
/*
 * Tests that the holders of a contended lock `auto` ask the scheduler for time, and
 * that nobody else does.
 *
 *     unit-time-extension          in an area that no kernel reads
 *     unit-time-extension kernel   with the kernel; 77 if it grants no extensions
 */
#include "check.h"

#include "locks/algorithms/auto_asking.h"
#include "locks/list/descriptor.h"
#include "platform/platform.h"

#include <string.h>

enum {
    THREADS = 4,
    ROUNDS = 20000,
    CHOICES = 16, /* sections until a thread chooses cohorts again */
    SECONDS = 5,
    SKIPPED = 77,
};

static struct lock lock;
static const struct lock_operations *operations = &auto_asking_operations;
static bool real;
static struct atomic_u32 by_node, granted;
static uint64_t plain, contended, asked; /* written in the sections alone */

/* What struct rseq is to the kernel. */
static __thread unsigned char area[32] __attribute__((aligned(32)));

static bool asks(void)
{
    return *time_extension_byte(load_relaxed(&time_extension_area),
                                TIME_EXTENSION_REQUEST);
}

static bool is_granted(void)
{
    return *time_extension_byte(load_relaxed(&time_extension_area),
                                TIME_EXTENSION_GRANTED);
}

/* Acquires the lock by the operation of this number. */
static void acquire(uint32_t number)
{
    struct deadline at = deadline_after(60 * 1000000000ull);
    if (number % 3 == 0)
        operations->lock(&lock);
    else if (number % 3 == 1)
        CHECK(operations->timedlock(&lock, &at));
    else
        while (!operations->trylock(&lock))
            relax();
}

static void use(uint32_t number)
{
    acquire(number);
    bool should = auto_asking_wants(&lock);
    CHECK(real || asks() == should); /* the kernel may have granted it already */
    contended += should;
    asked += asks();
    if (auto_is_held_by_node(&lock))
        fetch_add_relaxed(&by_node, 1);
    else if (!real && should && number % CHOICES == 0)
        auto_choose(&lock, AUTO_COHORTS);
    plain++;
    for (uint32_t i = 0; i < number % 64; i++)
        relax();
    if (is_granted())
        fetch_add_relaxed(&granted, 1);
    operations->unlock(&lock);
    CHECK(!asks());
}

static void *work(void *argument)
{
    uint32_t rounds = 0;
    uint64_t end = now_ns() + SECONDS * 1000000000ull;
    while (real ? now_ns() < end : rounds < ROUNDS)
        use(rounds++);
    *(uint32_t *)argument = rounds;
    return NULL;
}

static void contend(void)
{
    pthread_t threads[THREADS];
    uint32_t rounds[THREADS];
    uint64_t sum = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &rounds[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += rounds[i];
    }
    CHECK_EQUAL(plain, sum);
}

/* No thread has waited for the lock. */
static void use_alone(void)
{
    for (uint32_t number = 0; number < 300; number++) {
        acquire(number);
        CHECK(!asks());
        operations->unlock(&lock);
    }
}

int main(int count, char **words)
{
    real = count > 1 && strcmp(words[1], "kernel") == 0;
    barrier_register();
    if (real && !time_extension_prepare()) {
        printf("this kernel grants no time-slice extensions to this program\n");
        return SKIPPED;
    }
    if (!real)
        store_relaxed(&time_extension_area, (uint64_t)(area - thread_pointer()));
    use_alone();
    contend();
    printf("%llu sections, %llu of a contended lock; %llu asked for time, %u got it\n",
           (unsigned long long)plain, (unsigned long long)contended,
           (unsigned long long)asked, load_relaxed(&granted));
    CHECK(asked > 0);
    CHECK(load_relaxed(real ? &granted : &by_node) > 0);
    operations->destroy(&lock);
    return 0;
}
