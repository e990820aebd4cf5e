/* SPDX-License-Identifier: MIT */
/*
 * Proof that the explorer's clients of reader-writer locks can fail: each lock of
 * wrong/rwlocks.def has one bug, which the listed client must find.
 */
#include "wrong/judge.h"
#include "wrong/rwlock.h"

EACH_RWLOCK_BUG(WRONG_RWLOCK)

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

int main(int count, char **words)
{
    (void)count;
    return judge_all(is_right, sizeof cases / sizeof cases[0], words);
}
