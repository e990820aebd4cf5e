/* SPDX-License-Identifier: MIT */
/* Clients of executors: sections of one object exclude each other, each is executed
 * exactly once and sees what those before it did, and its caller gets its result. */
#include "explorer/base/variables.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/suitable.h"
#include "explorer/execution/services.h"

#include "delegation/list/descriptor.h"

static unsigned executor;
static const struct lock_operations *lock_operations;
static struct delegate outer_delegate;

/* Guarded by the delegates: the compiler reports every access, and the explorer those
 * that are not ordered. */
static uint32_t outer_sections;

/* Contexts: written by the caller, read and written by whoever executes. */
struct request {
    uint32_t executed, value;
};

int executor_client_find(const char *name)
{
    const struct lock_operations *lock;
    int index = executor_find(name, &lock);
    return index ? index : -1;
}

struct lock_descriptor executor_client_uses(unsigned index)
{
    executor = index;
    lock_operations = NULL;
    return executor_list[index].about;
}

static void make(struct delegate *delegate)
{
    expect(delegate_init(delegate, executor, lock_operations), "no memory");
}

/* The first thread makes both objects. */
static void prepare(unsigned thread)
{
    if (thread == 0) {
        begin_operation();
        make(&client_delegate);
        make(&outer_delegate);
        store_release(&flag, 1);
    } else {
        spin_until(load_acquire(&flag));
    }
}

static void *call(struct delegate *delegate, void *(*section)(void *), void *context)
{
    begin_operation();
    return executor_list[executor].operations.run(delegate, section, context);
}

static void *count_section(void *context)
{
    struct request *request = context;
    expect(request != NULL, "a section has no context");
    expect(inside == 0, "two sections at once");
    inside = 1;
    request->value = ++sections;
    expect(++request->executed == 1, "a section is executed twice");
    inside = 0;
    return context;
}

static void ask(void)
{
    struct request request = {0, 0};
    void *result = call(&client_delegate, count_section, &request);
    expect(request.executed == 1, "a caller returns before its section");
    expect(result == &request, "a caller gets another result");
    expect(request.value != 0, "a caller does not see its section");
}

static void *outer_section(void *context)
{
    outer_sections++;
    ask();
    return context;
}

static void once(unsigned thread)
{
    prepare(thread);
    ask();
}

static void twice(unsigned thread)
{
    prepare(thread);
    ask();
    ask();
}

/* One thread calls the object inside a section of another one. */
static void nested(unsigned thread)
{
    prepare(thread);
    if (thread == 2)
        ask();
    else
        call(&outer_delegate, outer_section, &outer_sections);
}

/* While nobody uses the object, a thread forks; another one starts in the child. */
static void fork_while_idle(unsigned thread)
{
    if (thread < 2) {
        prepare(thread);
        ask();
        fetch_add_acq_rel(&arrived, 1);
    }
    if (thread == 1)
        return;
    if (thread == 0) {
        spin_until(load_acquire(&arrived) == 2);
        fork_here();
    }
    ask();
}

static void finish_with(uint32_t expected)
{
    expect(sections == expected, "a section is missing");
    begin_operation();
    executor_list[executor].operations.destroy(&client_delegate);
    executor_list[executor].operations.destroy(&outer_delegate);
}

static void finish_two(void)
{
    finish_with(2);
}

static void finish_three(void)
{
    finish_with(3);
}

static void finish_four(void)
{
    finish_with(4);
}

static void finish_nested(void)
{
    expect(outer_sections == 2, "a section is missing");
    finish_with(3);
}

const struct client executor_clients[] = {
    {.name = "pair",
     .summary = "two threads, one section each",
     .threads = 2,
     .body = once,
     .finish = finish_two,
     .nodes = {0, 1}},
    {.name = "twice",
     .summary = "two threads, two sections each",
     .threads = 2,
     .body = twice,
     .finish = finish_four},
    {.name = "three",
     .summary = "three threads, one section each",
     .threads = 3,
     .body = once,
     .finish = finish_three,
     .alike = BIT(1) | BIT(2)},
    {.name = "four",
     .summary = "four threads, one section each: more than one combiner executes",
     .threads = 4,
     .body = once,
     .finish = finish_four,
     .alike = BIT(1) | BIT(2) | BIT(3)},
    {.name = "nodes",
     .summary = "three threads on two NUMA nodes, one section each",
     .threads = 3,
     .body = once,
     .finish = finish_three,
     .nodes = {0, 1, 1},
     .alike = BIT(1) | BIT(2)},
    {.name = "nested",
     .summary = "sections of one object call another one, which a third thread calls",
     .threads = 3,
     .body = nested,
     .finish = finish_nested},
    {.name = "fork",
     .summary = "a thread forks while the object is idle; another one starts",
     .threads = 3,
     .body = fork_while_idle,
     .finish = finish_four,
     .child = 2},
    {.name = "spurious",
     .summary = "two threads, two sections each; each may wake up spuriously once",
     .threads = 2,
     .suits = parks,
     .body = twice,
     .finish = finish_four,
     .spurious_wakeups = 1},
};
const unsigned executor_client_count =
    sizeof executor_clients / sizeof executor_clients[0];
