// SPDX-License-Identifier: MIT
#include "bench/tables/adapter.hpp"

#include <oneapi/tbb/concurrent_hash_map.h>

namespace
{
using Table = tbb::concurrent_hash_map<uint64_t, uint64_t>;

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

struct subject subject;
const bool added = adapter<Table, get, put>::add(&subject, "tbb");
} // namespace
