/* SPDX-License-Identifier: MIT */
/* A board of statistics is asked at a fixed rate that leaves the machine idle for
 * most of the time. Its mutex is used by all threads, with short waits now and then.
 * There is nothing to gain from it. */
#include "server.h"

enum { PLAYERS = 256, PERIOD_US = 1500 };

static pthread_mutex_t board_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t score[PLAYERS];

static void play(uint64_t player, uint64_t points)
{
    pthread_mutex_lock(&board_mu);
    score[player] += points;
    pthread_mutex_unlock(&board_mu);
}

static uint64_t rank_of(uint64_t player)
{
    uint64_t rank = 1;
    pthread_mutex_lock(&board_mu);
    for (unsigned i = 0; i < PLAYERS; i++)
        rank += score[i] > score[player];
    pthread_mutex_unlock(&board_mu);
    return rank;
}

static unsigned handle(struct request *request)
{
    char match[8000] = {'m'};
    uint64_t player = random_below(request, PLAYERS);
    play(player, checksum(match, sizeof match, request->number) % 25);
    request->random += rank_of(player);
    sleep_us(PERIOD_US);
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
