/* SPDX-License-Identifier: MIT */
/* Each connection is served by a single thread, but every byte is read under the
 * connection's lock. */
#include <stdlib.h>

#include "server.h"

enum { BUFFER = 4096, CONNECTIONS = 256 };

struct connection {
    pthread_mutex_t lock;
    unsigned next;
    char buffer[BUFFER];
} __attribute__((aligned(128)));

static struct connection *connections;
static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t words_seen;

static int next_byte(struct connection *connection)
{
    if (server_fix("drop-lock"))
        return connection->buffer[connection->next++ % BUFFER];
    pthread_mutex_lock(&connection->lock);
    int byte = connection->buffer[connection->next++ % BUFFER];
    pthread_mutex_unlock(&connection->lock);
    return byte;
}

static unsigned handle(struct request *request)
{
    struct connection *connection = &connections[request->worker];
    unsigned words = 0;
    for (unsigned i = 0; i < BUFFER; i++)
        words += next_byte(connection) == ' ';
    pthread_mutex_lock(&totals_lock);
    words_seen += words;
    pthread_mutex_unlock(&totals_lock);
    return 1;
}

static void setup(void)
{
    connections = aligned_alloc(128, CONNECTIONS * sizeof *connections);
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        pthread_mutex_init(&connections[i].lock, NULL);
        connections[i].next = 0;
        for (unsigned n = 0; n < BUFFER; n++)
            connections[i].buffer[n] = n % 7 == 0 ? ' ' : 'a';
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
