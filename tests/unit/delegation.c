/* SPDX-License-Identifier: MIT */
/* What every executor promises: sections exclude each other, each is executed once, its
 * caller gets its result, sections may call other objects and may block, threads come
 * and go, any number of them, an idle object survives a fork, and waiters sleep. */
#include "crew.h"

#include "delegation/algorithms/lines.h"
#include "delegation/list/descriptor.h"
#include "delegation/server.h"

#include <string.h>
#include <sys/wait.h>

enum { CREW = 8, ROUNDS = 2000, BATCHES = 40, MANY = 24, BEYOND = 8 };

static const struct executor_operations *operations;
static const struct lock_operations *lock;
static int executor;

struct object {
    struct delegate delegate;
    struct object *inner; /* called by each section */
    unsigned long sections, inside;
};

static void *call(struct object *object, void *(*section)(void *), void *context)
{
    return operations->run(&object->delegate, section, context);
}

static struct object *new_object(struct object *inner)
{
    struct object *object = map_pages(sizeof *object);
    CHECK(object);
    CHECK(delegate_init(&object->delegate, (unsigned)executor, lock));
    object->inner = inner;
    return object;
}

/* Returns the number of sections that the object has counted. */
static unsigned long destroy(struct object *object)
{
    const struct delegate_counts *counts = &object->delegate.counts;
    unsigned long counted =
        load_relaxed(&counts->alone) + load_relaxed(&counts->sections);
    CHECK_EQUAL(counted, object->sections);
    CHECK(load_relaxed(&counts->sections) >= 2 * load_relaxed(&counts->holds));
    operations->destroy(&object->delegate);
    return object->sections;
}

/* A request, in the memory of its caller. */
struct request {
    struct object *object;
    unsigned executed;
};

static void ask(struct object *object);

static void *count_section(void *context)
{
    struct request *request = context;
    struct object *object = request->object;
    CHECK_EQUAL(object->inside++, 0);
    object->sections++;
    request->executed++;
    if (object->inner)
        ask(object->inner);
    CHECK_EQUAL(--object->inside, 0);
    return &request->executed;
}

static void ask(struct object *object)
{
    struct request request = {object, 0};
    CHECK(call(object, count_section, &request) == &request.executed);
    CHECK_EQUAL(request.executed, 1);
}

static void ask_often(struct member *self)
{
    for (int i = 0; i < ROUNDS; i++)
        ask(self->subject);
}

static void ask_once(struct member *self)
{
    ask(self->subject);
}

