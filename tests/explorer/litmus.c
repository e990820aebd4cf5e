/* SPDX-License-Identifier: MIT */
/*
 * Does the explorer's memory model allow exactly what C11's does? The litmus tests of
 * the literature, each with the set of its outcomes: every allowed one has to be seen,
 * and no other.
 *
 *   litmus          all of them; status 1 if one is wrong
 *   litmus NAME...  these
 */
#include "explorer/clients.h"
#include "explorer/search.h"

#include <stdio.h>
#include <string.h>

enum { REGISTERS = 4, VALUES = 4, OUTCOMES = VALUES * VALUES * VALUES * VALUES };

static struct atomic_u32 x, y;
static uint32_t data;
static uint32_t r[REGISTERS]; /* each is of one thread, or of finish() */
static bool seen[OUTCOMES];

static unsigned code(const uint32_t *values)
{
    unsigned result = 0;
    for (int i = 0; i < REGISTERS; i++)
        result = result * VALUES + values[i];
    return result;
}

/* Not instrumented: what is seen is no part of the run. */
void note_outcome(void);

static void finish(void)
{
    note_outcome();
}

static void finish_x(void)
{
    r[3] = load_relaxed(&x);
    note_outcome();
}

static void finish_xy(void)
{
    r[2] = load_relaxed(&y);
    finish_x();
}

static void finish_y(void)
{
    r[3] = load_relaxed(&y);
    note_outcome();
}

__attribute__((no_sanitize("thread"))) void note_outcome(void)
{
    seen[code(r)] = true;
}

/* --- message passing --- */
#define MESSAGE(name, store, load)                                                     \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        if (thread == 0) {                                                             \
            store_relaxed(&x, 1);                                                      \
            store(&y, 1);                                                              \
        } else {                                                                       \
            r[0] = load(&y);                                                           \
            r[1] = load_relaxed(&x);                                                   \
        }                                                                              \
    }
MESSAGE(mp, store_release, load_acquire)
MESSAGE(mp_relaxed_store, store_relaxed, load_acquire)
MESSAGE(mp_relaxed_load, store_release, load_relaxed)

static void mp_fences(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 1);
        fence_seq_cst();
        store_relaxed(&y, 1);
    } else {
        r[0] = load_relaxed(&y);
        fence_seq_cst();
        r[1] = load_relaxed(&x);
    }
}

static void mp_one_fence(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 1);
        fence_seq_cst();
        store_relaxed(&y, 1);
    } else {
        r[0] = load_relaxed(&y);
        r[1] = load_relaxed(&x);
    }
}

static bool bits(const uint32_t *v)
{
    return v[0] < 2 && v[1] < 2 && !v[2] && !v[3];
}

static bool message_passes(const uint32_t *v)
{
    return bits(v) && !(v[0] && !v[1]);
}

/* --- store buffering --- */
#define BUFFERING(name, first, second)                                                 \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        store_release(thread ? &y : &x, 1);                                            \
        if (thread == 0)                                                               \
            first;                                                                     \
        else                                                                           \
            second;                                                                    \
        r[thread] = load_acquire(thread ? &x : &y);                                    \
    }
BUFFERING(sb, light_barrier(), light_barrier())
BUFFERING(sb_fences, fence_seq_cst(), fence_seq_cst())
BUFFERING(sb_one_fence, fence_seq_cst(), light_barrier())
BUFFERING(sb_heavy, light_barrier(), heavy_barrier())

static bool not_both_zero(const uint32_t *v)
{
    return bits(v) && (v[0] || v[1]);
}

static void lb(unsigned thread)
{
    r[thread] = load_relaxed(thread ? &y : &x);
    store_relaxed(thread ? &x : &y, 1);
}

/* C11 allows both to be 1; this model does not look at that (docs/checking.md). */
static bool not_both_one(const uint32_t *v)
{
    return bits(v) && !(v[0] && v[1]);
}

/* --- coherence --- */
static void corr(unsigned thread)
{
    if (thread < 2) {
        store_relaxed(&x, thread + 1);
    } else {
        r[2 * (thread - 2)] = load_relaxed(&x);
        r[2 * (thread - 2) + 1] = load_relaxed(&x);
    }
}

