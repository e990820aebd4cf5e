/* SPDX-License-Identifier: MIT */
/* Each thread waits for its own peer on a socket without holding a lock. A janitor
 * holds janitor_mu for milliseconds at a time, but no other thread ever wants it. */
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

enum { PEERS = 256 };

static int peers[PEERS][2];
static pthread_mutex_t rooms_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t janitor_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t rooms[64], swept;

static void *write_messages(void *unused)
{
    char message[64] = "hello";
    while (!server_stopping()) {
        for (unsigned i = 0; i < server_threads(); i++)
            (void)!send(peers[i][1], message, sizeof message, MSG_NOSIGNAL);
        sleep_us(800);
    }
    return unused;
}

static void *sweep(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&janitor_mu);
        sleep_us(5000);
        swept++;
        pthread_mutex_unlock(&janitor_mu);
        sleep_us(1000);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char message[64];
    if (recv(peers[request->worker][0], message, sizeof message, 0) <= 0)
        return 0;
    uint64_t room = checksum(message, sizeof message, request->number) % 64;
    pthread_mutex_lock(&rooms_mu);
    rooms[room]++;
    pthread_mutex_unlock(&rooms_mu);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < server_threads(); i++)
        (void)!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, peers[i]);
    server_background(write_messages, NULL);
    server_background(sweep, NULL);
}

static void stop(void)
{
    for (unsigned i = 0; i < server_threads(); i++)
        shutdown(peers[i][0], SHUT_RDWR);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
