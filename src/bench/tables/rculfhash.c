/* SPDX-License-Identifier: MIT */
/* The lock-free table of liburcu, with readers that announce quiescent states. */
#define _LGPL_SOURCE
#include <urcu-qsbr.h>

#include <urcu/rculfhash.h>

#include "bench/tables/subject.h"

#include "structures/map/hash.h"

#include <stdlib.h>

struct entry {
    struct cds_lfht_node node;
    struct rcu_head head;
    uint64_t key, value;
};

static void *create(uint64_t elements, const char *lock)
{
    uint64_t count = 1;
    while (count < elements)
        count *= 2;
    return lock ? NULL
                : cds_lfht_new(count, 1, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING,
                               NULL);
}

static int matches(struct cds_lfht_node *node, const void *key)
{
    return caa_container_of(node, struct entry, node)->key == *(const uint64_t *)key;
}

/* Its lower bits select the bucket. */
static unsigned long hash_of(uint64_t key)
{
    return hash_fold(key ^ 1, HASH_FIRST ^ key);
}

static void free_entry(struct rcu_head *head)
{
    free(caa_container_of(head, struct entry, head));
}

static bool get(void *table, uint64_t key, uint64_t *value)
{
    struct cds_lfht_iter at;
    rcu_read_lock();
    cds_lfht_lookup(table, hash_of(key), matches, &key, &at);
    struct cds_lfht_node *node = cds_lfht_iter_get_node(&at);
    if (node)
        *value = caa_container_of(node, struct entry, node)->value;
    rcu_read_unlock();
    return node != NULL;
}

static bool put(void *table, uint64_t key, uint64_t value)
{
    struct entry *entry = malloc(sizeof *entry);
    cds_lfht_node_init(&entry->node);
    entry->key = key;
    entry->value = value;
    rcu_read_lock();
    struct cds_lfht_node *old =
        cds_lfht_add_replace(table, hash_of(key), matches, &key, &entry->node);
    if (old)
        call_rcu(&caa_container_of(old, struct entry, node)->head, free_entry);
    rcu_read_unlock();
    return !old;
}

static bool take_out(void *table, uint64_t key)
{
    struct cds_lfht_iter at;
    rcu_read_lock();
    cds_lfht_lookup(table, hash_of(key), matches, &key, &at);
    struct cds_lfht_node *node = cds_lfht_iter_get_node(&at);
    bool removed = node && cds_lfht_del(table, node) == 0;
    if (removed)
        call_rcu(&caa_container_of(node, struct entry, node)->head, free_entry);
    rcu_read_unlock();
    return removed;
}

static bool put_alone(void *table, uint64_t key, uint64_t value)
{
    rcu_register_thread();
    bool inserted = put(table, key, value);
    rcu_unregister_thread();
    return inserted;
}

static void pause_quiescent(void)
{
    rcu_quiescent_state();
}

static void work(struct load *load)
{
    rcu_register_thread();
    load_run(load, get, put, take_out, pause_quiescent);
    rcu_unregister_thread();
}

static struct subject subject = {"rculfhash", create, put_alone, work, NULL};

static __attribute__((constructor)) void add(void)
{
    subject_add(&subject);
}