static bool one_order(const uint32_t *v)
{
    static const unsigned orders[2][3] = {{0, 1, 2}, {0, 2, 1}};
    for (int i = 0; i < REGISTERS; i++)
        if (v[i] > 2)
            return false;
    for (int i = 0; i < 2; i++)
        if (orders[i][v[0]] <= orders[i][v[1]] && orders[i][v[2]] <= orders[i][v[3]])
            return true;
    return false;
}

static void cowr(unsigned thread)
{
    store_relaxed(&x, thread + 1);
    r[thread] = load_relaxed(&x);
}

static bool own_or_later(const uint32_t *v)
{
    return !v[2] && ((v[3] == 1 && v[0] == 1 && (v[1] == 1 || v[1] == 2)) ||
                     (v[3] == 2 && v[1] == 2 && (v[0] == 1 || v[0] == 2)));
}

static void corw(unsigned thread)
{
    if (thread == 0) {
        r[0] = load_relaxed(&x);
        store_relaxed(&x, 1);
    } else {
        store_relaxed(&x, 2);
    }
}

static bool read_then_write(const uint32_t *v)
{
    return !v[1] && !v[2] &&
           ((v[0] == 0 && (v[3] == 1 || v[3] == 2)) || (v[0] == 2 && v[3] == 1));
}

/* --- writes in two orders --- */
#define TWO_WRITES(name, between)                                                      \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        store_release(thread ? &y : &x, 1);                                            \
        between;                                                                       \
        store_release(thread ? &x : &y, 2);                                            \
    }
TWO_WRITES(two_two_w, light_barrier())
TWO_WRITES(two_two_w_fences, fence_seq_cst())

static bool any_last(const uint32_t *v)
{
    return !v[0] && !v[1] && v[2] && v[2] < 3 && v[3] && v[3] < 3;
}

static bool not_both_first(const uint32_t *v)
{
    return any_last(v) && !(v[2] == 1 && v[3] == 1);
}

static void shape_s(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 2);
        store_release(&y, 1);
    } else {
        r[0] = load_acquire(&y);
        store_relaxed(&x, 1);
    }
}

static bool later_write_wins(const uint32_t *v)
{
    return v[0] < 2 && !v[1] && !v[2] && (v[3] == 1 || (v[3] == 2 && !v[0]));
}

static void shape_r(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 1);
        fence_seq_cst();
        store_relaxed(&y, 1);
    } else {
        store_relaxed(&y, 2);
        fence_seq_cst();
        r[0] = load_relaxed(&x);
    }
}

static bool fenced_r(const uint32_t *v)
{
    return v[0] < 2 && !v[1] && !v[2] && (v[3] == 1 || (v[3] == 2 && v[0] == 1));
}

/* --- independent reads, causality --- */
#define INDEPENDENT(name, between)                                                     \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        if (thread < 2) {                                                              \
            store_release(thread ? &y : &x, 1);                                        \
            return;                                                                    \
        }                                                                              \
        uint32_t first = load_acquire(thread == 2 ? &x : &y);                          \
        between;                                                                       \
        r[2 * (thread - 2)] = first;                                                   \
        r[2 * (thread - 2) + 1] = load_acquire(thread == 2 ? &y : &x);                 \
    }
INDEPENDENT(iriw, light_barrier())
INDEPENDENT(iriw_fences, fence_seq_cst())

static bool any_bits(const uint32_t *v)
{
    return v[0] < 2 && v[1] < 2 && v[2] < 2 && v[3] < 2;
}

static bool agreed(const uint32_t *v)
{
    return any_bits(v) && !(v[0] && !v[1] && v[2] && !v[3]);
}

static void wrc(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 1);
    } else if (thread == 1) {
        r[0] = load_relaxed(&x);
        store_release(&y, 1);
    } else {
        r[1] = load_acquire(&y);
        r[2] = load_relaxed(&x);
    }
}

static bool causal(const uint32_t *v)
{
    return v[0] < 2 && v[1] < 2 && v[2] < 2 && !v[3] && !(v[0] && v[1] && !v[2]);
}

