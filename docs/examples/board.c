/* SPDX-License-Identifier: MIT */
/* Threads that enter results into the table of a league: long sections of one mutex that
 * write many cache lines, a program where delegation pays.
 *
 *     gcc -g -O2 -pthread board.c -o board
 *     ./board [THREADS [SECONDS]]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEAMS = 64, LINE = 128 };

struct team {
    _Alignas(LINE) struct team *next;
    long points, games;
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct team teams[TEAMS], *first;
static atomic_int stop;

/* Adds a result to a team, and counts the game for all; returns the sum of points. */
static long enter(unsigned int number, long points)
{
    long sum = 0;

    pthread_mutex_lock(&mu);
    teams[number].points += points;
    for (struct team *team = first; team; team = team->next) {
        team->games++;
        sum += team->points;
    }
    pthread_mutex_unlock(&mu);
    return sum;
}

/* The game: no lock. */
static unsigned int play(unsigned int seed)
{
    for (int i = 0; i < 200; i++)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

static void *work(void *argument)
{
    unsigned int seed = (unsigned int)(size_t)argument;
    size_t results = 0;

    for (; !stop; results++) {
        seed = play(seed);
        if (enter(seed >> 26, seed >> 30) < 0)
            abort();
    }
    return (void *)results;
}

/* The order of the table is not that of memory, as on a heap. */
static void fill(void)
{
    for (unsigned int i = 0, at = 0; i < TEAMS; i++, at = (at + 29) % TEAMS) {
        teams[at].next = first;
        first = &teams[at];
    }
}

int main(int count, char **words)
{
    long threads = count > 1 ? atol(words[1]) : 2;
    double seconds = count > 2 ? atof(words[2]) : 1;
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    size_t results = 0;

    fill();
    for (long i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, (void *)(i + 1));
    usleep((useconds_t)(seconds * 1e6));
    stop = 1;
    for (long i = 0; i < threads; i++) {
        void *more;
        pthread_join(ids[i], &more);
        results += (size_t)more;
    }
    if (teams[0].games != (long)results)
        abort();
    printf("%.0f results/s\n", (double)results / seconds);
    free(ids);
    return 0;
}
