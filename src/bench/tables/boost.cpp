// SPDX-License-Identifier: MIT
#include "bench/tables/adapter.hpp"

#include <boost/unordered/concurrent_flat_map.hpp>

namespace
{
using Table = boost::concurrent_flat_map<uint64_t, uint64_t>;

bool get(void *table, uint64_t key, uint64_t *value)
{
    return static_cast<Table *>(table)->cvisit(
        key, [value](const auto &entry) { *value = entry.second; });
}

bool put(void *table, uint64_t key, uint64_t value)
{
    return static_cast<Table *>(table)->insert_or_assign(key, value);
}

struct subject subject;
const bool added = adapter<Table, get, put>::add(&subject, "boost");
} // namespace