/* --- release sequences, atomicity --- */
#define SEQUENCE(name, second)                                                         \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        if (thread == 0) {                                                             \
            store_relaxed(&y, 1);                                                      \
            store_release(&x, 1);                                                      \
        } else if (thread == 1) {                                                      \
            second;                                                                    \
        } else {                                                                       \
            r[0] = load_acquire(&x);                                                   \
            r[1] = load_relaxed(&y);                                                   \
        }                                                                              \
    }
SEQUENCE(sequence, fetch_add_relaxed(&x, 2))
SEQUENCE(no_sequence, store_relaxed(&x, 2))

static bool goes_on(const uint32_t *v)
{
    return v[0] < 4 && v[1] < 2 && !v[2] && !v[3] && (v[1] || v[0] % 2 == 0);
}

static bool is_broken(const uint32_t *v)
{
    return v[0] < 3 && goes_on(v);
}

static void adds(unsigned thread)
{
    r[thread] = fetch_add_relaxed(&x, 1);
}

static bool one_after_another(const uint32_t *v)
{
    return v[0] + v[1] == 1 && !v[2] && v[3] == 2;
}

static void exchanges(unsigned thread)
{
    uint32_t expected = 0;
    r[thread] = compare_exchange_relaxed(&x, &expected, thread + 1);
}

static bool one_winner(const uint32_t *v)
{
    return v[0] + v[1] == 1 && !v[2] && v[3] == (v[0] ? 1 : 2);
}

/* --- plain data: the verdict counts --- */
#define PLAIN(name, store, load, fence)                                                \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        if (thread == 0) {                                                             \
            data = 1;                                                                  \
            fence;                                                                     \
            store(&y, 1);                                                              \
        } else if (load(&y)) {                                                         \
            fence;                                                                     \
            r[0] = data;                                                               \
        }                                                                              \
    }
PLAIN(plain, store_release, load_acquire, light_barrier())
PLAIN(plain_fences, store_relaxed, load_relaxed, fence_seq_cst())
PLAIN(race_store, store_relaxed, load_acquire, light_barrier())
PLAIN(race_load, store_release, load_relaxed, light_barrier())

static void race_on_read(unsigned thread)
{
    if (thread == 0) {
        r[0] = data;
        store_relaxed(&y, 1);
    } else if (load_acquire(&y)) {
        data = 1;
    }
}

/* Both fences order the two accesses, but no message makes one happen before. */
static void race_between_fences(unsigned thread)
{
    store_relaxed(thread ? &y : &x, 1);
    fence_seq_cst();
    if (!load_relaxed(thread ? &x : &y))
        data = thread;
}

static bool sometimes(const uint32_t *v)
{
    return v[0] < 2 && !v[1] && !v[2] && !v[3];
}

static bool nothing(const uint32_t *v)
{
    return !v[0] && !v[1] && !v[2] && !v[3];
}

/* --- waiting --- */
static void wakes(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 1);
        unpark(&x, 1);
    } else {
        park(&x, 0, NULL);
    }
}

static void wakes_too_early(unsigned thread)
{
    if (thread == 0) {
        unpark(&x, 1);
        store_relaxed(&x, 1);
    } else {
        park(&x, 0, NULL);
    }
}

static void moves(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&x, 1);
        requeue(&x, 1, &y);
        unpark(&y, 1);
    } else {
        park(&x, 0, NULL);
    }
}

static void spins(unsigned thread)
{
    if (thread == 0)
        store_relaxed(&x, 1);
    else
        spin_until(load_relaxed(&x));
}

static void spins_for_ever(unsigned thread)
{
    if (thread == 0)
        store_relaxed(&x, 1);
    else
        spin_until(load_relaxed(&x) == 2);
}

