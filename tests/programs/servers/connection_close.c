/* SPDX-License-Identifier: MIT */
/* A connection is locked and closed, and its lock is destroyed while it is still
 * held. */
#include <stdlib.h>

#include "server.h"

struct connection {
    pthread_mutex_t state_lock;
    uint64_t bytes;
    bool open;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t open_connections, closed;

static struct connection *open_connection(void)
{
    struct connection *connection = calloc(1, sizeof *connection);
    pthread_mutex_init(&connection->state_lock, NULL);
    connection->open = true;
    pthread_mutex_lock(&list_lock);
    open_connections++;
    pthread_mutex_unlock(&list_lock);
    return connection;
}

static void close_connection(struct connection *connection)
{
    pthread_mutex_lock(&connection->state_lock);
    connection->open = false;
    pthread_mutex_lock(&list_lock);
    open_connections--;
    closed++;
    pthread_mutex_unlock(&list_lock);
    if (server_fix("fix-misuse"))
        pthread_mutex_unlock(&connection->state_lock);
    pthread_mutex_destroy(&connection->state_lock);
    free(connection);
}

static unsigned handle(struct request *request)
{
    struct connection *connection = open_connection();
    for (unsigned i = 0; i < 5; i++) {
        sleep_us(100);
        pthread_mutex_lock(&connection->state_lock);
        connection->bytes += checksum(request, sizeof *request, i) % 1500;
        pthread_mutex_unlock(&connection->state_lock);
    }
    close_connection(connection);
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
