/* SPDX-License-Identifier: MIT */
/* Threads that take jobs from a pool and put them back: short sections of one mutex, the
 * program of the examples of `hasp delegate`.
 *
 *     gcc -g -O2 -pthread pool.c -o pool
 *     ./pool [THREADS [SECONDS]]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    struct job *next;
    long runs;
};

struct pool {
    pthread_mutex_t mu;
    struct job *first;
    long taken, empty;
};

static struct pool pool;
static atomic_int stop;

/* Returns a job, or NULL if there is none. */
static struct job *take(struct pool *from)
{
    struct job *job;

    pthread_mutex_lock(&from->mu);
    job = from->first;
    if (!job) {
        from->empty++;
        pthread_mutex_unlock(&from->mu);
        return NULL;
    }
    from->first = job->next;
    from->taken++;
    pthread_mutex_unlock(&from->mu);
    return job;
}

static void put(struct pool *to, struct job *job)
{
    pthread_mutex_lock(&to->mu);
    job->next = to->first;
    to->first = job;
    pthread_mutex_unlock(&to->mu);
}

static void *work(void *argument)
{
    while (!stop) {
        struct job *job = take(&pool);
        if (job) {
            job->runs++;
            put(&pool, job);
        }
    }
    return argument;
}

int main(int count, char **words)
{
    const int threads = count > 1 ? atoi(words[1]) : 4;
    const int seconds = count > 2 ? atoi(words[2]) : 2;
    pthread_t thread[64];
    static struct job jobs[64];
    pthread_mutex_init(&pool.mu, NULL);
    for (int i = 0; i < 64; i++)
        put(&pool, &jobs[i]);
    for (int i = 0; i < threads && i < 64; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    sleep((unsigned)seconds);
    stop = 1;
    for (int i = 0; i < threads && i < 64; i++)
        pthread_join(thread[i], NULL);
    long runs = 0;
    for (int i = 0; i < 64; i++)
        runs += jobs[i].runs;
    if (runs != pool.taken) {
        printf("%ld jobs ran, but %ld were taken\n", runs, pool.taken);
        return 1;
    }
    printf("%.1f million jobs a second\n", (double)runs / seconds / 1e6);
    return 0;
}
