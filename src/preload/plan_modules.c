/* SPDX-License-Identifier: MIT */
/*
 * Where the plan's modules lie in this process.
 *
 * Everything is found again at every look and stored in single cells, so there is
 * nothing to lock, and nothing that a fork could leave half done: two threads that look
 * at once store the same. A look that comes too early or too late gives a mutex the
 * usual lock, which is as correct as any.
 */
#include "preload/plan.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* The loader's counters when the modules were found; 0 is never one. */
static struct atomic_u64 seen;
static struct atomic_u32 complete, expecting;

/* Hasp's own code: this library and the profiler's. */
enum { OWN = 2 };
static struct atomic_u64 own_begin[OWN], own_end[OWN];

bool plan_is_own(uintptr_t address)
{
    for (unsigned i = 0; i < OWN; i++)
        if (address >= load_relaxed(&own_begin[i]) &&
            address < load_relaxed(&own_end[i]))
            return true;
    return false;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool same_build(const struct dl_phdr_info *info, const char *wanted)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
        const char *end = at + segment->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *owner = at + sizeof *note;
            const char *id = owner + ((note->n_namesz + 3) & ~3u);
            at = id + ((note->n_descsz + 3) & ~3u);
            if (note->n_type != NT_GNU_BUILD_ID || strcmp(owner, "GNU") != 0)
                continue;
            static const char digits[] = "0123456789abcdef";
            for (unsigned k = 0; k < note->n_descsz; k++, wanted += 2)
                if (wanted[0] != digits[(uint8_t)id[k] >> 4] ||
                    wanted[1] != digits[id[k] & 15])
                    return false;
            return *wanted == '\0';
        }
    }
    return false;
}

static void note_own(const struct dl_phdr_info *info, unsigned which)
{
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + segment->p_vaddr;
        begin = at < begin ? at : begin;
        end = at + segment->p_memsz > end ? at + segment->p_memsz : end;
    }
    store_relaxed(&own_begin[which], begin);
    store_relaxed(&own_end[which], end);
}

struct look {
    uint64_t changes;
    bool first, found[PLAN_MODULES];
};

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct look *look = argument;
    if (look->first) {
        look->changes = info->dlpi_adds + info->dlpi_subs;
        if (look->changes == load_relaxed(&seen))
            return 1;
    }
    char link[4096];
    const char *name = file_name(info->dlpi_name);
    if (look->first && !*name) { /* the program itself */
        ssize_t length = readlink("/proc/self/exe", link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        name = file_name(link);
    }
    look->first = false;
    if (strncmp(name, "libhasp", 7) == 0)
        note_own(info, strncmp(name, "libhasp-profile", 15) == 0);
    for (unsigned i = 0; i < plan.modules; i++) {
        struct plan_module *module = &plan.module[i];
        bool same = module->build_id[0] == '-' ? strcmp(name, module->name) == 0
                                               : same_build(info, module->build_id);
        if (same && !look->found[i]) {
            look->found[i] = true;
            store_relaxed(&module->bias, info->dlpi_addr);
            store_release(&module->loaded, 1);
        }
    }
    return 0;
}

void plan_find_modules(void)
{
    if (likely(load_acquire(&complete)) && likely(!load_relaxed(&expecting)))
        return;
    struct look look = {.first = true};
    if (dl_iterate_phdr(look_at, &look))
        return;
    bool all = true;
    for (unsigned i = 0; i < plan.modules; i++) {
        if (!look.found[i])
            store_relaxed(&plan.module[i].loaded, 0);
        all = all && look.found[i];
    }
    store_relaxed(&seen, look.changes);
    store_release(&complete, all);
}

void plan_expect_modules(void)
{
    store_relaxed(&expecting, 1);
}
