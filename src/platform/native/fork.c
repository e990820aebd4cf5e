/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <sys/mman.h>

static struct fork_page stand_in = {.unforked = {UNFORKED_EVER}};
struct fork_page *fork_page = &stand_in;
struct atomic_u32 fork_generation_number = {1};

void fork_watch(void)
{
    if (fork_page != &stand_in)
        return;
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {
        munmap(page, 4096);
        return;
    }
    struct fork_page *watched = page;
    store_relaxed(&watched->unforked, load_relaxed(&stand_in.unforked));
    fork_page = watched;
}

void fork_detected(void)
{
    uint32_t idle = 0;
    if (compare_exchange_acquire(&fork_page->detecting, &idle, 1)) {
        if (!load_relaxed(&fork_page->unforked)) {
            uint32_t next = load_relaxed(&fork_generation_number) + 1;
            store_relaxed(&fork_generation_number, next > 0xfffe ? 2 : next);
            store_release(&fork_page->unforked, UNFORKED_SINCE);
        }
        store_release(&fork_page->detecting, 0);
    } else {
        spin_until(!load_acquire(&fork_page->detecting));
    }
}

void fork_in_child(void)
{
    /* A thread of the parent may have set this. */
    store_relaxed(&fork_page->detecting, 0);
    store_relaxed(&fork_page->unforked, 0);
    fork_detected();
}
