// SPDX-License-Identifier: MIT
#include "bench/tables/adapter.hpp"

#include <libcuckoo/cuckoohash_map.hh>

namespace
{
using Table = libcuckoo::cuckoohash_map<uint64_t, uint64_t>;

bool get(void *table, uint64_t key, uint64_t *value)
{
    return static_cast<Table *>(table)->find(key, *value);
}

bool put(void *table, uint64_t key, uint64_t value)
{
    return static_cast<Table *>(table)->insert_or_assign(key, value);
}

struct subject subject;
const bool added = adapter<Table, get, put>::add(&subject, "libcuckoo");
} // namespace
