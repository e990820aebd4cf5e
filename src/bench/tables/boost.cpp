// SPDX-License-Identifier: MIT
#include "bench/tables/subject.h"

#include <boost/unordered/concurrent_flat_map.hpp>

namespace
{
using Table = boost::concurrent_flat_map<uint64_t, uint64_t>;

void *create(uint64_t elements, const char *lock)
{
    return lock ? nullptr : new Table(elements);
}

bool get(void *table, uint64_t key, uint64_t *value)
{
    return static_cast<Table *>(table)->cvisit(
        key, [value](const auto &entry) { *value = entry.second; });
}

bool put(void *table, uint64_t key, uint64_t value)
{
    return static_cast<Table *>(table)->insert_or_assign(key, value);
}

bool take_out(void *table, uint64_t key)
{
    return static_cast<Table *>(table)->erase(key);
}

void work(struct load *load)
{
    load_run(load, get, put, take_out, subject_no_pause);
}

struct subject subject = {"boost", create, put, work, nullptr};
const bool added = (subject_add(&subject), true);
} // namespace
