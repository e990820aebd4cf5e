/* SPDX-License-Identifier: MIT */
/*
 * Proof that the explorer can fail: each lock of wrong/list.def has one bug, which the
 * listed client must find.
 */
#include "explorer/clients/critical_sections.h"
#include "wrong/judge.h"
#include "wrong/locks.h"

#define EACH_QUEUE(X)                                                                  \
    X(NONE)                                                                            \
    X(TAIL_RELAXED)                                                                    \
    X(LINK_RELAXED)                                                                    \
    X(LINK_READ_RELAXED)                                                               \
    X(WAIT_RELAXED)                                                                    \
    X(LAST_RELAXED)                                                                    \
    X(GRANT_RELAXED)                                                                   \
    X(GRANT_FORGOTTEN)                                                                 \
    X(GRANT_TO_ITSELF)                                                                 \
    X(NEVER_GIVEN_BACK)                                                                \
    X(GIVEN_BACK_TWICE)                                                                \
    X(TIMEOUT_STAYS_QUEUED)                                                            \
    X(ADOPT_NOT_QUEUED)                                                                \
    X(IGNORES_OTHER_UNLOCKERS)                                                         \
    X(LOOP_WITHOUT_RELAX)                                                              \
    X(GRANTS_TAIL)                                                                     \
    X(WRITES_AFTER_GIVING_BACK)
#define EACH_SLEEPING(X)                                                               \
    X(NONE)                                                                            \
    X(TAKE_RELAXED)                                                                    \
    X(RELEASE_RELAXED)                                                                 \
    X(NO_WAKE_UP)                                                                      \
    X(WAKES_BEFORE_RELEASE)                                                            \
    X(LOSES_SLEEPER_MARK)                                                              \
    X(NO_SLEEPER_MARK)                                                                 \
    X(NO_CHECK_AFTER_WAKE_UP)                                                          \
    X(TIMEOUT_RETURNS_TRUE)                                                            \
    X(TRYLOCK_ALWAYS_TRUE)                                                             \
    X(TRYLOCK_ALWAYS_FALSE)                                                            \
    X(TIMEOUT_KEEPS_LOCK)                                                              \
    X(OWNER_AFTER_RELEASE)

#define QUEUE(bug)                                                                     \
    WRONG_LOCK(queue, bug)                                                             \
    WRONG_ADOPTION(queue, bug)                                                         \
    static const struct lock_operations queue_##bug = {                                \
        WRONG_OPERATIONS(queue, bug),                                                  \
        .adopt = queue_##bug##_adopt,                                                  \
        .adopted = queue_##bug##_adopted,                                              \
    };
EACH_QUEUE(QUEUE)

#define SLEEPING(bug)                                                                  \
    WRONG_LOCK(sleeping, bug)                                                          \
    static const struct lock_operations sleeping_##bug = {                             \
        WRONG_OPERATIONS(sleeping, bug)};
EACH_SLEEPING(SLEEPING)

/* The shipped condition variables with one bug each. */
#define WRONG_CONDITION(kind, bug, scenario, verdict)                                  \
    void condition_with_##scenario##_##bug(unsigned thread);
#include "wrong/condition.def"
#undef WRONG_CONDITION

/* The shipped futex lock, and variants without one of its barriers. */
extern const struct lock_operations futex_NONE, futex_NO_LIGHT_BARRIER,
    futex_NO_HEAVY_BARRIER, futex_FENCE_FOR_BARRIER;

static const struct {
    const char *name;
    const struct lock_operations *operations;
    const char *client, *verdict;
    struct client own; /* used if `client` is NULL */
} cases[] = {
#define WRONG(kind, bug, client, verdict)                                              \
    {#kind " " #bug, &kind##_##bug, client, verdict, {0}},
#define WRONG_FUTEX(bug, client, verdict)                                              \
    {"futex " #bug, &futex_##bug, client, verdict, {0}},
#define WRONG_CONDITION(kind, bug, scenario, verdict)                                  \
    {"condition " #bug,                                                                \
     &kind##_NONE,                                                                     \
     NULL,                                                                             \
     verdict,                                                                          \
     {.name = #scenario,                                                               \
      .threads = 3,                                                                    \
      .body = condition_with_##scenario##_##bug,                                       \
      .finish = finish_free}},
#include "wrong/condition.def"
#include "wrong/list.def"
};

static bool is_right(unsigned index)
{
    const struct client *client =
        cases[index].client
            ? client_called(cases[index].client, clients, client_count)
            : &cases[index].own;
    client_operations = cases[index].operations;
    return is_judged(cases[index].name, client, cases[index].verdict);
}

int main(int count, char **words)
{
    (void)count;
    return judge_all(is_right, sizeof cases / sizeof cases[0], words);
}
