/* SPDX-License-Identifier: MIT */
/* A chess engine searches, each thread in a board of its own. The threads share a
 * table of positions with a lock for each of 64 parts, and look into it seldom. */
#include "server.h"

enum { PARTS = 64, ENTRIES = 256, DEPTH = 5, MOVES = 5 };

struct part {
    pthread_mutex_t part_mu;
    uint64_t entries[ENTRIES];
} __attribute__((aligned(128)));

static struct part parts[PARTS];
static pthread_mutex_t best_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t best;

static uint64_t search(uint64_t position, unsigned depth)
{
    char board[64] = {(char)position};
    uint64_t value = checksum(board, sizeof board, position);
    for (unsigned move = 0; depth > 0 && move < MOVES; move++) {
        uint64_t score = search(value + move, depth - 1);
        value = score > value ? score : value;
    }
    return value;
}

static void store(uint64_t position, uint64_t value)
{
    struct part *part = &parts[position % PARTS];
    pthread_mutex_lock(&part->part_mu);
    part->entries[position / PARTS % ENTRIES] = value;
    pthread_mutex_unlock(&part->part_mu);
}

static void *print_best(void *unused)
{
    while (!server_stopping()) {
        sleep_us(50000);
        pthread_mutex_lock(&best_mu);
        best /= 2;
        pthread_mutex_unlock(&best_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint64_t position = random_below(request, 1u << 30);
    uint64_t value = search(position, DEPTH);
    store(position, value);
    pthread_mutex_lock(&best_mu);
    best = value > best ? value : best;
    pthread_mutex_unlock(&best_mu);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < PARTS; i++)
        pthread_mutex_init(&parts[i].part_mu, NULL);
    server_background(print_best, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
