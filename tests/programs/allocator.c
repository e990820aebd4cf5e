/* SPDX-License-Identifier: MIT */
/* Threads that allocate, lock, wait and fork, to test malloc replacements that use
 * mutexes. */
#include "check.h"

enum { THREADS = 4, SLOTS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static void *slots[SLOTS];
static long swaps;
static int turn;
static int rounds;
static int stop;

/* Threads exchange blocks, so that they free memory that others allocated. */
static void *swap_body(void *argument)
{
    unsigned dice = (unsigned)(long)argument * 7919 + 1;
    for (int i = 0; argument ? i < rounds : !check_get(&stop); i++) {
        dice = dice * 1103515245 + 12345;
        size_t size = 8u << (dice >> 16 & 11);
        char *block = malloc(size);
        CHECK(block != NULL);
        block[0] = block[size - 1] = 1;
        CHECK_OK(pthread_mutex_lock(&mutex));
        void **slot = &slots[dice >> 20 & (SLOTS - 1)];
        char *old = *slot;
        *slot = block;
        swaps++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        if (i % 3)
            free(old);
        else
            free(realloc(old, size + 100));
    }
    return NULL;
}

static void swap_in_rounds(int number)
{
    pthread_t threads[THREADS];
    rounds = check_rounds(number);
    swaps = 0;
    for (long i = 0; i < THREADS; i++)
        threads[i] = check_start(swap_body, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQUAL(swaps, (long)THREADS * rounds);
}

static void swap_blocks(void)
{
    swap_in_rounds(10000);
}

static void *turn_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < 200; i++) {
        while (turn != 1)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
        turn = 0;
        free(malloc((size_t)i * 100));
        CHECK_OK(pthread_cond_signal(&cond));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void wait_and_allocate(void)
{
    pthread_t thread = check_start(turn_body, NULL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < 200; i++) {
        turn = 1;
        free(calloc(1, (size_t)i * 10));
        CHECK_OK(pthread_cond_broadcast(&cond));
        while (turn != 0)
            CHECK_OK(pthread_cond_wait(&cond, &mutex));
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
}

/* Forks while other threads are in the allocator; the child allocates in new
 * threads. */
static void fork_while_allocating(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = check_start(swap_body, NULL);
    for (int i = 0; i < 15; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        pid_t child = fork();
        CHECK_OK(pthread_mutex_unlock(&mutex));
        if (child == 0) {
            memset(slots, 0, sizeof slots);
            swap_in_rounds(1000);
            wait_and_allocate();
            _exit(0);
        }
        check_child(child);
    }
    check_set(&stop, 1);
    for (int i = 0; i < 2; i++)
        check_join(threads[i]);
}

static void *short_body(void *ignored)
{
    (void)ignored;
    free(malloc(1000));
    CHECK_OK(pthread_mutex_lock(&mutex));
    swaps++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return malloc(100);
}

/* Creates and destroys many per-thread caches of the allocator. */
static void many_threads(void)
{
    for (int i = 0; i < 300; i++)
        free(check_join(check_start(short_body, NULL)));
    CHECK_EQUAL(swaps, 300);
}

/* Tells the runner whether the allocator that it preloaded is in use. */
static void is_replaced(void)
{
    const char *wanted = getenv("CHECK_ALLOCATOR_SYMBOL");
    if (wanted == NULL)
        check_skip("no allocator was preloaded");
    CHECK(dlsym(RTLD_DEFAULT, wanted) != NULL);
}

CHECK_MAIN(CASE(is_replaced), CASE(swap_blocks), CASE(wait_and_allocate),
           CASE(fork_while_allocating), CASE(many_threads))
