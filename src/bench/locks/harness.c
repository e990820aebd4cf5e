/* SPDX-License-Identifier: MIT */
#include "bench/locks/harness.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The interval at which the main thread reads the counts. That takes about 0.1 % of one
 * CPU and no instruction of the workers; reading the clock at each acquisition would
 * disturb the measurement. */
static const uint64_t stall_sample_ns = 2000000;
static const uint64_t end_poll_ns = 200000;

/* Time for threads to get ready. If they have to wait for a CPU on a busy machine, it
 * is extended, and so is the grace period. */
static const uint64_t ready_ns = 1000000000;
static const uint64_t busy_grace_ns = 4000000000;
static const double fair_cpu_seconds = 0.02;

struct stall_watch {
    uint64_t *last_count;
    uint64_t *last_change_ns;
    uint64_t longest_ns;
};

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}

static void sleep_ns(uint64_t duration)
{
    struct timespec request = {
        .tv_sec = (time_t)(duration / 1000000000u),
        .tv_nsec = (long)(duration % 1000000000u),
    };
    nanosleep(&request, NULL);
}

/* Pins each worker to a CPU of its own, if the process may use enough. On failure the
 * scheduler places the threads. */
static void pin(unsigned index)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    unsigned wanted = index % (unsigned)CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || wanted-- > 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    store_release(&worker->id, current_thread());
    if (crew->pinned)
        pin(worker->index);
    if (crew->prepare)
        crew->prepare(worker);
    store_release(&worker->ready, 1);
    while (!load_acquire(&crew->go))
        yield();
    crew->work(worker);
    store_release(&worker->ended, 1);
    return NULL;
}

static bool all_ended(const struct crew *crew)
{
    for (unsigned i = 0; i < crew->thread_count; i++) {
        if (!load_acquire(&crew->workers[i].ended))
            return false;
    }
    return true;
}

static bool all_ready(const struct crew *crew)
{
    for (unsigned i = 0; i < crew->thread_count; i++) {
        if (!load_acquire(&crew->workers[i].ready))
            return false;
    }
    return true;
}

static bool start_threads(struct crew *crew, struct result *result)
{
    /* Only the main thread handles signals, so the timer does not depend on a worker.
     * */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = true;
    for (unsigned i = 0; i < crew->thread_count && started; i++) {
        struct worker *worker = &crew->workers[i];
        worker->crew = crew;
        worker->index = i;
        started = pthread_create(&worker->thread, NULL, worker_main, worker) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started)
        result_failed(result, "cannot start %u threads: lower --threads",
                      crew->thread_count);
    return started;
}

static void watch_stalls(const struct crew *crew, struct stall_watch *watch, bool last)
{
    uint64_t now = now_ns();
    for (unsigned i = 0; i < crew->thread_count; i++) {
        uint64_t count = load_relaxed(&crew->workers[i].count);
        bool changed = count != watch->last_count[i];
        if (changed || last) {
            uint64_t stalled = now - watch->last_change_ns[i];
            if (stalled > watch->longest_ns)
                watch->longest_ns = stalled;
        }
        if (changed) {
            watch->last_count[i] = count;
            watch->last_change_ns[i] = now;
        }
    }
}

static void sleep_until_end(struct crew *crew, uint64_t end_ns,
                            struct stall_watch *watch)
{
    uint64_t step = crew->work_bound ? end_poll_ns : stall_sample_ns;
    bool stepping = crew->work_bound || crew->watch_stalls;
    for (uint64_t now = now_ns(); now < end_ns; now = now_ns()) {
        if (crew->work_bound && all_ended(crew))
            return;
        sleep_ns(stepping && end_ns - now > step ? step : end_ns - now);
        if (crew->watch_stalls)
            watch_stalls(crew, watch, false);
    }
}

static double cpu_seconds(const struct worker *worker)
{
    clockid_t clock;
    struct timespec used;
    if (pthread_getcpuclockid(worker->thread, &clock) || clock_gettime(clock, &used))
        return 0;
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void take_counts(struct crew *crew, struct result *result)
{
    uint64_t total = 0;
    uint64_t fewest = UINT64_MAX;
    uint64_t most = 0;
    for (unsigned i = 0; i < crew->thread_count; i++) {
        uint64_t count = load_relaxed(&crew->workers[i].count);
        crew->workers[i].final_count = count;
        crew->workers[i].cpu_at_stop = cpu_seconds(&crew->workers[i]);
        total += count;
        fewest = count < fewest ? count : fewest;
        most = count > most ? count : most;
    }
    result->seconds = (double)(crew->stopped_ns - crew->started_ns) / 1e9;
    result->operations = (double)total;
    result->fairness = most ? (double)fewest / (double)most : -1;
}

static unsigned count_unended(const struct crew *crew)
{
    unsigned unended = 0;
    for (unsigned i = 0; i < crew->thread_count; i++)
        unended += !load_acquire(&crew->workers[i].ended);
    return unended;
}

static uint64_t counted(const struct crew *crew)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < crew->thread_count; i++)
        sum += load_relaxed(&crew->workers[i].count);
    return sum;
}

