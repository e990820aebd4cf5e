/* SPDX-License-Identifier: MIT */
/* Unit tests of parts of the recorder: timelines, sampling, the growth of the file. */
#include "platform/native/counter_page.h"
#include "../programs/check.h"

#include "profiler/record/record.h"
#include "profiler/store/timeline.h"
#include "profiler/threads/sampling_rate.h"

bool record_hands_over;

bool record_is_waited_for(const void *object)
{
    return object != NULL;
}

struct seen {
    uint64_t ticks;
    uint32_t weight, value;
};

enum { LOOKS = 5000, SEEN_MOST = 300 };

SERIES(seen_records, TRACE_WAITER_SAMPLES, struct seen, SEEN_MOST);

static void double_weight(void *record)
{
    ((struct seen *)record)->weight *= 2;
}

static struct timeline line = {&seen_records, double_weight, 1, 0};

static void begin_file(void)
{
    static char path[] = "/tmp/hasp-unit-XXXXXX/t";
    path[21] = '\0';
    CHECK(mkdtemp(path));
    path[21] = '/';
    CHECK(trace_file_create(path, 64 << 20));
    CHECK_EQUAL(unlink(path), 0);
    path[21] = '\0';
    CHECK_EQUAL(rmdir(path), 0);
}

/* Every third sample has two records; the others have one. */
static void look_often(void)
{
    for (uint32_t look = 1; look <= LOOKS; look++) {
        if (!timeline_keeps_next(&line))
            continue;
        for (uint32_t value = 0; value <= (look % 3 == 0); value++) {
            const struct seen seen = {look, line.stride, value};
            timeline_add(&line, &seen);
        }
    }
}

/* The remaining records represent all samples, and the records of one sample stay
 * together. */
static void time_lines_are_thinned(void)
{
    begin_file();
    look_often();
    uint32_t count = load_relaxed(&seen_records.count);
    uint64_t looks = 0, before = 0;
    CHECK(count <= SEEN_MOST && count > SEEN_MOST / 8);
    for (uint32_t i = 1; i <= count; i++) {
        const struct seen *seen = series_at(&seen_records, i);
        CHECK(seen->ticks >= before);
        if (seen->ticks != before)
            looks += seen->weight;
        else
            CHECK_EQUAL(seen->value, 1u);
        if (seen->ticks % 3 == 0 && seen->value == 0 && i < count) {
            const struct seen *next = series_at(&seen_records, i + 1);
            CHECK_EQUAL(next->ticks, seen->ticks);
        }
        before = seen->ticks;
    }
    CHECK(looks >= LOOKS - 2 * line.stride && looks <= LOOKS + 2 * line.stride);
}

/* The samples represent the actual number of events, even if the period changes. */
static void check_samples(bool sampled)
{
    static struct trace_thread shared;
    struct recording me = {.shared = &shared, .random = 12345, .period = 1, .drawn = 1};
    uint64_t events = 2000000, stood_for = 0;
    sampling_set_mode(sampled);
    record_here.skip = 0;
    for (uint64_t i = 0; i < events; i++) {
        if (sampled && record_skips(false))
            continue;
        if (!sampling_is_due(&me))
            continue;
        stood_for += sampling_take(&me);
        record_here.skip = me.skip;
        me.period = i < events / 2 ? 64 : 200;
    }
    CHECK(stood_for > events / 100 * 97 && stood_for < events / 100 * 103);
}

static void samples_stand_for_all(void)
{
    check_samples(false);
    check_samples(true);
}

/* The period depends on the share of the thread's CPU time that timing takes. */
static void sampling_rate_adapts(void)
{
    static struct trace_thread shared;
    struct recording me = {.shared = &shared, .period = 16};
    begin_file();
    sampling_set_mode(false);
    for (int i = 0; i < 2 * SAMPLING_WINDOW; i++)
        sampling_adapt(&me, UINT32_MAX);
    CHECK_EQUAL(me.period, 64u);
    me.window_ticks = 0;
    for (int i = 0; i < SAMPLING_WINDOW - 1; i++)
        sampling_adapt(&me, 0);
    CHECK_EQUAL(me.period, 64u);
    me.window_began = 0;
    sampling_adapt(&me, 0);
    CHECK_EQUAL(me.period, 32u);
    CHECK(shared.overhead_ticks > 0 && shared.overhead_ticks < UINT32_MAX);
}

/* As trace.h specifies, bucket 1 + 4 * k + q begins at 2^(5+k) * (4+q)/4. */
static void buckets(void)
{
    CHECK_EQUAL(trace_bucket(0), 0u);
    CHECK_EQUAL(trace_bucket(31), 0u);
    for (unsigned k = 0; k < 30; k++)
        for (unsigned q = 0; q < 4; q++) {
            uint64_t edge = (1ull << (5 + k)) * (4 + q) / 4;
            CHECK_EQUAL(trace_bucket(edge), 1 + 4 * k + q);
            CHECK_EQUAL(trace_bucket(edge - 1), 4 * k + q);
        }
    CHECK_EQUAL(trace_bucket(UINT64_MAX), TRACE_BUCKETS - 1u);
}

