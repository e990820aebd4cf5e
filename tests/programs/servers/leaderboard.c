/* SPDX-License-Identifier: MIT */
/* A game's leaderboard. Most requests read the top ten. One in eight reports a score,
 * and sorts the board again from the start under the write lock. */
#include <string.h>

#include "server.h"

enum { PLAYERS = 300, TOP = 10, SCORE_ONE_IN = 8 };

static pthread_rwlock_t board_rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t chat_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t board[PLAYERS], chats;

static void insertion_sort(uint64_t *values, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        uint64_t value = values[i];
        unsigned at = i;
        for (; at > 0 && values[at - 1] < value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Sorts a board that arrives in the order of players, not of scores. */
static void report_score(uint64_t score)
{
    pthread_rwlock_wrlock(&board_rw);
    if (server_fix("shorten-writes")) {
        unsigned at = PLAYERS - 1;
        for (; at > 0 && board[at - 1] < score; at--)
            board[at] = board[at - 1];
        board[at] = score;
    } else {
        uint64_t players[PLAYERS];
        for (unsigned i = 0; i < PLAYERS; i++)
            players[i] = board[i * 7 % PLAYERS];
        players[PLAYERS - 1] = score;
        insertion_sort(players, PLAYERS);
        memcpy(board, players, sizeof board);
    }
    pthread_rwlock_unlock(&board_rw);
}

static uint64_t read_top(void)
{
    pthread_rwlock_rdlock(&board_rw);
    uint64_t sum = checksum(board, TOP * sizeof board[0], 0);
    pthread_rwlock_unlock(&board_rw);
    return sum;
}

static unsigned handle(struct request *request)
{
    char page[1200] = "top ten";
    if (random_below(request, SCORE_ONE_IN) == 0)
        report_score(random_below(request, 1u << 20));
    else
        page[0] = (char)read_top();
    uint64_t sum = checksum(page, sizeof page, 0);
    if (sum % 64 == 0) {
        pthread_mutex_lock(&chat_mu);
        chats++;
        pthread_mutex_unlock(&chat_mu);
    }
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
