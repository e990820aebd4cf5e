/* SPDX-License-Identifier: MIT */
/* Orders between cells: messages, store buffers, causality, fences. */
#include "litmus/litmus.h"

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

/* C11 allows both values to be 1; this model excludes that (docs/checking.md). */
static bool not_both_one(const uint32_t *v)
{
    return bits(v) && !(v[0] && v[1]);
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

const struct litmus ordering_tests[] = {
    {"MP", 2, mp, finish_seen, message_passes, "ok"},
    {"MP, relaxed store", 2, mp_relaxed_store, finish_seen, bits, "ok"},
    {"MP, relaxed load", 2, mp_relaxed_load, finish_seen, bits, "ok"},
    {"MP, fences", 2, mp_fences, finish_seen, message_passes, "ok"},
    {"MP, one fence", 2, mp_one_fence, finish_seen, bits, "ok"},
    {"SB", 2, sb, finish_seen, bits, "ok"},
    {"SB, fences", 2, sb_fences, finish_seen, not_both_zero, "ok"},
    {"SB, one fence", 2, sb_one_fence, finish_seen, bits, "ok"},
    {"SB, heavy barrier", 2, sb_heavy, finish_seen, not_both_zero, "ok"},
    {"LB", 2, lb, finish_seen, not_both_one, "ok"},
    {"2+2W", 2, two_two_w, finish_xy, any_last, "ok"},
    {"2+2W, fences", 2, two_two_w_fences, finish_xy, not_both_first, "ok"},
    {"S", 2, shape_s, finish_x, later_write_wins, "ok"},
    {"R, fences", 2, shape_r, finish_y, fenced_r, "ok"},
    {"IRIW", 4, iriw, finish_seen, any_bits, "ok"},
    {"IRIW, fences", 4, iriw_fences, finish_seen, agreed, "ok"},
    {"WRC", 3, wrc, finish_seen, causal, "ok"},
    {0},
};
