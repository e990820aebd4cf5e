/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How a thread's node is found: by its CPU, or one of the pretences of an override. */
enum placement { BY_CPU, BY_THREAD, BY_QUESTION };

static struct atomic_u32 known;
static uint32_t cpus = 1, nodes = 1;
static uint8_t node_of[TOPOLOGY_CPUS_MAX];
static enum placement placement;
static struct atomic_u32 questions;

/* Reads a small file without stdio (which may lock and allocate); returns its length or
 * -1. */
static long read_file(const char *path, char *text, size_t size)
{
    long file =
        raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (file < 0)
        return -1;
    long length = raw_syscall(SYS_read, file, (long)text, (long)size - 1, 0, 0, 0);
    raw_syscall(SYS_close, file, 0, 0, 0, 0, 0);
    if (length < 0)
        return -1;
    text[length] = '\0';
    return length;
}

/* Calls visit(number, argument) for each number of a sysfs list such as "0-3,8-11". */
static void each_in_list(const char *list, void (*visit)(uint32_t, uint32_t),
                         uint32_t argument)
{
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long i = first; i <= last && i < TOPOLOGY_CPUS_MAX; i++)
            visit((uint32_t)i, argument);
        list = *end == ',' ? end + 1 : end;
    }
}

static void place_cpu(uint32_t cpu, uint32_t node)
{
    node_of[cpu] = (uint8_t)node;
}

static void read_node(uint32_t node, uint32_t unused)
{
    (void)unused;
    char path[64] = "/sys/devices/system/node/node", text[4096];
    char digits[12];
    int length = 0;
    uint32_t rest = node;
    do
        digits[length++] = (char)('0' + rest % 10);
    while (rest /= 10);
    char *at = path + strlen(path);
    while (length)
        *at++ = digits[--length];
    strcpy(at, "/cpulist");
    if (node > 255 || read_file(path, text, sizeof text) <= 0)
        return;
    each_in_list(text, place_cpu, node);
    if (node + 1 > nodes)
        nodes = node + 1;
}

/* CPUs' worth of time that the cgroup grants, rounded up; 0 when unlimited. */
static uint32_t quota_cpus(void)
{
    char text[128];
    long quota = -1, period = 100000;
    if (read_file("/sys/fs/cgroup/cpu.max", text, sizeof text) > 0) {
        char *end;
        if (text[0] != 'm') {
            quota = strtol(text, &end, 10);
            period = strtol(end, NULL, 10);
        }
    } else if (read_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", text, sizeof text) >
               0) {
        quota = strtol(text, NULL, 10);
        if (read_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", text, sizeof text) > 0)
            period = strtol(text, NULL, 10);
    }
    return quota > 0 && period > 0 ? (uint32_t)((quota + period - 1) / period) : 0;
}

struct override {
    unsigned long node_number, each;
    enum placement placement;
};

static bool parse_override(const char *text, struct override *override)
{
    char *end;
    override->node_number = strtoul(text, &end, 10);
    if (end == text || *end != 'x')
        return false;
    text = end + 1;
    override->each = strtoul(text, &end, 10);
    if (end == text || override->node_number < 1 || override->node_number > 64 ||
        override->each < 1 ||
        override->node_number * override->each > TOPOLOGY_CPUS_MAX)
        return false;
    if (*end == '\0')
        override->placement = BY_CPU;
    else if (strcmp(end, ",threads") == 0)
        override->placement = BY_THREAD;
    else if (strcmp(end, ",roam") == 0)
        override->placement = BY_QUESTION;
    else
        return false;
    return true;
}

static void pretend(const struct override *override)
{
    nodes = (uint32_t)override->node_number;
    cpus = (uint32_t)(override->node_number * override->each);
    placement = override->placement;
    for (uint32_t cpu = 0; cpu < TOPOLOGY_CPUS_MAX; cpu++)
        node_of[cpu] = (uint8_t)(cpu % nodes);
}

bool topology_read(const char *text)
{
    unsigned long mask[TOPOLOGY_CPUS_MAX / 64] = {0};
    long bytes =
        raw_syscall(SYS_sched_getaffinity, 0, sizeof mask, (long)mask, 0, 0, 0);
    uint32_t allowed = 0;
    for (long i = 0; i < bytes / 8; i++)
        allowed += (uint32_t)__builtin_popcountl(mask[i]);
    uint32_t quota = quota_cpus();
    cpus = quota && quota < allowed ? quota : allowed;
    if (!cpus)
        cpus = 1;
    placement = BY_CPU;
    char online[256];
    if (read_file("/sys/devices/system/node/online", online, sizeof online) > 0)
        each_in_list(online, read_node, 0);
    bool understood = true;
    if (text && *text) {
        struct override override;
        understood = parse_override(text, &override);
        if (understood)
            pretend(&override);
    }
    store_release(&known, 1);
    return understood;
}

static void know(void)
{
    if (unlikely(!load_acquire(&known)))
        topology_read(NULL); /* twice at once does no harm: both find the same */
}

uint32_t cpu_count(void)
{
    know();
    return cpus;
}

uint32_t node_count(void)
{
    know();
    return nodes;
}

uint32_t current_node(void)
{
    know();
    if (unlikely(placement != BY_CPU))
        return (placement == BY_THREAD ? current_thread()
                                       : fetch_add_relaxed(&questions, 1)) %
               nodes;
    unsigned cpu = 0;
    getcpu(&cpu, NULL); /* vDSO */
    return node_of[cpu % TOPOLOGY_CPUS_MAX];
}
