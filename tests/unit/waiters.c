/* SPDX-License-Identifier: MIT */
/* Checks that the pool of waiters never hands out one waiter twice, and reuses returned
 * ones. */
#include "check.h"

#include "locks/waiting/waiter.h"

enum { THREADS = 4, ROUNDS = 20000, HELD = 5 };

static void *churn(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct waiter *mine[HELD];
        for (int i = 0; i < HELD; i++) {
            mine[i] = waiter_take();
            CHECK_EQUAL(load_relaxed(&mine[i]->cell), WAITER_WAITING);
            CHECK(waiter_at(mine[i]->link.id) == mine[i]);
            store_relaxed(&mine[i]->cell, current_thread());
        }
        for (int i = 0; i < HELD; i++) {
            CHECK_EQUAL(load_relaxed(&mine[i]->cell), current_thread());
            waiter_give(mine[i]);
        }
    }
    return unused;
}

static struct atomic_u32 handed;

static void *give_back(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t id;
        spin_until((id = load_acquire(&handed)) != 0);
        waiter_give(waiter_at(id));
        store_release(&handed, 0);
    }
    return unused;
}

/* A waiter that one thread takes and another gives back returns to the first thread. */
static void check_no_drift(void)
{
    uint32_t before = waiter_count();
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, give_back, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        store_release(&handed, waiter_take()->link.id);
        spin_until(load_acquire(&handed) == 0);
    }
    pthread_join(thread, NULL);
    CHECK(waiter_count() <= before + 1);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, churn, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(waiter_count() <= THREADS * HELD);

    /* Threads that run one after another reuse each other's waiters. */
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        CHECK_EQUAL(pthread_create(&thread, NULL, churn, NULL), 0);
        pthread_join(thread, NULL);
        if (i == 2)
            i = 297; /* a few are enough under emulation */
    }
    CHECK(waiter_count() <= THREADS * HELD + 6 * HELD);
    check_no_drift();
    return 0;
}
