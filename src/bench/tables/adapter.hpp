// SPDX-License-Identifier: MIT
// What all C++ tables have in common: they have no lock of the list, and their users
// need no pauses.
#ifndef HASP_BENCH_TABLES_ADAPTER_HPP
#define HASP_BENCH_TABLES_ADAPTER_HPP

#include "bench/tables/subject.h"

template <class Table, subject_get get, subject_put put> struct adapter {
    static void *create(uint64_t elements, const char *lock)
    {
        return lock ? nullptr : new Table(elements);
    }

    static bool take_out(void *table, uint64_t key)
    {
        return static_cast<Table *>(table)->erase(key);
    }

    static void work(struct load *load)
    {
        load_run(load, get, put, take_out, subject_no_pause);
    }

    static bool add(struct subject *subject, const char *name)
    {
        *subject = {name, create, put, work, nullptr};
        subject_add(subject);
        return true;
    }
};

#endif
