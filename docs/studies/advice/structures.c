/* SPDX-License-Identifier: MIT */
/* Threads that share one data structure, in the ways of common servers:
 *
 *   structures KIND THREADS SECONDS
 *
 *   bank      transfers between 64 accounts with a lock each, two at a time
 *   logger    lines that are formatted outside the lock and copied into a buffer; the
 *             thread that fills it adds the buffer up under the lock
 *   lru       a cache of 4096 entries under one lock; each look-up moves its entry
 *   pool      half as many connections as threads; a thread waits until one is free
 *   stealing  a stack of tasks with a lock for each thread; who has none takes another's
 *
 * Prints the operations per second.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_THREADS = 256,
    ACCOUNTS = 64,
    BUFFER = 65536,
    ENTRIES = 4096,
    KEYS = 16384,
    TASKS = 512,
};

struct worker {
    pthread_t thread;
    void (*operate)(struct worker *);
    uint64_t random, operations, result;
    int number;
    char own_line[64];
};

static struct worker workers[MOST_THREADS];
static int thread_count, stopping;

static uint64_t drawn(struct worker *own, uint64_t limit)
{
    own->random ^= own->random << 13;
    own->random ^= own->random >> 7;
    own->random ^= own->random << 17;
    return own->random % limit;
}

/* Some time without a lock: about 1 ns for each turn. */
static void think(struct worker *own, int turns)
{
    uint64_t sum = own->result;
    for (int i = 0; i < turns; i++)
        sum = sum * 6364136223846793005u + 1;
    own->result = sum;
}

/* bank */
static struct account {
    pthread_mutex_t lock;
    long balance;
} accounts[ACCOUNTS];

static void transfer(struct worker *own)
{
    uint64_t from = drawn(own, ACCOUNTS), to = drawn(own, ACCOUNTS);
    if (from == to)
        to = (to + 1) % ACCOUNTS;
    struct account *first = &accounts[from < to ? from : to];
    struct account *second = &accounts[from < to ? to : from];
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    accounts[from].balance -= 10;
    accounts[to].balance += 10;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
    think(own, 500);
}

/* logger */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_buffer[BUFFER];
static size_t log_used;
static uint64_t log_sum;

static void log_line(struct worker *own)
{
    char line[128];
    int length = snprintf(line, sizeof line, "worker %d: request %llu took %.3f ms\n",
                          own->number, (unsigned long long)own->operations,
                          (double)drawn(own, 100000) / 1000);
    pthread_mutex_lock(&log_lock);
    if (log_used + (size_t)length > BUFFER) {
        for (size_t i = 0; i < log_used; i++)
            log_sum = log_sum * 31 + (unsigned char)log_buffer[i];
        log_used = 0;
    }
    memcpy(log_buffer + log_used, line, (size_t)length);
    log_used += (size_t)length;
    pthread_mutex_unlock(&log_lock);
    think(own, 1000);
}

/* lru: entries in a table of lists by key, and in a ring by last use */
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry {
    struct entry *newer, *older, *next;
    uint64_t key;
} entries[ENTRIES], ring = {&ring, &ring, NULL, 0}, *table[ENTRIES];

static void take_out(struct entry *one)
{
    one->newer->older = one->older;
    one->older->newer = one->newer;
}

static void make_newest(struct entry *one)
{
    one->newer = &ring;
    one->older = ring.older;
    ring.older->newer = one;
    ring.older = one;
}

static struct entry *reuse_oldest(uint64_t key)
{
    struct entry *oldest = ring.newer;
    struct entry **link = &table[oldest->key % ENTRIES];
    while (*link != NULL && *link != oldest)
        link = &(*link)->next;
    if (*link == oldest)
        *link = oldest->next;
    oldest->key = key;
    oldest->next = table[key % ENTRIES];
    table[key % ENTRIES] = oldest;
    return oldest;
}

