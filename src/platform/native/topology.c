/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include "platform/native/cgroup.h"
#include "platform/native/small_file.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    NODES_MAX = 256,
    OVERRIDE_NODES_MAX = 64,
    OVERRIDE_CPUS_MAX = 1024,
    MASK_BYTES_MIN = 4096, /* 32,768 CPUs; Linux supports 8,192 today */
    MASK_BYTES_MAX = 1 << 20,
};

/* Source of a thread's node: the kernel, or one of the overrides. */
enum placement { BY_KERNEL, BY_CPU, BY_THREAD, BY_CALL };

static struct atomic_u32 known;
static uint32_t cpus = 1, nodes = 1;
static enum placement placement;
static enum cohort_choice choice = COHORTS_AUTO;
static struct cohorts cohorts;
static uint8_t cohort_of_cpu[COHORT_CPUS_MAX];
static struct atomic_u32 calls;

/* Returns the number of CPUs in the calling thread's affinity mask, or 0 if it cannot
 * be read. The kernel refuses a buffer smaller than its own mask with EINVAL. */
static uint32_t affinity_cpus(void)
{
    uint32_t count = 0;
    long filled = -EINVAL;
    for (size_t bytes = MASK_BYTES_MIN; filled == -EINVAL && bytes <= MASK_BYTES_MAX;
         bytes *= 2) {
        unsigned long *mask = map_pages(bytes); /* a stack may be too small */
        if (!mask)
            return 0;
        filled =
            raw_syscall(SYS_sched_getaffinity, 0, (long)bytes, (long)mask, 0, 0, 0);
        for (long i = 0; i < filled / (long)sizeof *mask; i++)
            count += (uint32_t)__builtin_popcountl(mask[i]);
        raw_syscall(SYS_munmap, (long)mask, (long)bytes, 0, 0, 0, 0);
    }
    return count;
}

/* Returns one more than the highest number of an online node. */
static uint32_t online_nodes(void)
{
    char text[1024], *end; /* for example "0-3,8\n" */
    unsigned long last = 0;
    if (small_file_read("/sys/devices/system/node/online", text, sizeof text) > 0)
        for (char *at = text; *at >= '0' && *at <= '9'; at = *end ? end + 1 : end)
            last = strtoul(at, &end, 10);
    return last < NODES_MAX ? (uint32_t)last + 1 : NODES_MAX;
}

struct override {
    unsigned long nodes, cpus_per_node;
    enum placement placement;
};

static bool parse_override(const char *text, struct override *override)
{
    char *end;
    override->nodes = strtoul(text, &end, 10);
    if (end == text || *end != 'x')
        return false;
    text = end + 1;
    override->cpus_per_node = strtoul(text, &end, 10);
    if (end == text || override->nodes < 1 || override->nodes > OVERRIDE_NODES_MAX ||
        override->cpus_per_node < 1 ||
        override->nodes * override->cpus_per_node > OVERRIDE_CPUS_MAX)
        return false;
    if (*end == '\0')
        override->placement = BY_CPU;
    else if (strcmp(end, ",threads") == 0)
        override->placement = BY_THREAD;
    else if (strcmp(end, ",roam") == 0)
        override->placement = BY_CALL;
    else
        return false;
    return true;
}

bool topology_read(const char *text)
{
    uint32_t allowed = affinity_cpus();
    uint32_t quota = cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    struct override override;
    bool overridden = text && *text && parse_override(text, &override);
    if (overridden) {
        nodes = (uint32_t)override.nodes;
        cpus = (uint32_t)(override.nodes * override.cpus_per_node);
        placement = override.placement;
        cohorts = (struct cohorts){.count = nodes, .nodes = nodes, .cpus = cpus};
    } else {
        nodes = online_nodes();
        cpus = quota && quota < allowed ? quota : allowed ? allowed : 1;
        placement = BY_KERNEL;
        cohorts = cohorts_read("/sys/devices/system", choice, cohort_of_cpu);
    }
    store_release(&known, 1);
    return overridden || !text || !*text;
}

bool topology_choose_cohorts(const char *text)
{
    if (!cohorts_parse(text, &choice))
        return false;
    store_release(&known, 0);
    return true;
}

static void ensure_known(void)
{
    if (unlikely(!load_acquire(&known)))
        topology_read(NULL); /* two threads may do so at once and find the same */
}

uint32_t cpu_count(void)
{
    ensure_known();
    return cpus;
}

uint32_t array_slots(void)
{
    static struct atomic_u32 chosen; /* the CPUs may be read anew, and differ */
    uint32_t slots = load_relaxed(&chosen), none = 0;
    if (likely(slots))
        return slots;
    slots = ARRAY_SLOTS;
    while (slots < cpu_count())
        slots *= 2;
    return compare_exchange_relaxed(&chosen, &none, slots) ? slots : none;
}

uint32_t node_count(void)
{
    ensure_known();
    return nodes;
}

uint32_t current_node(void)
{
    unsigned cpu = 0, node = 0;
    ensure_known();
    if (unlikely(placement == BY_THREAD))
        return current_thread() % nodes;
    if (unlikely(placement == BY_CALL))
        return fetch_add_relaxed(&calls, 1) % nodes;
    getcpu(&cpu, &node); /* vDSO */
    if (unlikely(placement == BY_CPU))
        return cpu % nodes;
    return node < nodes ? node : 0;
}

struct cohorts topology_cohorts(void)
{
    ensure_known();
    return cohorts;
}

uint32_t current_cohort(void)
{
    unsigned cpu = 0, node = 0;
    ensure_known();
    if (likely(!cohorts.by_cache))
        return current_node();
    getcpu(&cpu, &node);
    return cohort_of_cpu[cpu < COHORT_CPUS_MAX ? cpu : 0];
}
