/* SPDX-License-Identifier: MIT */
/*
 * Proof that the explorer's clients of reader-writer locks can fail: each lock of
 * wrong/rwlocks.def has one bug, which the listed client must find.
 */
#include "wrong/judge.h"
#include "wrong/rwlock.h"

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

static bool is_right(unsigned index)
{
    const struct client *client =
        client_called(cases[index].client, rwlock_clients, rwlock_client_count);
    client_rwlock_operations = cases[index].operations;
    client_rwlock.kind = client->rwlock_kind;
    return is_judged(cases[index].name, client, cases[index].verdict);
}

int main(void)
{
    return judge_all(is_right, sizeof cases / sizeof cases[0]);
}
