/* SPDX-License-Identifier: MIT */
/* A server answers client processes. Two of them close their channels, and one dies. */
#include <hasp/channel.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS = 3, LINES = 8, REQUESTS = 1000, ROOM = 1024 };

/* Memory that all processes share. */
struct shared {
    struct hasp_bell bell;
    struct {
        _Alignas(HASP_CHANNEL_ALIGNMENT) char requests[ROOM], answers[ROOM];
    } client[CLIENTS];
};

static struct hasp_channel *requests(struct shared *shared, int client)
{
    return (struct hasp_channel *)shared->client[client].requests;
}

static struct hasp_channel *answers(struct shared *shared, int client)
{
    return (struct hasp_channel *)shared->client[client].answers;
}

/* Asks for the squares of some numbers. */
static int be_client(struct shared *shared, int client)
{
    struct hasp_sender sender;
    struct hasp_receiver receiver;
    int failed = hasp_sender_open(&sender, requests(shared, client)) ||
                 hasp_receiver_open(&receiver, answers(shared, client), NULL);
    for (long number = 0; number < REQUESTS && !failed; number++) {
        long square = 0;
        size_t length;
        failed = hasp_send(&sender, &number, sizeof number, NULL) ||
                 hasp_receive(&receiver, &square, sizeof square, &length, NULL) ||
                 square != number * number;
        if (client == CLIENTS - 1)
            return failed; /* without closing, as if it had crashed */
    }
    hasp_sender_close(&sender);
    hasp_receiver_close(&receiver);
    return failed;
}

static int serve(struct shared *shared)
{
    struct hasp_sender sender[CLIENTS];
    struct hasp_receiver receiver[CLIENTS], *all[CLIENTS];
    struct hasp_receivers set = {all, CLIENTS, 0};
    for (int i = 0; i < CLIENTS; i++) {
        if (hasp_receiver_open(&receiver[i], requests(shared, i), &shared->bell) ||
            hasp_sender_open(&sender[i], answers(shared, i)))
            return 1;
        all[i] = &receiver[i];
    }
    int served = 0, closed = 0, died = 0;
    while (closed + died < CLIENTS) {
        long number;
        size_t length;
        uint32_t from;
        int result =
            hasp_receive_any(&set, NULL, &from, &number, sizeof number, &length, NULL);
        if (result == 0) {
            number *= number;
            hasp_send(&sender[from], &number, sizeof number, NULL);
            served++;
        } else if (result == EPIPE || result == EOWNERDEAD) {
            closed += result == EPIPE;
            died += result == EOWNERDEAD;
            all[from] = NULL;
        } else {
            return 1;
        }
    }
    printf("%d requests; %d clients closed, %d died\n", served, closed, died);
    return 0;
}

int main(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || hasp_channel_size(LINES) > ROOM)
        return 1;
    const uint32_t flags = HASP_CHANNEL_PARK | HASP_CHANNEL_SHARED;
    for (int i = 0; i < CLIENTS; i++)
        if (hasp_channel_init(requests(shared, i), LINES, flags) ||
            hasp_channel_init(answers(shared, i), LINES, flags))
            return 1;
    for (int i = 0; i < CLIENTS; i++)
        if (fork() == 0)
            _exit(be_client(shared, i));
    int status = serve(shared), failed = 0;
    while (wait(&failed) > 0)
        status |= failed;
    return status != 0;
}
