// SPDX-License-Identifier: MIT
#include "bench/tables/subject.h"

#include <libcuckoo/cuckoohash_map.hh>

namespace
{
using Table = libcuckoo::cuckoohash_map<uint64_t, uint64_t>;

void *create(uint64_t elements, const char *lock)
{
    return lock ? nullptr : new Table(elements);
}

bool get(void *table, uint64_t key, uint64_t *value)
{
    return static_cast<Table *>(table)->find(key, *value);
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

struct subject subject = {"libcuckoo", create, put, work, nullptr};
const bool added = (subject_add(&subject), true);
} // namespace
