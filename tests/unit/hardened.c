/* SPDX-License-Identifier: MIT */
/*
 * A hardened trylock reads, and writes only if it may succeed. Otherwise programs that
 * spin on it would repeatedly take the line away from the holder.
 *
 * The memory of a held lock (its own page, and the pools) is made read-only while
 * another thread calls trylock. A waiter that writes meanwhile is stopped until trylock
 * has returned.
 */
#include "crew.h"
#include "properties.h"

#include "locks/memory/side_memory.h"

#include <signal.h>
#include <sys/mman.h>

enum { PAGE = 65536, TRIES = 3, WAITERS = 2 };

struct sealed {
    struct lock *lock;
    const struct lock_operations *operations;
};

static struct atomic_u32 trier, wrote, open_again;

/* A write by the thread that calls trylock counts as a failure; the thread continues
 * once the memory is writable again. */
static void faulted(int signal_number, siginfo_t *information, void *context)
{
    (void)signal_number, (void)information, (void)context;
    if (current_thread() == load_relaxed(&trier))
        store_release(&wrote, 1);
    while (!load_acquire(&open_again))
        usleep(100);
}

static void protect(struct lock *lock, int protection)
{
    struct pool *const pools[] = {&waiter_pool, &side_pool};
    CHECK_EQUAL(mprotect(lock, PAGE, protection), 0);
    for (int pool = 0; pool < 2; pool++)
        for (int i = 0; i < POOL_CHUNKS && pools[pool]->chunks[i]; i++)
            CHECK_EQUAL(mprotect(pools[pool]->chunks[i],
                                 POOL_CHUNK * sizeof(struct pool_slot), protection),
                        0);
}

static void try_work(struct member *member)
{
    struct sealed *sealed = member->subject;
    store_release(&trier, current_thread());
    for (int i = 0; i < TRIES; i++)
        CHECK(!sealed->operations->trylock(sealed->lock));
}

static void wait_work(struct member *member)
{
    struct sealed *sealed = member->subject;
    sealed->operations->lock(sealed->lock);
    sealed->operations->unlock(sealed->lock);
}

/* Returns true if a failing trylock writes, with some waiters in the queue. */
static bool trylock_writes(struct sealed *sealed, int waiters)
{
    struct member members[WAITERS],
        tester = {.work = try_work, .subject = sealed, .node = ANY_NODE};
    store_relaxed(&wrote, 0);
    store_relaxed(&open_again, 0);
    sealed->operations->lock(sealed->lock);
    for (int i = 0; i < waiters; i++) {
        members[i] =
            (struct member){.work = wait_work, .subject = sealed, .node = ANY_NODE};
        crew_start(&members[i]);
        crew_await(&members[i]);
    }
    protect(sealed->lock, PROT_READ);
    crew_start(&tester);
    struct usage usage;
    do {
        usleep(SAMPLE_US);
        usage = usage_of(load_relaxed(&tester.id));
    } while (usage.state && !load_acquire(&wrote));
    protect(sealed->lock, PROT_READ | PROT_WRITE);
    store_release(&open_again, 1);
    pthread_join(tester.thread, NULL);
    sealed->operations->unlock(sealed->lock);
    for (int i = 0; i < waiters; i++)
        pthread_join(members[i].thread, NULL);
    return load_relaxed(&wrote);
}

void check_hardened(const struct lock_descriptor *descriptor)
{
    struct sigaction action = {.sa_sigaction = faulted,
                               .sa_flags = SA_SIGINFO | SA_NODEFER},
                     usual;
    sigaction(SIGSEGV, &action, &usual);
    struct sealed sealed = {NULL, &descriptor->operations};
    sealed.lock =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(sealed.lock != MAP_FAILED);
    bool alone = trylock_writes(&sealed, 0);
    bool queued = trylock_writes(&sealed, WAITERS);
    if (descriptor->trylock_hardened)
        CHECK(!alone && !queued);
    else
        CHECK(alone || queued); /* otherwise it should be declared hardened */
    descriptor->operations.destroy(sealed.lock);
    munmap(sealed.lock, PAGE);
    sigaction(SIGSEGV, &usual, NULL);
}
