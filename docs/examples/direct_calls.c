/* SPDX-License-Identifier: MIT */
/* Prints how often a critical section ran on the kernel thread of another thread, which
 * only a direct system call shows (docs/transparent-delegation.md). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 100000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long elsewhere;

static long direct_call(long number)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
    return result;
}

static void *body(void *unused)
{
    const long own = gettid();
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        elsewhere += direct_call(SYS_gettid) != own;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, body, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld of %d sections ran elsewhere\n", elsewhere, THREADS * ROUNDS);
    return 0;
}
