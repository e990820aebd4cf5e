// SPDX-License-Identifier: MIT
#include "bench/tables/subject.h"

#include <oneapi/tbb/concurrent_hash_map.h>

namespace
{
using Table = tbb::concurrent_hash_map<uint64_t, uint64_t>;

void *create(uint64_t elements, const char *lock)
{
    return lock ? nullptr : new Table(elements);
}

bool get(void *table, uint64_t key, uint64_t *value)
{
    Table::const_accessor found;
    if (!static_cast<Table *>(table)->find(found, key))
        return false;
    *value = found->second;
    return true;
}

bool put(void *table, uint64_t key, uint64_t value)
{
    Table::accessor found;
    bool inserted = static_cast<Table *>(table)->insert(found, key);
    found->second = value;
    return inserted;
}

bool take_out(void *table, uint64_t key)
{
    return static_cast<Table *>(table)->erase(key);
}

void work(struct load *load)
{
    load_run(load, get, put, take_out, subject_no_pause);
}

struct subject subject = {"tbb", create, put, work, nullptr};
const bool added = (subject_add(&subject), true);
} // namespace
