/* SPDX-License-Identifier: MIT */
/*
 * Asymmetric barriers. Each shape is tested with both barriers, which forbid the weak
 * outcome, and without one of them, which allows it.
 */
#include "litmus/litmus.h"

#define NONE ((void)0)
#define HEAVY ((void)heavy_barrier())
#define LIGHT light_barrier()

static bool bits(const uint32_t *v)
{
    return v[0] < 2 && v[1] < 2 && !v[2] && !v[3];
}

/* --- store buffering --- */
#define BUFFERING(name, first, second)                                                 \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        store_relaxed(thread ? &y : &x, 1);                                            \
        if (thread == 0)                                                               \
            first;                                                                     \
        else                                                                           \
            second;                                                                    \
        r[thread] = load_relaxed(thread ? &x : &y);                                    \
    }
BUFFERING(sb, LIGHT, HEAVY)
BUFFERING(sb_no_light, NONE, HEAVY)
BUFFERING(sb_two_heavy, HEAVY, HEAVY)
BUFFERING(sb_fence, fence_seq_cst(), HEAVY)

static bool not_both_zero(const uint32_t *v)
{
    return bits(v) && (v[0] || v[1]);
}

/* Two light barriers do not order anything, even if a third thread runs a heavy one. */
static void sb_two_light(unsigned thread)
{
    if (thread == 2) {
        HEAVY;
        return;
    }
    store_relaxed(thread ? &y : &x, 1);
    LIGHT;
    r[thread] = load_relaxed(thread ? &x : &y);
}

/* One light barrier is executed too early and one too late to have an effect. */
static void sb_misplaced(unsigned thread)
{
    if (thread == 0)
        LIGHT;
    store_relaxed(thread ? &y : &x, 1);
    if (thread == 1)
        HEAVY;
    r[thread] = load_relaxed(thread ? &x : &y);
    if (thread == 0)
        LIGHT;
}

/* --- message passing --- */
#define MESSAGE(name, writer, reader)                                                  \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        if (thread == 0) {                                                             \
            store_relaxed(&x, 1);                                                      \
            writer;                                                                    \
            store_relaxed(&y, 1);                                                      \
        } else {                                                                       \
            r[0] = load_relaxed(&y);                                                   \
            reader;                                                                    \
            r[1] = load_relaxed(&x);                                                   \
        }                                                                              \
    }
MESSAGE(mp_heavy_writer, HEAVY, LIGHT)
MESSAGE(mp_heavy_writer_alone, HEAVY, NONE)
MESSAGE(mp_heavy_reader, LIGHT, HEAVY)
MESSAGE(mp_heavy_reader_alone, NONE, HEAVY)

static bool message_passes(const uint32_t *v)
{
    return bits(v) && !(v[0] && !v[1]);
}

/* --- writes in two orders --- */
#define TWO_WRITES(name, first)                                                        \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        store_relaxed(thread ? &y : &x, 1);                                            \
        if (thread == 0)                                                               \
            first;                                                                     \
        else                                                                           \
            HEAVY;                                                                     \
        store_relaxed(thread ? &x : &y, 2);                                            \
    }
TWO_WRITES(two_two_w, LIGHT)
TWO_WRITES(two_two_w_no_light, NONE)

static bool any_last(const uint32_t *v)
{
    return !v[0] && !v[1] && v[2] && v[2] < 3 && v[3] && v[3] < 3;
}

static bool not_both_first(const uint32_t *v)
{
    return any_last(v) && !(v[2] == 1 && v[3] == 1);
}

/* --- three threads --- */
#define RING(name, first, second, third)                                               \
    static void name(unsigned thread)                                                  \
    {                                                                                  \
        struct atomic_u32 *const cells[] = {&x, &y, &z};                               \
        store_relaxed(cells[thread], 1);                                               \
        if (thread == 0)                                                               \
            first;                                                                     \
        else if (thread == 1)                                                          \
            second;                                                                    \
        else                                                                           \
            third;                                                                     \
        r[thread] = load_relaxed(cells[(thread + 1) % 3]);                             \
    }
RING(ring_one_heavy, HEAVY, LIGHT, LIGHT)
RING(ring_two_heavy, HEAVY, HEAVY, LIGHT)

static bool any_three(const uint32_t *v)
{
    return v[0] < 2 && v[1] < 2 && v[2] < 2 && !v[3];
}

static bool not_all_zero(const uint32_t *v)
{
    return any_three(v) && (v[0] || v[1] || v[2]);
}

const struct litmus asymmetric_tests[] = {
    {"SB, light and heavy", 2, sb, finish_seen, not_both_zero, "ok"},
    {"SB, heavy alone", 2, sb_no_light, finish_seen, bits, "ok"},
    {"SB, misplaced light", 2, sb_misplaced, finish_seen, bits, "ok"},
    {"SB, two heavy", 2, sb_two_heavy, finish_seen, not_both_zero, "ok"},
    {"SB, fence and heavy", 2, sb_fence, finish_seen, not_both_zero, "ok"},
    {"SB, two light", 3, sb_two_light, finish_seen, bits, "ok"},
    {"MP, heavy writer", 2, mp_heavy_writer, finish_seen, message_passes, "ok"},
    {"MP, heavy writer alone", 2, mp_heavy_writer_alone, finish_seen, bits, "ok"},
    {"MP, heavy reader", 2, mp_heavy_reader, finish_seen, message_passes, "ok"},
    {"MP, heavy reader alone", 2, mp_heavy_reader_alone, finish_seen, bits, "ok"},
    {"2+2W, light and heavy", 2, two_two_w, finish_xy, not_both_first, "ok"},
    {"2+2W, heavy alone", 2, two_two_w_no_light, finish_xy, any_last, "ok"},
    /* The barrier reaches the two threads at different moments. */
    {"ring of one heavy", 3, ring_one_heavy, finish_seen, any_three, "ok"},
    {"ring of two heavy", 3, ring_two_heavy, finish_seen, not_all_zero, "ok"},
    {0},
};
