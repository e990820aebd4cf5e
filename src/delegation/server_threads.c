/* SPDX-License-Identifier: MIT */
/* Starts and ends the threads of servers, and watches over them. */
#include "delegation/server.h"

#include "delegation/algorithms/ffwd.h"
#include "delegation/algorithms/rcl.h"

#include "locks/list/descriptor.h"

enum {
    /* The manager looks whether a section makes progress first after the shorter time,
     * and less and less often while all is well. The longer one is a time slice. */
    WATCH_FIRST_NS = 100000,
    WATCH_LAST_NS = 4000000,
    /* With fewer CPUs, SCHED_FIFO would keep programs from running. */
    URGENT_CPUS = 4,
    URGENT_THREAD = 2,
    URGENT_MANAGER = 3,
};

struct server server_table[SERVER_KINDS * SERVERS_MOST];

static int urgency(int wanted)
{
    return cpu_count() >= URGENT_CPUS ? wanted : 0;
}

void server_wake(struct server *server)
{
    if (exchange_acq_rel(&server->asleep, 0))
        unpark(&server->asleep, 1);
}

void server_alarm(struct server *server)
{
    if (!STARTS_THREADS)
        return;
    fetch_add_release(&server->alarm, 1);
    unpark(&server->alarm, 1);
}

/* A thread ends; nothing of it uses the server afterwards. */
static void thread_left(struct server *server)
{
    fetch_add_release(&server->threads, UINT32_MAX);
    unpark(&server->threads, 1);
}

void server_serve(struct server *server, uint32_t number)
{
    if (server_is_of(server, SERVER_FFWD))
        ffwd_serve(server, number);
    else
        rcl_serve(server, number);
}

bool delegate_wait(struct delegate *delegate, struct atomic_u32 *cell,
                   const struct deadline *deadline, bool *in_time)
{
    const struct server *server = delegate_server(delegate);
    if (server && server_is_of(server, SERVER_RCL)) {
        *in_time = rcl_wait(delegate, cell, deadline);
    } else if (delegate->executor == 0) {
        const uint32_t seen = load_relaxed(cell);
        delegate->operations->unlock(&delegate->lock);
        *in_time = park(cell, seen, deadline);
        delegate->operations->lock(&delegate->lock);
    } else {
        return false;
    }
    return true;
}

/* `argument` is what the thread serves. */
static void *thread_body(void *argument)
{
    const uint32_t serves = (uint32_t)(uintptr_t)argument;
    struct server *server = server_of(serves);
    server_serve(server, server_thread_of(serves));
    thread_left(server);
    return NULL;
}

static bool add_thread(struct server *server)
{
    uint32_t number = fetch_add_relaxed(&server->threads, 1) + 1;
    void *argument = (void *)(uintptr_t)server_mark(server, number);
    if (number <= SERVER_THREADS_MOST &&
        start_thread(thread_body, argument, urgency(URGENT_THREAD)))
        return true;
    thread_left(server);
    return false;
}

void server_add_thread(struct server *server)
{
    if (STARTS_THREADS)
        add_thread(server);
}

/* Replaces a thread whose section has not ended for some time while others wait. */
static void *manager_body(void *argument)
{
    struct server *server = argument;
    uint64_t pause_ns = WATCH_FIRST_NS;
    for (;;) {
        uint32_t seen = load_acquire(&server->alarm);
        if (load_relaxed(&server->stopping))
            break;
        if (!rcl_others_wait(server, 0)) {
            pause_ns = WATCH_FIRST_NS;
            park(&server->alarm, seen, NULL);
            continue;
        }
        uint64_t before = load_relaxed(&server->sections);
        struct deadline at = deadline_after(pause_ns);
        while (!deadline_passed(&at) && !load_relaxed(&server->stopping))
            park(&server->alarm, load_acquire(&server->alarm), &at);
        if (load_relaxed(&server->sections) != before) {
            pause_ns = 2 * pause_ns < WATCH_LAST_NS ? 2 * pause_ns : WATCH_LAST_NS;
        } else if (rcl_replace(server)) {
            fetch_add_relaxed(&server->counts.replaced, 1);
            pause_ns = WATCH_FIRST_NS;
        }
    }
    thread_left(server);
    return NULL;
}

static bool start_threads(struct server *server)
{
    if (!add_thread(server))
        return false;
    if (server_is_of(server, SERVER_FFWD))
        return true;
    fetch_add_relaxed(&server->threads, 1);
    if (start_thread(manager_body, server, urgency(URGENT_MANAGER)))
        return true;
    thread_left(server);
    return false;
}

/* Resets a server that has no threads, and starts them. If that fails, the generation
 * stays an old one, so that the next call tries again. */
static bool start(struct server *server)
{
    store_relaxed(&server->turn, 0);
    store_relaxed(&server->asleep, 0);
    store_relaxed(&server->returning, 0);
    store_relaxed(&server->spares, 0);
    store_relaxed(&server->threads, 0);
    store_relaxed(&server->stopping, 0);
    if (STARTS_THREADS && !start_threads(server))
        return false;
    store_release(&server->generation, fork_generation());
    return true;
}

void server_dismiss(struct server *server)
{
    store_release(&server->stopping, 1);
    server_notify_surely(server);
    turn_announce(server);
    server_alarm(server);
}

static void stop(struct server *server)
{
    uint32_t left;
    server_dismiss(server);
    while (STARTS_THREADS && (left = load_acquire(&server->threads)) != 0)
        park(&server->threads, left, NULL);
}

/* Prepares a server that has no objects. Its threads start later, and the caller counts
 * the first object. */
static void prepare(struct server *server, enum server_kind kind, uint32_t place)
{
    server->place = place;
    server->sleeps = true;
    progress_init(&server->progress);
    server->progress.holds_are_long = true;
    lines_init(&server->lines, server->directories, SERVER_DIRECTORIES, cpu_count());
    for (uint32_t i = 0; kind == SERVER_FFWD && i < RESPONSES_MOST; i++) {
        server->responses[i] = call_take();
        store_relaxed(&ffwd_response_of(server, i * RESPONSE_CLIENTS)->toggles, 0);
    }
}

/* Gives back what prepare() has taken. The server has no objects and no threads. */
static void clear(struct server *server)
{
    lines_destroy(&server->lines);
    for (uint32_t i = 0; server_is_of(server, SERVER_FFWD) && i < RESPONSES_MOST; i++)
        call_give(server->responses[i]);
}

struct server *server_join(enum server_kind kind, uint32_t number)
{
    uint32_t place = (uint32_t)kind * SERVERS_MOST + number;
    struct server *server = &server_table[place];
    bool running = true;
    generation_lock(&server->changing);
    uint32_t before = load_relaxed(&server->objects);
    if (!before)
        prepare(server, kind, place);
    if (!before || load_relaxed(&server->generation) != fork_generation())
        running = start(server);
    if (running) {
        store_relaxed(&server->objects, before + 1);
    } else {
        stop(server);
        if (!before)
            clear(server);
    }
    generation_unlock(&server->changing);
    return running ? server : NULL;
}

void server_part(struct server *server)
{
    generation_lock(&server->changing);
    uint32_t left = load_relaxed(&server->objects) - 1;
    store_relaxed(&server->objects, left);
    if (!left) {
        if (load_relaxed(&server->generation) == fork_generation())
            stop(server);
        clear(server);
    }
    generation_unlock(&server->changing);
}

void server_restart(struct server *server)
{
    generation_lock(&server->changing);
    if (load_relaxed(&server->generation) != fork_generation() && !start(server))
        die("cannot start the threads of a server after a fork");
    generation_unlock(&server->changing);
}
