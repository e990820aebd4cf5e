/* SPDX-License-Identifier: MIT */
/*
 * Proof that the explorer's clients of reader-writer locks can fail: each lock of
 * wrong/rwlocks.def has one bug, which the listed client must find.
 */
#include "explorer/search/search.h"
#include "wrong/rwlock.h"

#include <stdio.h>
#include <string.h>

#define EACH_BUG(X)                                                                    \
    X(RW_NONE)                                                                         \
    X(RW_READ_RELAXED)                                                                 \
    X(RW_WRITE_RELAXED)                                                                \
    X(RW_READ_UNLOCK_RELAXED)                                                          \
    X(RW_WRITE_UNLOCK_RELAXED)                                                         \
    X(RW_READERS_EXCLUDE)                                                              \
    X(RW_WRITER_BESIDE_READERS)                                                        \
    X(RW_READER_BESIDE_WRITER)                                                         \
    X(RW_NO_WAKE_UP)                                                                   \
    X(RW_WAKES_ONE)                                                                    \
    X(RW_WAKES_NO_WRITER)                                                              \
    X(RW_TRYLOCK_FAILS)                                                                \
    X(RW_TIMEOUT_RETURNS_0)                                                            \
    X(RW_WRITES_AFTER_RELEASE)                                                         \
    X(RW_RECURSION_WAITS)                                                              \
    X(RW_NO_EDEADLK)                                                                   \
    X(RW_GATE_STAYS_CLOSED)
EACH_BUG(WRONG_RWLOCK)

static const struct {
    const char *name;
    const struct rwlock_operations *operations;
    const char *client, *verdict;
} cases[] = {
#define WRONG(bug, client, verdict) {#bug, &bug##_operations, client, verdict},
#include "wrong/rwlocks.def"
};

static const struct client *client_called(const char *name)
{
    for (unsigned i = 0; i < rwlock_client_count; i++)
        if (strcmp(rwlock_clients[i].name, name) == 0)
            return &rwlock_clients[i];
    return NULL;
}

static bool is_refused(unsigned index)
{
    const struct limits limits = {.preemptions = 3, .seconds = 20, .states = 10000000};
    const struct client *client = client_called(cases[index].client);
    client_rwlock_operations = cases[index].operations;
    client_rwlock.kind = client->rwlock_kind;
    struct outcome outcome = search(client, &limits);
    bool found = strcmp(outcome.verdict, "ok") != 0;
    bool right = cases[index].verdict[0]
                     ? strcmp(outcome.verdict, cases[index].verdict) == 0
                     : found;
    printf("%s  %-26s %-14s %s%s%s (%.1f s)\n", right ? "right" : "WRONG",
           cases[index].name, client->name, outcome.verdict, found ? ": " : "",
           outcome.detail, outcome.seconds);
    return right;
}

int main(void)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        wrong += !is_refused(i);
    printf("%u of %u verdicts are wrong\n", wrong,
           (unsigned)(sizeof cases / sizeof cases[0]));
    return wrong != 0;
}
