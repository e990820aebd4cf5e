/* SPDX-License-Identifier: MIT */
#include "platform/native/cgroup.h"

#include "platform/native/small_file.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PERIOD_US = 100000 };

/* A path that grows and shrinks at its end. */
struct path {
    char text[1024];
    size_t length;
};

static bool path_append(struct path *path, const char *text, size_t length)
{
    if (length >= sizeof path->text - path->length)
        return false;
    memcpy(path->text + path->length, text, length);
    path->length += length;
    path->text[path->length] = '\0';
    return true;
}

static void path_cut(struct path *path, size_t length)
{
    path->length = length;
    path->text[length] = '\0';
}

static long read_in(struct path *folder, const char *name, char *text, size_t size)
{
    size_t length = folder->length;
    long got = -1;
    if (path_append(folder, name, strlen(name)))
        got = small_file_read(folder->text, text, size);
    path_cut(folder, length);
    return got;
}

/* Returns the quota of one cgroup, in CPUs, rounded up; 0 if it has none or does not
 * exist. */
static uint32_t quota_of(struct path *folder, bool v2)
{
    char text[64], *rest = NULL;
    long quota, period = DEFAULT_PERIOD_US;
    if (read_in(folder, v2 ? "/cpu.max" : "/cpu.cfs_quota_us", text, sizeof text) <= 0)
        return 0;
    quota = strtol(text, &rest, 10); /* 0 for "max" */
    if (v2)
        period = strtol(rest, NULL, 10);
    else if (read_in(folder, "/cpu.cfs_period_us", text, sizeof text) > 0)
        period = strtol(text, NULL, 10);
    return quota > 0 && period > 0 ? (uint32_t)((quota + period - 1) / period) : 0;
}

static uint32_t tighter(uint32_t a, uint32_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* Returns the tightest quota from the cgroup up to the root of the hierarchy. In a
 * container the kernel may report the host's path although only the root is mounted, so
 * cgroups that do not exist are skipped. */
static uint32_t tightest(const char *root, const char *hierarchy, const char *group,
                         size_t length, bool v2)
{
    struct path path = {.length = 0};
    if (!path_append(&path, root, strlen(root)) ||
        !path_append(&path, hierarchy, strlen(hierarchy)))
        return 0;
    const size_t top = path.length;
    uint32_t found = 0;
    if (path_append(&path, group, length)) {
        while (path.length > top) {
            found = tighter(found, quota_of(&path, v2));
            while (path.length > top && path.text[path.length - 1] != '/')
                path_cut(&path, path.length - 1);
            if (path.length > top)
                path_cut(&path, path.length - 1); /* the slash */
        }
    }
    return tighter(found, quota_of(&path, v2));
}

static bool names_cpu(const char *controllers, const char *end)
{
    while (controllers < end) {
        size_t length = strcspn(controllers, ",:");
        if (length == 3 && memcmp(controllers, "cpu", 3) == 0)
            return true;
        controllers += length + 1;
    }
    return false;
}

uint32_t cgroup_cpus(const char *membership, const char *root)
{
    char text[4096];
    uint32_t found = 0;
    if (small_file_read(membership, text, sizeof text) <= 0)
        return tightest(root, "", "", 0, true);
    for (char *line = text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        /* number:controllers:path */
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(++controllers, ':') : NULL;
        if (!group)
            continue;
        size_t group_length = strlen(group + 1);
        if (controllers == group) {
            found = tighter(found, tightest(root, "", group + 1, group_length, true));
            found = tighter(found, tightest(root, "/unified", group + 1, group_length,
                                            true));
        } else if (names_cpu(controllers, group)) {
            found = tighter(found, tightest(root, "/cpu", group + 1, group_length,
                                            false));
        }
    }
    return found;
}
