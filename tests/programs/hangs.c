/* SPDX-License-Identifier: MIT */
/*
 * A program that hangs in the way named by its argument, or does not:
 *
 *   opposite   two threads lock two mutexes in opposite order, while a third one works
 *
 *   itself     a thread locks a mutex that it holds
 *
 *   forgotten  a thread ends while it holds a mutex that another thread waits for
 *
 *   lost       a thread waits for a signal that is never sent
 *
 *   works      two threads contend for a mutex until the process is killed
 *
 *   sleeps     holds a mutex for two seconds, or the number given by the next argument,
 *              while another thread waits for it; then ends
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t debit = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t credit = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t third = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static unsigned pause_s = 2;

static void *transfer(void *unused)
{
    pthread_mutex_lock(&debit);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&credit);
    return unused;
}

static void *refund(void *unused)
{
    pthread_mutex_lock(&credit);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&debit);
    return unused;
}

static void *twice(void *unused)
{
    pthread_mutex_lock(&debit);
    pthread_mutex_lock(&debit);
    return unused;
}

static void *once(void *unused)
{
    pthread_mutex_lock(&debit);
    return unused;
}

static void *listen(void *unused)
{
    pthread_mutex_lock(&debit);
    for (;;)
        pthread_cond_wait(&never, &debit);
    return unused;
}

static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&third);
        usleep(2000);
        pthread_mutex_unlock(&third);
    }
    return unused;
}

static void *sleeping(void *unused)
{
    pthread_mutex_lock(&debit);
    sleep(pause_s);
    pthread_mutex_unlock(&debit);
    return unused;
}

static pthread_t start(void *(*what)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, what, NULL);
    return thread;
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "works";
    if (count > 2)
        pause_s = (unsigned)atoi(words[2]);
    pthread_barrier_init(&both, NULL, 2);
    pthread_t last;
    if (!strcmp(how, "opposite")) {
        start(transfer);
        start(work);
        last = start(refund);
    } else if (!strcmp(how, "itself")) {
        last = start(twice);
    } else if (!strcmp(how, "forgotten")) {
        pthread_join(start(once), NULL);
        last = start(once);
    } else if (!strcmp(how, "lost")) {
        last = start(listen);
    } else if (!strcmp(how, "sleeps")) {
        start(sleeping);
        usleep(50000);
        last = start(once);
    } else {
        start(work);
        last = start(work);
    }
    puts("started");
    fflush(stdout);
    pthread_join(last, NULL);
    return 0;
}
