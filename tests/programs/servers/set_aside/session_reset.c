/* SPDX-License-Identifier: MIT */
/* A session that sees a protocol error resets all its fields, as when it was made: the
 * mutex is initialised again while the thread that resets it holds it. Its unlock then
 * releases a mutex that nobody has. A monitor only tries to lock the sessions. */
#include <string.h>

#include "../server.h"

enum { SESSIONS = 32, ERRORS = 20 };

struct session {
    pthread_mutex_t session_mu;
    uint64_t received, resets;
    char state[40];
} __attribute__((aligned(128)));

static struct session sessions[SESSIONS];

static void begin(struct session *session)
{
    pthread_mutex_init(&session->session_mu, NULL);
    session->received = 0;
    strcpy(session->state, "hello");
}

static void reset(struct session *session)
{
    session->resets++;
    if (!server_fix("fix-misuse")) {
        begin(session);
        return;
    }
    session->received = 0;
    strcpy(session->state, "hello");
}

static void receive(struct session *session, bool broken)
{
    pthread_mutex_lock(&session->session_mu);
    session->received++;
    strcpy(session->state, "open");
    if (broken)
        reset(session);
    pthread_mutex_unlock(&session->session_mu);
}

static void *monitor(void *unused)
{
    uint64_t seen = 0;
    while (!server_stopping()) {
        sleep_us(5000);
        for (unsigned i = 0; i < SESSIONS; i++) {
            if (pthread_mutex_trylock(&sessions[i].session_mu) != 0)
                continue;
            seen += sessions[i].received;
            pthread_mutex_unlock(&sessions[i].session_mu);
        }
    }
    return seen ? NULL : unused;
}

static unsigned handle(struct request *request)
{
    unsigned char message[2000] = {0};
    request->random += checksum(message, sizeof message, request->number) | 1;
    sleep_us(300);
    receive(&sessions[request->worker % SESSIONS], request->number % ERRORS == 0);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < SESSIONS; i++)
        begin(&sessions[i]);
    server_background(monitor, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
