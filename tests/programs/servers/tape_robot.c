/* SPDX-License-Identifier: MIT */
/* A backup server. One thread moves the arm of a tape robot, and sleeps with the
 * arm's lock for as long as that takes, but no other thread wants the arm. The others
 * compress data, each its own, and seldom look at the catalogue. */
#include <string.h>

#include "server.h"

enum { CHUNK = 40000, TAPES = 40 };

static pthread_mutex_t arm_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t catalogue_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t arm_position, catalogue[TAPES];

static void move_arm(uint64_t tape)
{
    pthread_mutex_lock(&arm_mu);
    sleep_us(4000);
    arm_position = tape;
    pthread_mutex_unlock(&arm_mu);
}

static void *change_tapes(void *unused)
{
    for (uint64_t tape = 0; !server_stopping(); tape = (tape + 7) % TAPES) {
        move_arm(tape);
        pthread_mutex_lock(&catalogue_mu);
        catalogue[tape]++;
        pthread_mutex_unlock(&catalogue_mu);
        sleep_us(500);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    unsigned char chunk[CHUNK];
    memset(chunk, (int)request->number, sizeof chunk);
    uint64_t sum = checksum(chunk, sizeof chunk, request->random);
    if (request->number % 8 == 0) {
        pthread_mutex_lock(&catalogue_mu);
        catalogue[sum % TAPES]++;
        pthread_mutex_unlock(&catalogue_mu);
    }
    return 1;
}

static void setup(void)
{
    server_background(change_tapes, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
