/* SPDX-License-Identifier: MIT */
/*
 * One mutex protects a table of counters, of which each section changes one. Each
 * 20,000th section also writes a line to a log that a second mutex protects. For
 * docs/hasp-elide.md: cells [THREADS [SECTIONS]]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CELLS = 1 << 22, THREADS_MOST = 64, EVERY = 20000 };

static pthread_mutex_t table_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t count, sum;
} cells[CELLS];
static long sections = 3000000;
static FILE *log_file;

static uint64_t next(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    return *random ^= *random << 17;
}

static void change(uint64_t number)
{
    pthread_mutex_lock(&table_mu);
    cells[number % CELLS].count++;
    cells[number % CELLS].sum += number;
    pthread_mutex_unlock(&table_mu);
}

static void log_line(long round)
{
    char line[32];
    int length = snprintf(line, sizeof line, "round %ld\n", round);
    pthread_mutex_lock(&log_mu);
    if (write(fileno(log_file), line, (size_t)length) != length)
        abort();
    fsync(fileno(log_file));
    pthread_mutex_unlock(&log_mu);
}

static void *work(void *seed)
{
    uint64_t random = (uintptr_t)seed, number = 0;
    for (long i = 0; i < sections; i++) {
        for (int thinking = 0; thinking < 25; thinking++)
            number += next(&random);
        change(number);
        if (i % EVERY == 0)
            log_line(i);
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS_MOST];
    long wanted = count > 1 ? atol(words[1]) : 2;
    sections = count > 2 ? atol(words[2]) : sections;
    log_file = tmpfile();
    if (wanted < 1 || wanted > THREADS_MOST || !log_file)
        return 2;
    for (long i = 0; i < wanted; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
    for (long i = 0; i < wanted; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
