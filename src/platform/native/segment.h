/* SPDX-License-Identifier: MIT */
/* Segments of loaded ELF files. */
#ifndef HASP_PLATFORM_NATIVE_SEGMENT_H
#define HASP_PLATFORM_NATIVE_SEGMENT_H

#include <link.h>
#include <stdbool.h>

/* Returns whether a segment is mapped. Notes may not be: reading them would fault. */
static inline bool segment_is_loaded(const struct dl_phdr_info *info,
                                     const ElfW(Phdr) * part)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        if (load->p_type == PT_LOAD && part->p_vaddr >= load->p_vaddr &&
            part->p_vaddr + part->p_memsz <= load->p_vaddr + load->p_memsz)
            return true;
    }
    return false;
}

#endif
