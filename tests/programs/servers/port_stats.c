/* SPDX-License-Identifier: MIT */
/* Each thread of a switch serves one port and locks only the counters of that port.
 * The counters of the ports stand side by side, so the locks of neighbours share a
 * cache line. The remedy gives each port lines of its own. */
#include <stdlib.h>

#include "server.h"

enum { BURST = 256 };

struct port {
    pthread_mutex_t port_mu;
    uint64_t frames;
};

static unsigned char *memory;
static size_t stride = sizeof(struct port);
static pthread_mutex_t link_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t links_up;

static struct port *port_of(unsigned number)
{
    return (struct port *)(memory + number * stride);
}

static void count_frame(struct port *port, uint64_t frame)
{
    pthread_mutex_lock(&port->port_mu);
    port->frames += frame & 1;
    pthread_mutex_unlock(&port->port_mu);
}

static unsigned handle(struct request *request)
{
    struct port *port = port_of(request->worker);
    uint64_t frame = request->number;
    for (unsigned i = 0; i < BURST; i++)
        count_frame(port, frame += i);
    if (request->number % 64 == 0) {
        pthread_mutex_lock(&link_mu);
        links_up++;
        pthread_mutex_unlock(&link_mu);
    }
    return BURST;
}

static void setup(void)
{
    if (server_fix("pad"))
        stride = 128;
    memory = aligned_alloc(128, 256 * 128);
    for (unsigned i = 0; i < 256; i++) {
        port_of(i)->frames = 0;
        pthread_mutex_init(&port_of(i)->port_mu, NULL);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