/* Numbering continues across chunks; each chunk has the number of its first record. */
static void numbers_run_on(void)
{
    SERIES(records, TRACE_LOCKS, struct trace_lock, 2000);
    begin_file();
    for (uint32_t i = 1; i <= 2000; i++) {
        const struct trace_lock lock = {.address = i};
        uint32_t number = 0;
        CHECK(series_append(&records, &lock, &number));
        CHECK_EQUAL(number, i);
    }
    uint32_t number;
    const struct trace_lock lock = {0};
    CHECK(!series_append(&records, &lock, &number));
    uint32_t found = 0;
    for (uint32_t i = 1; i < trace->chunks; i++) {
        const struct trace_chunk *chunk = trace_file_chunk(i);
        if (chunk->kind != TRACE_LOCKS)
            continue;
        CHECK_EQUAL(chunk->first, found + 1);
        found += chunk->used;
    }
    CHECK_EQUAL(found, 2000u);
    for (uint32_t i = 1; i <= 2000; i++)
        CHECK_EQUAL(((struct trace_lock *)series_at(&records, i))->address, i);
}

/* A 48-bit counter that has just overflowed; page.offset is the kernel's sum of earlier
 * counts. */
static uint64_t counted;
static struct perf_event_mmap_page page;

static uint64_t read_counted(uint32_t index)
{
    CHECK_EQUAL(index, 2u);
    if (page.lock == 6) { /* the kernel updates the page once meanwhile */
        page.lock = 8;
        page.offset = 5000;
        return 99;
    }
    return counted;
}

static void counters_are_read_through_their_page(void)
{
    uint64_t value = 0;
    memset(&page, 0, sizeof page);
    page.lock = 4;
    page.index = 3;
    page.offset = 1000;
    page.pmc_width = 48;
    if (!COUNTERS_READABLE) {
        CHECK(!counter_read_through(&page, read_counted, &value));
        return;
    }
    CHECK(!counter_read_through(&page, read_counted, &value)); /* not allowed */
    page.cap_user_rdpmc = 1;
    counted = 77;
    CHECK(counter_read_through(&page, read_counted, &value));
    CHECK_EQUAL(value, 1077u);
    counted = (1ull << 48) - 7; /* -7, as a 48-bit number */
    CHECK(counter_read_through(&page, read_counted, &value));
    CHECK_EQUAL(value, 993u);
    page.lock = 6;
    CHECK(counter_read_through(&page, read_counted, &value));
    CHECK_EQUAL(value, 4993u);
    page.index = 0; /* other events occupy all counters */
    CHECK(!counter_read_through(&page, read_counted, &value));
}

/* A holder never returns, as after a jump out of a signal handler. */
static struct series held_up = {.record_bytes = 64, .most = 100};
static bool entered, appended;

static void *come_second(void *argument)
{
    const char record[64] = "";
    uint32_t number;
    entered = brief_lock(&held_up.busy);
    appended = series_append(&held_up, record, &number) != NULL;
    return argument;
}

static void locks_are_not_entered_by_two(void)
{
    pthread_t thread;
    brief_lock_longest_ns = 20000000;
    CHECK(brief_lock(&held_up.busy));
    CHECK_EQUAL(pthread_create(&thread, NULL, come_second, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(!entered && !appended);
    brief_unlock(&held_up.busy); /* the holder was merely slow */
    CHECK(brief_lock(&held_up.busy));
    brief_unlock(&held_up.busy);
}

/* Many short holds take long in total. */
enum { HOLDERS = 8, HOLDS = 50 };
static struct atomic_u32 busy;
static long sum;

static void *hold_often(void *argument)
{
    for (int i = 0; i < HOLDS; i++) {
        CHECK(brief_lock(&busy));
        const long before = sum;
        usleep(100);
        sum = before + 1;
        brief_unlock(&busy);
    }
    return argument;
}

static void locks_wait_for_each_holder(void)
{
    pthread_t threads[HOLDERS];
    for (int i = 0; i < HOLDERS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, hold_often, NULL), 0);
    for (int i = 0; i < HOLDERS; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    CHECK_EQUAL(sum, HOLDERS * HOLDS);
}

CHECK_MAIN(CASE(locks_are_not_entered_by_two), CASE(locks_wait_for_each_holder),
           CASE(counters_are_read_through_their_page), CASE(time_lines_are_thinned),
           CASE(samples_stand_for_all), CASE(sampling_rate_adapts), CASE(buckets),
           CASE(numbers_run_on))