void crew_check_exclusion(const struct crew *crew, unsigned increments,
                          uint64_t guarded, struct result *result)
{
    uint64_t updates = increments * counted(crew), lost = updates - guarded;
    if (lost)
        result_failed(result,
                      "the lock does not exclude: %llu of %llu updates were lost",
                      (unsigned long long)lost, (unsigned long long)updates);
}

/* Returns a number that changes whenever a worker makes progress. */
static uint64_t progress(const struct crew *crew)
{
    return crew->thread_count - count_unended(crew) + counted(crew);
}

static bool is_runnable(const struct worker *worker)
{
    char path[64];
    char text[128] = "";
    snprintf(path, sizeof path, "/proc/self/task/%u/stat", load_acquire(&worker->id));
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool known = read(file, text, sizeof text - 1) > 0;
    close(file);
    const char *name_end = strrchr(text, ')');
    return known && name_end && strncmp(name_end, ") R", 3) == 0;
}

/* Returns true if a runnable worker has had hardly any CPU time since the start or the
 * stop, which is due to the machine and not to the lock. */
static bool waits_for_cpu(const struct crew *crew)
{
    for (unsigned i = 0; i < crew->thread_count; i++) {
        const struct worker *worker = &crew->workers[i];
        if (!load_acquire(&worker->ended) && is_runnable(worker) &&
            cpu_seconds(worker) - worker->cpu_at_stop < fair_cpu_seconds)
            return true;
    }
    return false;
}

/* Workers that have not ended are stuck if there is no progress in the second half of
 * the grace period. Otherwise the lock works, but far too slowly. */
static bool wait_for_end(const struct crew *crew, double grace, struct result *result)
{
    uint64_t stop_ns = now_ns();
    uint64_t half_ns = nanoseconds(grace / 2);
    uint64_t end_ns = stop_ns + 2 * half_ns;
    uint64_t progress_at_half = progress(crew);
    while (!all_ended(crew)) {
        uint64_t now = now_ns();
        if (now + half_ns < end_ns)
            progress_at_half = progress(crew);
        if (now > end_ns && waits_for_cpu(crew) && now - stop_ns < busy_grace_ns) {
            progress_at_half = progress(crew);
            end_ns = now + half_ns;
        } else if (now > end_ns) {
            unsigned left = count_unended(crew);
            if (progress(crew) == progress_at_half)
                result_hung(result, "%u of %u threads are stuck", left,
                            crew->thread_count);
            else
                result_collapsed(result,
                                 "%u of %u threads still at work after %.1f s more",
                                 left, crew->thread_count, grace);
            return false;
        }
        sleep_ns(end_poll_ns);
    }
    return true;
}

static bool wait_until_ready(const struct crew *crew, struct result *result)
{
    uint64_t start_ns = now_ns();
    while (!all_ready(crew)) {
        uint64_t waited_ns = now_ns() - start_ns;
        if (waited_ns > (waits_for_cpu(crew) ? busy_grace_ns : ready_ns)) {
            result_hung(result, "the threads did not get ready");
            return false;
        }
        sleep_ns(end_poll_ns);
    }
    return true;
}

bool crew_run(struct crew *crew, unsigned threads, const struct options *options,
              struct result *result)
{
    struct stall_watch watch = {
        .last_count = calloc(threads, sizeof *watch.last_count),
        .last_change_ns = calloc(threads, sizeof *watch.last_change_ns),
    };
    crew->thread_count = threads;
    /* Page-aligned, zeroed, and not from a heap that uses the lock under test. */
    crew->workers = map_pages(threads * sizeof *crew->workers);
    if (!watch.last_count || !watch.last_change_ns || !crew->workers) {
        result_failed(result, "out of memory for %u threads", threads);
        return false;
    }
    if (!start_threads(crew, result))
        return false;
    if (!wait_until_ready(crew, result))
        return false;
    if (crew->before_go)
        crew->before_go(crew);

    crew->started_ns = now_ns();
    for (unsigned i = 0; i < threads; i++)
        watch.last_change_ns[i] = crew->started_ns;
    store_release(&crew->go, 1);
    sleep_until_end(crew, crew->started_ns + nanoseconds(options->seconds), &watch);
    crew->stopped_ns = now_ns();
    take_counts(crew, result);
    if (crew->watch_stalls) {
        watch_stalls(crew, &watch, true);
        result->starvation_ms = (double)watch.longest_ns / 1e6;
    }
    store_release(&crew->stop, 1);

    if (!wait_for_end(crew, options->grace, result))
        return false;
    for (unsigned i = 0; i < threads; i++)
        pthread_join(crew->workers[i].thread, NULL);
    free(watch.last_count);
    free(watch.last_change_ns);
    return true;
}
