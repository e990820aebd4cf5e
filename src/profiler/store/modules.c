/* SPDX-License-Identifier: MIT */
#include "profiler/store/modules.h"

#include "platform/native/segment.h"

#include <elf.h>
#include <link.h>
#include <string.h>

enum { MODULES_MOST = 1 << 14 };

SERIES(module_records, TRACE_MODULES, struct trace_module, MODULES_MOST);

static struct atomic_u32 looking;
static unsigned long long loads_seen; /* the loader's counter of loads */

void modules_forget(void)
{
    loads_seen = 0;
    store_relaxed(&looking, 0);
    series_forget(&module_records);
}

static void find_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * header,
                          struct trace_module *module)
{
    const char *at = (const char *)(info->dlpi_addr + header->p_vaddr);
    const char *end = at + header->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = at + sizeof *note;
        const char *text = name + ((note->n_namesz + 3) & ~3u);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            memcmp(name, "GNU", 4) == 0) {
            uint32_t bytes = note->n_descsz;
            if (bytes > sizeof module->build_id)
                bytes = sizeof module->build_id;
            module->build_id_bytes = bytes;
            memcpy(module->build_id, text, bytes);
            return;
        }
        at = text + ((note->n_descsz + 3) & ~3u);
    }
}

static void set_path(struct trace_module *module, const char *path)
{
    if (!*path)
        path = trace->executable; /* the main program */
    size_t length = strlen(path), space = sizeof module->path - 1;
    memcpy(module->path, length > space ? path + length - space : path,
           length > space ? space : length);
}

static bool known(const struct trace_module *module)
{
    for (uint32_t i = load_relaxed(&module_records.count); i > 0; i--) {
        const struct trace_module *other = series_at(&module_records, i);
        if (other->begin == module->begin && other->end == module->end &&
            strcmp(other->path, module->path) == 0)
            return true;
    }
    return false;
}

bool modules_contain(uint64_t address)
{
    for (uint32_t i = load_acquire(&module_records.count); i > 0; i--) {
        const struct trace_module *module = series_at(&module_records, i);
        if (address >= module->begin && address < module->end)
            return true;
    }
    return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct trace_module module = {.begin = UINT64_MAX, .bias = info->dlpi_addr};
    uint32_t number;
    (void)size;
    (void)argument;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_NOTE && !module.build_id_bytes &&
            segment_is_loaded(info, header))
            find_build_id(info, header, &module);
        if (header->p_type != PT_LOAD)
            continue;
        if (begin < module.begin)
            module.begin = begin;
        if (begin + header->p_memsz > module.end)
            module.end = begin + header->p_memsz;
    }
    set_path(&module, info->dlpi_name);
    if (module.end && !known(&module))
        series_append(&module_records, &module, &number);
    return 0;
}

static int read_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

void modules_scan(void)
{
    unsigned long long loads = 0;
    if (exchange_acquire(&looking, 1))
        return;
    dl_iterate_phdr(read_loads, &loads);
    if (loads != loads_seen) {
        dl_iterate_phdr(visit, NULL);
        loads_seen = loads;
    }
    store_release(&looking, 0); /* pairs with the exchange that takes it */
}
