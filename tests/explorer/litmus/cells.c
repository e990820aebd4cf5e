/* SPDX-License-Identifier: MIT */
/* One cell: coherence, release sequences, atomicity. */
#include "litmus/litmus.h"

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

/* --- release sequences, atomicity --- */
#define SEQUENCE(name, second)                                                         \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        if (thread == 0) {                                                             \
            store_relaxed(&y, 1);                                                      \
            store_release(&x, 1);                                                      \
        } else if (thread == 1) {                                                      \
            (void)(second);                                                            \
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

/* A releasing read-modify-write also publishes what the previous store released. */
static void joined(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&y, 1);
        store_release(&x, 1);
    } else if (thread == 1) {
        store_relaxed(&z, 1);
        fetch_add_release(&x, 2);
    } else {
        r[0] = load_acquire(&x);
        r[1] = load_relaxed(&y);
        r[2] = load_relaxed(&z);
    }
}

static bool both_are_there(const uint32_t *v)
{
    return v[0] < 4 && v[1] < 2 && v[2] < 2 && !v[3] && (v[1] || v[0] % 2 == 0) &&
           (v[2] || v[0] < 2);
}

/* An exchange that does not change the value is still a release. */
static void same_value(unsigned thread)
{
    if (thread == 0) {
        store_relaxed(&y, 1);
        r[0] = exchange_release(&x, 0);
    } else {
        r[1] = exchange_acquire(&x, 1);
        r[2] = load_relaxed(&y);
    }
}

static bool first_is_seen(const uint32_t *v)
{
    return v[0] < 2 && !v[1] && v[2] < 2 && !v[3] && (v[2] || v[0]);
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

const struct litmus cells_tests[] = {
    {"CoRR", 4, corr, finish_seen, one_order, "ok"},
    {"CoWR", 2, cowr, finish_x, own_or_later, "ok"},
    {"CoRW", 2, corw, finish_x, read_then_write, "ok"},
    {"release sequence", 3, sequence, finish_seen, goes_on, "ok"},
    {"broken release sequence", 3, no_sequence, finish_seen, is_broken, "ok"},
    {"joined release sequence", 3, joined, finish_seen, both_are_there, "ok"},
    {"exchange of the same value", 2, same_value, finish_seen, first_is_seen, "ok"},
    {"fetch_add", 2, adds, finish_x, one_after_another, "ok"},
    {"compare_exchange", 2, exchanges, finish_x, one_winner, "ok"},
    {0},
};
