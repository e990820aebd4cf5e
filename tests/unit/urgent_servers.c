/* SPDX-License-Identifier: MIT */
/* The threads of rcl's servers run under SCHED_FIFO on machines with four CPUs or more,
 * where the process may use it, and serve without it where it may not. */
#include "crew.h"

#include "delegation/list/descriptor.h"
#include "delegation/server.h"

#include <dirent.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { SECTIONS = 1000, THREADS = 2 /* one serves, one is the manager */ };

static struct delegate *new_object(const char *name)
{
    const struct lock_operations *lock;
    uint32_t server;
    struct delegate *object = map_pages(sizeof *object);
    int index = executor_find_at(name, &lock, &server);
    CHECK(object && index > 0);
    CHECK(delegate_init_at(object, (unsigned)index, lock, server));
    return object;
}

static void *count_section(void *context)
{
    unsigned long *count = context;
    (*count)++;
    return context;
}

static void use(struct delegate *object)
{
    unsigned long count = 0;
    for (int i = 0; i < SECTIONS; i++)
        CHECK(executor_list[object->executor].operations.run(object, count_section,
                                                             &count) == &count);
    CHECK_EQUAL(count, SECTIONS);
}

/* Returns how many threads of this process run under SCHED_FIFO. */
static unsigned urgent_threads(void)
{
    unsigned urgent = 0;
    DIR *threads = opendir("/proc/self/task");
    CHECK(threads);
    for (struct dirent *entry; (entry = readdir(threads));)
        urgent += atoi(entry->d_name) > 0 &&
                  sched_getscheduler(atoi(entry->d_name)) == SCHED_FIFO;
    closedir(threads);
    return urgent;
}

static bool may_be_urgent(void)
{
    struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    const struct sched_param usual = {0};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest))
        return false;
    CHECK_EQUAL(sched_setscheduler(0, SCHED_OTHER, &usual), 0);
    return true;
}

/* The calling thread gives up what permits SCHED_FIFO. */
static void forgo_urgency(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    const struct rlimit none = {0, 0};
    CHECK_EQUAL(setrlimit(RLIMIT_RTPRIO, &none), 0);
    CHECK_EQUAL(syscall(SYS_capget, &header, sets), 0);
    sets[0].effective &= ~(1u << CAP_SYS_NICE);
    CHECK_EQUAL(syscall(SYS_capset, &header, sets), 0);
    CHECK(!may_be_urgent());
}

int main(void)
{
    const bool may = may_be_urgent();
    struct delegate *usual = new_object("rcl:1");
    use(usual);
    const unsigned before = urgent_threads();
    CHECK_EQUAL(before, may && cpu_count() >= 4 ? THREADS : 0);
    CHECK(topology_read("1x8"));
    struct delegate *urgent = new_object("rcl:2");
    use(urgent);
    CHECK_EQUAL(urgent_threads(), before + (may ? THREADS : 0));
    forgo_urgency();
    struct delegate *refused = new_object("rcl:3");
    use(refused);
    CHECK_EQUAL(urgent_threads(), before + (may ? THREADS : 0));
    if (!may)
        printf("not tried: SCHED_FIFO, which this process may not use\n");
    return 0;
}
