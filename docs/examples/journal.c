/* SPDX-License-Identifier: MIT */
/* Four threads that handle requests and write a journal while they hold a mutex: the
 * program of the examples in the documentation.
 *
 *     gcc -g -O2 -pthread journal.c -o journal
 *     ./journal [SECONDS]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t journal_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t count_mu = PTHREAD_MUTEX_INITIALIZER;
static long handled;
static atomic_int stop;

static void write_entry(void)
{
    pthread_mutex_lock(&journal_mu);
    usleep(1000); /* a slow disk */
    pthread_mutex_unlock(&journal_mu);
}

static void *serve(void *argument)
{
    while (!stop) {
        usleep(1000); /* a request */
        write_entry();
        pthread_mutex_lock(&count_mu);
        handled++;
        pthread_mutex_unlock(&count_mu);
    }
    return argument;
}

int main(int count, char **words)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, serve, NULL);
    sleep(count > 1 ? (unsigned)atoi(words[1]) : 2);
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    return handled == 0;
}
