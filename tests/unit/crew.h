/* SPDX-License-Identifier: MIT */
/*
 * Threads whose waiting can be observed from outside for any lock, because it is read
 * from the kernel's state of the thread.
 */
#ifndef HASP_TESTS_UNIT_CREW_H
#define HASP_TESTS_UNIT_CREW_H

#include "check.h"

#include "platform/platform.h"

#include <unistd.h>

enum {
    ANY_NODE = UINT8_MAX,
    ARRIVAL_NS = 2000000, /* CPU time after which a spinning thread has certainly
                           * queued */
    SAMPLE_US = 300,
    MOST_TRIES = 200,
};

struct member {
    pthread_t thread;
    void (*work)(struct member *);
    void *subject;
    uint32_t number, node;
    struct atomic_u32 id; /* 0 before the thread runs, UINT32_MAX: wrong node */
};

struct usage {
    uint64_t run_ns, ready_ns; /* time on a CPU, and time waiting for one */
    char state;                /* the state letter of /proc/PID/stat; 0 once it has
                                * ended */
};

static inline struct usage usage_of(uint32_t thread)
{
    struct usage usage = {0, 0, 0};
    char path[64];
    unsigned long long run = 0, ready = 0;
    snprintf(path, sizeof path, "/proc/self/task/%u/schedstat", thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return usage;
    int found = fscanf(file, "%llu %llu", &run, &ready);
    fclose(file);
    snprintf(path, sizeof path, "/proc/self/task/%u/stat", thread);
    if (found != 2 || !(file = fopen(path, "re")))
        return usage;
    if (fscanf(file, "%*d (%*[^)]) %c", &usage.state) != 1)
        usage.state = 0;
    fclose(file);
    usage.run_ns = run;
    usage.ready_ns = ready;
    return usage;
}

static inline void crew_forked(void)
{
    thread_id_forget();
    fork_in_child();
}

/* Detects forks, as the library does. */
static inline void crew_watch_forks(void)
{
    fork_watch();
    pthread_atfork(NULL, NULL, crew_forked);
}

static inline void *member_body(void *argument)
{
    struct member *member = argument;
    uint32_t node = current_node();
    if (member->node != ANY_NODE && member->node != node) {
        store_release(&member->id, UINT32_MAX);
        return NULL;
    }
    store_release(&member->id, current_thread());
    member->work(member);
    return NULL;
}

/* Starts a thread on member->node, in the topology of `NODESxCPUS,threads`. */
static inline void crew_start(struct member *member)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        store_relaxed(&member->id, 0);
        CHECK_EQUAL(pthread_create(&member->thread, NULL, member_body, member), 0);
        uint32_t id;
        while (!(id = load_acquire(&member->id)))
            yield();
        if (id != UINT32_MAX)
            return;
        pthread_join(member->thread, NULL);
    }
    CHECK(!"no thread id maps to this node");
}

/* Returns once the member is waiting: it either sleeps, or has used so much CPU time
 * that it must have queued. */
static inline void crew_await(struct member *member)
{
    uint32_t id = load_acquire(&member->id);
    struct usage first = usage_of(id);
    for (int asleep = 0; asleep < 2;) {
        usleep(SAMPLE_US);
        struct usage now = usage_of(id);
        CHECK(now.state != 0); /* it must not have acquired the lock */
        if (now.run_ns - first.run_ns > ARRIVAL_NS)
            return;
        asleep = now.state == 'S' ? asleep + 1 : 0;
    }
}

#endif