static const struct {
    const char *name;
    unsigned threads;
    void (*body)(unsigned);
    void (*finish)(void);
    bool (*allowed)(const uint32_t *);
    const char *verdict;
} tests[] = {
    {"MP", 2, mp, finish, message_passes, "ok"},
    {"MP, relaxed store", 2, mp_relaxed_store, finish, bits, "ok"},
    {"MP, relaxed load", 2, mp_relaxed_load, finish, bits, "ok"},
    {"MP, fences", 2, mp_fences, finish, message_passes, "ok"},
    {"MP, one fence", 2, mp_one_fence, finish, bits, "ok"},
    {"SB", 2, sb, finish, bits, "ok"},
    {"SB, fences", 2, sb_fences, finish, not_both_zero, "ok"},
    {"SB, one fence", 2, sb_one_fence, finish, bits, "ok"},
    {"SB, heavy barrier", 2, sb_heavy, finish, not_both_zero, "ok"},
    {"LB", 2, lb, finish, not_both_one, "ok"},
    {"CoRR", 4, corr, finish, one_order, "ok"},
    {"CoWR", 2, cowr, finish_x, own_or_later, "ok"},
    {"CoRW", 2, corw, finish_x, read_then_write, "ok"},
    {"2+2W", 2, two_two_w, finish_xy, any_last, "ok"},
    {"2+2W, fences", 2, two_two_w_fences, finish_xy, not_both_first, "ok"},
    {"S", 2, shape_s, finish_x, later_write_wins, "ok"},
    {"R, fences", 2, shape_r, finish_y, fenced_r, "ok"},
    {"IRIW", 4, iriw, finish, any_bits, "ok"},
    {"IRIW, fences", 4, iriw_fences, finish, agreed, "ok"},
    {"WRC", 3, wrc, finish, causal, "ok"},
    {"release sequence", 3, sequence, finish, goes_on, "ok"},
    {"broken release sequence", 3, no_sequence, finish, is_broken, "ok"},
    {"fetch_add", 2, adds, finish_x, one_after_another, "ok"},
    {"compare_exchange", 2, exchanges, finish_x, one_winner, "ok"},
    {"plain data", 2, plain, finish, sometimes, "ok"},
    {"plain data, fences", 2, plain_fences, finish, sometimes, "ok"},
    {"race, relaxed store", 2, race_store, finish, NULL, "data race"},
    {"race, relaxed load", 2, race_load, finish, NULL, "data race"},
    {"race, read first", 2, race_on_read, finish, NULL, "data race"},
    {"no race behind fences", 2, race_between_fences, finish, nothing, "ok"},
    {"park", 2, wakes, finish, nothing, "ok"},
    {"park, woken too early", 2, wakes_too_early, finish, NULL, "deadlock"},
    {"requeue", 2, moves, finish, nothing, "ok"},
    {"spin", 2, spins, finish, nothing, "ok"},
    {"spin for ever", 2, spins_for_ever, finish, NULL, "deadlock"},
};

static bool outcomes_are_right(const char *name, bool (*allowed)(const uint32_t *))
{
    bool right = true;
    for (unsigned i = 0; i < OUTCOMES; i++) {
        const uint32_t v[REGISTERS] = {i / 64, i / 16 % 4, i / 4 % 4, i % 4};
        if (allowed(v) == seen[i])
            continue;
        right = false;
        printf("%s: %u %u %u %u is %s, but was %s\n", name, v[0], v[1], v[2], v[3],
               allowed(v) ? "allowed" : "forbidden", seen[i] ? "seen" : "not seen");
    }
    return right;
}

static bool is_right(unsigned index)
{
    const struct client client = {.name = tests[index].name,
                                  .threads = tests[index].threads,
                                  .body = tests[index].body,
                                  .finish = tests[index].finish};
    const struct limits limits = {
        .preemptions = UNBOUNDED, .seconds = 60, .states = 1000000};
    memset(seen, 0, sizeof seen);
    struct outcome outcome = search(&client, &limits);
    if (strcmp(outcome.verdict, tests[index].verdict) != 0) {
        printf("%s: %s (%s) instead of %s\n", tests[index].name, outcome.verdict,
               outcome.detail, tests[index].verdict);
        return false;
    }
    if (!tests[index].allowed)
        return true;
    if (!outcome.complete) {
        printf("%s: incomplete\n", tests[index].name);
        return false;
    }
    return outcomes_are_right(tests[index].name, tests[index].allowed);
}

static bool is_chosen(const char *name, int count, char **words)
{
    for (int i = 1; i < count; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return count == 1;
}

int main(int count, char **words)
{
    unsigned wrong = 0, run = 0;
    for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (is_chosen(tests[i].name, count, words)) {
            run++;
            wrong += !is_right(i);
        }
    printf("%u of %u litmus tests are right\n", run - wrong, run);
    return wrong || !run;
}