static void run_crew(struct object *object, unsigned count,
                     void (*work)(struct member *))
{
    struct member crew[MANY];
    for (unsigned i = 0; i < count; i++) {
        crew[i] = (struct member){.work = work, .subject = object, .node = ANY_NODE};
        crew_start(&crew[i]);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(crew[i].thread, NULL);
}

static void test_exclusion(void)
{
    struct object *object = new_object(NULL);
    run_crew(object, CREW, ask_often);
    CHECK_EQUAL(destroy(object), CREW * ROUNDS);
}

static void test_nested(void)
{
    struct object *inner = new_object(NULL), *middle = new_object(inner),
                  *outer = new_object(middle);
    run_crew(outer, CREW, ask_once);
    run_crew(middle, CREW, ask_often);
    CHECK_EQUAL(destroy(outer), CREW);
    CHECK_EQUAL(destroy(middle), CREW + CREW * ROUNDS);
    CHECK_EQUAL(destroy(inner), CREW + CREW * ROUNDS);
}

/* More threads than an object can have met at the same time. What they keep for their
 * next sections, they give back when they end. */
static void test_threads_come_and_go(void)
{
    struct object *object = new_object(NULL);
    const uint32_t before = pool_size(&call_pool);
    for (int batch = 0; batch < BATCHES; batch++)
        run_crew(object, MANY, ask_once);
    CHECK(pool_size(&call_pool) - before < BATCHES * MANY / 2);
    CHECK_EQUAL(destroy(object), BATCHES * MANY);
}

static int pipe_ends[2];
static struct atomic_u32 blocks; /* 1 while a section blocks */

static void *blocking_section(void *context)
{
    char byte;
    store_release(&blocks, 1); /* with block_section() */
    CHECK_EQUAL(read(pipe_ends[0], &byte, 1), 1);
    store_relaxed(&blocks, 0);
    return context;
}

static void ask_to_block(struct member *self)
{
    struct object *object = self->subject;
    CHECK(call(object, blocking_section, self) == self);
}

/* Starts a thread and returns once its section blocks. That the thread sleeps would not
 * tell: its section may not have begun, and those of later threads could come first. */
static void block_section(struct member *blocked, struct object *object)
{
    *blocked =
        (struct member){.work = ask_to_block, .subject = object, .node = ANY_NODE};
    crew_start(blocked);
    while (!load_acquire(&blocks))
        usleep(SAMPLE_US);
}

/* While a section blocks, the other callers sleep, if they can. */
static void test_blocking(void)
{
    struct object *object = new_object(NULL);
    struct member blocked, crew[CREW];
    CHECK_EQUAL(pipe(pipe_ends), 0);
    block_section(&blocked, object);
    for (int i = 0; i < CREW; i++) {
        crew[i] =
            (struct member){.work = ask_once, .subject = object, .node = ANY_NODE};
        crew_start(&crew[i]);
    }
    bool sleeps = executor_list[executor].about.parks;
    for (int i = 0; i < CREW && sleeps; i++)
        while (usage_of(load_relaxed(&crew[i].id)).state != 'S')
            usleep(SAMPLE_US);
    CHECK_EQUAL(object->sections, 0);
    CHECK_EQUAL(write(pipe_ends[1], "", 1), 1);
    for (int i = 0; i < CREW; i++)
        pthread_join(crew[i].thread, NULL);
    pthread_join(blocked.thread, NULL);
    CHECK_EQUAL(object->sections, CREW);
    operations->destroy(&object->delegate);
}

static uint32_t lines_in_use(const struct lines *lines)
{
    const uint32_t count = lines_count(lines);
    uint32_t used = 0;
    for (uint32_t index = 0; index < count; index++) {
        const struct call *line = line_at(lines, index);
        used += line && load_relaxed(&line->owned);
    }
    return used;
}

/* More threads ask at the same time than there can be lines: the others wait for one.
 * Hundreds of threads that never sleep would take a minute. */
static void test_more_callers_than_lines(void)
{
    if (!executor_list[executor].about.parks)
        return;
    struct object *object = new_object(NULL);
    const struct server *server = delegate_server(&object->delegate);
    const struct lines *lines = server ? &server->lines : &object->delegate.lines;
    const uint32_t most = lines->most, count = most ? most + BEYOND : 0;
    struct member blocked, *crew = map_pages((count + 1) * sizeof *crew);
    block_section(&blocked, object);
    for (uint32_t i = 0; i < count; i++) {
        crew[i] =
            (struct member){.work = ask_once, .subject = object, .node = ANY_NODE};
        crew_start(&crew[i]);
    }
    while (lines_in_use(lines) < most)
        usleep(SAMPLE_US);
    CHECK_EQUAL(object->sections, 0);
    CHECK_EQUAL(write(pipe_ends[1], "", 1), 1);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(crew[i].thread, NULL);
    pthread_join(blocked.thread, NULL);
    CHECK_EQUAL(object->sections, count);
    operations->destroy(&object->delegate);
}

static void test_fork(void)
{
    if (executor_has_servers(&executor_list[executor].about) &&
        !child_may_start_threads("servers after fork()"))
        return;
    struct object *object = new_object(NULL);
    int status;
    run_crew(object, CREW, ask_once);
    ask(object); /* the child's thread has what this one keeps */
    pid_t child = fork();
    if (child == 0) {
        ask(object);
        run_crew(object, CREW, ask_once);
        _exit(destroy(object) != 2 * CREW + 2);
    }
    ask(object);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    run_crew(object, CREW, ask_once);
    CHECK_EQUAL(destroy(object), 2 * CREW + 2);
}

/* Objects give back what they have taken. */
static void test_space(void)
{
    uint32_t before = 0;
    for (int i = 0; i < BATCHES; i++) {
        struct object *object = new_object(NULL);
        ask(object);
        destroy(object);
        before = i ? before : pool_size(&call_pool);
    }
    CHECK_EQUAL(pool_size(&call_pool), before);
}

static void test_names(void)
{
    const struct lock_operations *found;
    CHECK_EQUAL(executor_find("none", &found), -1);
    CHECK_EQUAL(executor_find("lock:none", &found), -1);
    CHECK_EQUAL(executor_find("lock:glibc", &found), -1);
    CHECK_EQUAL(executor_find("lock", &found), -1);
    CHECK_EQUAL(executor_find("lock:mcs", &found), 0);
    CHECK(found);
    CHECK(executor_find("CC_Synch", &found) > 0);
}

int main(int count, char **words)
{
    crew_watch_forks();
    const char *name = count > 1 ? words[1] : "adaptive";
    executor = executor_find(name, &lock);
    CHECK(executor >= 0);
    operations = &executor_list[executor].operations;
    test_names();
    test_space();
    test_exclusion();
    test_nested();
    test_threads_come_and_go();
    test_blocking();
    test_more_callers_than_lines();
    test_fork();
    return 0;
}
