/* SPDX-License-Identifier: MIT */
/*
 * Finds the load addresses of the plan's modules in this process.
 *
 * Each search finds all modules anew and stores each result in a single cell, so it
 * needs no lock, and a fork cannot interrupt it half-way: two threads that search at
 * once store the same values. If a search comes too early or too late, a mutex gets the
 * fallback algorithm, which is always correct.
 */
#include "preload/plan.h"

#include "platform/native/segment.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The loader's counter of changes when the modules were found; never 0 then. */
static struct atomic_u64 seen;
static struct atomic_u32 complete, expecting;

/* Hasp's own code: this library and the recorder's. */
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

/* The name under which the program was started, which may be a symbolic link. */
static const char *started_as(void)
{
    const char *path = (const char *)getauxval(AT_EXECFN);
    return path ? file_name(path) : "";
}

static bool same_build(const struct dl_phdr_info *info, const char *wanted)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE || !segment_is_loaded(info, segment))
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

struct search {
    uint64_t changes;
    bool first, found[PLAN_MODULES];
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct search *search = argument;
    if (search->first) {
        search->changes = info->dlpi_adds + info->dlpi_subs;
        if (search->changes == load_relaxed(&seen))
            return 1;
    }
    char link[4096];
    const char *name = file_name(info->dlpi_name), *other_name = name;
    if (search->first && !*name) { /* the program itself */
        ssize_t length = readlink("/proc/self/exe", link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        name = file_name(link);
        other_name = started_as();
    }
    search->first = false;
    if (strncmp(name, "libhasp", 7) == 0)
        note_own(info, strncmp(name, "libhasp-profile", 15) == 0);
    for (unsigned i = 0; i < plan.modules; i++) {
        struct plan_module *module = &plan.module[i];
        bool same = module->build_id[0] == '-'
                        ? strcmp(name, module->name) == 0 ||
                              strcmp(other_name, module->name) == 0
                        : same_build(info, module->build_id);
        if (same && !search->found[i]) {
            search->found[i] = true;
            store_relaxed(&module->bias, info->dlpi_addr);
            store_release(&module->loaded, 1); /* pairs with within() in plan.c */
        }
    }
    return 0;
}

void plan_find_modules(void)
{
    if (likely(load_acquire(&complete)) && likely(!load_relaxed(&expecting)))
        return;
    struct search search = {.first = true};
    if (dl_iterate_phdr(visit_module, &search))
        return;
    bool all = true;
    for (unsigned i = 0; i < plan.modules; i++) {
        if (!search.found[i])
            store_relaxed(&plan.module[i].loaded, 0);
        all = all && search.found[i];
    }
    store_relaxed(&seen, search.changes);
    store_release(&complete, all); /* pairs with the load in plan_find_modules() */
}

void plan_expect_modules(void)
{
    store_relaxed(&expecting, 1);
}