static void look_up(struct worker *own)
{
    uint64_t key = drawn(own, 4) ? drawn(own, ENTRIES / 2) : drawn(own, KEYS);
    pthread_mutex_lock(&cache_lock);
    struct entry *found = table[key % ENTRIES];
    while (found != NULL && found->key != key)
        found = found->next;
    if (found == NULL)
        found = reuse_oldest(key);
    take_out(found);
    make_newest(found);
    pthread_mutex_unlock(&cache_lock);
    think(own, 800);
}

/* pool */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_freed = PTHREAD_COND_INITIALIZER;
static int pool_free;

static void use_connection(struct worker *own)
{
    pthread_mutex_lock(&pool_lock);
    while (pool_free == 0)
        pthread_cond_wait(&pool_freed, &pool_lock);
    pool_free--;
    pthread_mutex_unlock(&pool_lock);
    think(own, 3000);
    pthread_mutex_lock(&pool_lock);
    pool_free++;
    pthread_cond_signal(&pool_freed);
    pthread_mutex_unlock(&pool_lock);
    think(own, 1000);
}

/* stealing: every task creates two with a smaller size, until the size is 0 */
static struct stack {
    pthread_mutex_t lock;
    int used;
    int sizes[TASKS];
    char own_line[64];
} stacks[MOST_THREADS];

static int popped(struct stack *from)
{
    pthread_mutex_lock(&from->lock);
    int size = from->used > 0 ? from->sizes[--from->used] : -1;
    pthread_mutex_unlock(&from->lock);
    return size;
}

static void run_task(struct worker *own)
{
    struct stack *mine = &stacks[own->number];
    int size = popped(mine);
    if (size < 0)
        size = popped(&stacks[drawn(own, (uint64_t)thread_count)]);
    if (size < 0)
        size = own->number == 0 ? 8 : 0;
    think(own, 500);
    if (size == 0)
        return;
    pthread_mutex_lock(&mine->lock);
    for (int i = 0; i < 2 && mine->used < TASKS; i++)
        mine->sizes[mine->used++] = size - 1;
    pthread_mutex_unlock(&mine->lock);
}

static void *work(void *argument)
{
    struct worker *own = argument;
    for (; !__atomic_load_n(&stopping, __ATOMIC_RELAXED); own->operations++)
        own->operate(own);
    return NULL;
}

static void initialise(void)
{
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    for (int i = 0; i < MOST_THREADS; i++)
        pthread_mutex_init(&stacks[i].lock, NULL);
    for (uint64_t i = 0; i < ENTRIES; i++) {
        entries[i].key = i;
        entries[i].next = NULL;
        table[i] = &entries[i];
        make_newest(&entries[i]);
    }
    pool_free = thread_count > 1 ? thread_count / 2 : 1;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*operate)(struct worker *);
    } kinds[] = {{"bank", transfer},
                 {"logger", log_line},
                 {"lru", look_up},
                 {"pool", use_connection},
                 {"stealing", run_task}};
    void (*operate)(struct worker *) = NULL;
    for (size_t i = 0; count > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(arguments[1], kinds[i].name) == 0)
            operate = kinds[i].operate;
    thread_count = count > 2 ? atoi(arguments[2]) : 0;
    double seconds = count > 3 ? atof(arguments[3]) : 0;
    if (!operate || thread_count < 1 || thread_count > MOST_THREADS || seconds <= 0) {
        fprintf(stderr, "usage: structures KIND THREADS SECONDS\n");
        return 2;
    }
    initialise();
    for (int i = 0; i < thread_count; i++) {
        workers[i] = (struct worker){.operate = operate,
                                     .random = 88172645463325252u + (uint64_t)i * 977,
                                     .number = i};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    struct timespec length = {(time_t)seconds,
                              (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&length, NULL);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    uint64_t operations = 0;
    for (int i = 0; i < thread_count; i++) {
        pthread_join(workers[i].thread, NULL);
        operations += workers[i].operations;
    }
    printf("operations/s: %.0f\n", (double)operations / seconds);
    return 0;
}
