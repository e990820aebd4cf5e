/* SPDX-License-Identifier: MIT */
/*
 * Memory that has been unlinked, and waits until no reader can hold it (epochs.h).
 *
 * A map has several lists of it, and a thread uses the one that its record selects. A
 * list is a stack: retiring pushes, and collecting takes the whole list and pushes back
 * what cannot be freed yet. So nobody waits, a thread that exits leaves nothing behind,
 * and the child of a fork finds the lists complete, except for what another thread was
 * collecting.
 */
#ifndef HASP_STRUCTURES_MAP_RETIRED_H
#define HASP_STRUCTURES_MAP_RETIRED_H

#include "structures/map/epochs.h"

/* RETIRED_BLOCK: of a transactional memory, which has lists of its own. */
enum retired_kind {
    RETIRED_NODE,
    RETIRED_LINK,
    RETIRED_TABLE,
    RETIRED_BLOCK,
    RETIRED_KINDS
};

/* At the beginning of everything that can be retired. */
struct retired {
    struct retired *next;
    uint64_t tag; /* the epoch of retired_collect(), 0 until then; times RETIRED_KINDS,
                   * plus the kind */
};

struct retired_list {
    struct atomic_u64 head;
} __attribute__((aligned(64)));

static inline enum retired_kind retired_kind(const struct retired *item)
{
    return (enum retired_kind)(item->tag % RETIRED_KINDS);
}

/* Release: pairs with the acquire in retired_take. */
static inline void retired_push_all(struct retired_list *list, struct retired *first,
                                    struct retired *last)
{
    uint64_t head = load_relaxed(&list->head);
    do
        last->next = (struct retired *)(uintptr_t)head;
    while (!compare_exchange_release(&list->head, &head, (uint64_t)(uintptr_t)first));
}

static inline void retired_push(struct retired_list *list, struct retired *item)
{
    retired_push_all(list, item, item);
}

static inline struct retired *retired_take(struct retired_list *list)
{
    return (struct retired *)(uintptr_t)exchange_acquire(&list->head, 0);
}

/* Takes from the list what no reader can hold any more, and returns it as a list. */
static inline struct retired *retired_collect(struct retired_list *list,
                                              struct epochs *epochs)
{
    struct retired *item = retired_take(list), *freed = NULL, *kept = NULL,
                   *last = NULL;
    if (!item)
        return NULL;
    uint64_t now = epochs_advance(epochs); /* a full fence after the unlinking */
    while (item) {
        struct retired *next = item->next;
        uint64_t epoch = item->tag / RETIRED_KINDS;
        if (!epoch && now)
            item->tag += now * RETIRED_KINDS;
        if (epoch && now >= epoch + EPOCHS_APART) {
            item->next = freed;
            freed = item;
        } else {
            item->next = kept;
            kept = item;
            last = last ? last : item;
        }
        item = next;
    }
    if (kept)
        retired_push_all(list, kept, last);
    return freed;
}

#endif
