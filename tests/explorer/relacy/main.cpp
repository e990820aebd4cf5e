// SPDX-License-Identifier: MIT
//
// A second checker for the locks: the operations of the checked platform, implemented
// over Relacy (D. Vyukov), a public model checker for C11 atomics. The locks and the
// clients are the same object code that the explorer runs.
//
//   relacy-checked LOCK CLIENT full|bound|random ITERATIONS
//
// Prints the verdict; status 1 if there is a finding.
#include "relacy/atomics.hpp"

#include <cstdlib>
#include <cstring>
#include <streambuf>
#include <string>

extern "C" {
#include "relacy/plain_accesses.h"
#include "relacy/pool.h"
#include "relacy/subjects.h"

struct deadline;
void expect(bool condition, const char *text);
unsigned choose(unsigned alternatives);
void move_to_node(unsigned node);
void begin_operation(void);
const struct deadline *new_deadline(void);
void fork_here(void);
bool fork_here_if_unmoved(unsigned threads);
void watch_waiters(void);
void lock_is_destroyed(void);
extern char __data_start, _end; // set by the linker, around all variables
}

namespace {

enum { CELLS = 256, WIDE = 64, PLAINS = 256, THREADS = 8 };

// Relacy's objects exist for one execution. Each belongs to an address of the code
// under check, which is learnt at the first access. An execution in which one is learnt
// does not count: its object was not initialised.
struct memory {
    rl::atomic<uint32_t> cells[CELLS];
    rl::atomic<uint64_t> wide[WIDE];
    rl::var<uint32_t> plains[PLAINS];
};

struct known {
    const void *address[PLAINS];
    unsigned size[PLAINS];
    uint64_t initial[PLAINS];
    unsigned count;
};

memory *current;
known cells, wide, plains;
bool learnt;
uint32_t node[THREADS];
bool expired[THREADS];

bool is_shared(const void *address)
{
    return address >= &__data_start && address < &_end;
}

// In the middle of an execution there is no way back but a failure.
void abandon()
{
    learnt = true;
    RL_ASSERT_IMPL(false, rl::test_result_user_assert_failed, "learnt", here(""));
}

unsigned number_of(known &known, unsigned most, const void *address, unsigned size)
{
    for (unsigned i = 0; i < known.count; i++)
        if (known.address[i] == address)
            return i;
    if (known.count == most) {
        std::cerr << "relacy-checked: a table is too small\n";
        std::exit(2);
    }
    known.address[known.count] = address;
    known.size[known.count] = size;
    std::memcpy(&known.initial[known.count++], address, size);
    abandon();
    return 0;
}

rl::atomic<uint32_t> &cell_at(const void *address, unsigned size)
{
    return current->cells[number_of(cells, CELLS, address, size)];
}

rl::atomic<uint64_t> &wide_at(const void *address)
{
    return current->wide[number_of(wide, WIDE, address, 8)];
}

uint64_t value_at(const void *address, unsigned size)
{
    uint64_t value = 0;
    std::memcpy(&value, address, size);
    return value;
}

template <unsigned COUNT>
struct execution : rl::test_suite<execution<COUNT>, COUNT> {
    memory all;

    void before()
    {
        current = nullptr;
        pools_begin();
        std::fill(node, node + THREADS, 0);
        std::fill(expired, expired + THREADS, false);
        for (unsigned i = 0; i < cells.count; i++)
            all.cells[i].store(static_cast<uint32_t>(cells.initial[i]), rl::mo_relaxed,
                               here("before"));
        for (unsigned i = 0; i < wide.count; i++)
            all.wide[i].store(wide.initial[i], rl::mo_relaxed, here("before"));
        for (unsigned i = 0; i < plains.count; i++) {
            rl::var_proxy<uint32_t>(all.plains[i], here("before")).store(0);
            std::memcpy(const_cast<void *>(plains.address[i]), &plains.initial[i],
                        plains.size[i]);
        }
        current = &all;
    }

    void thread(unsigned index)
    {
        subject_run(index);
    }

    void after()
    {
        subject_finish();
        expect(pools_taken() == 0, "a slot was not given back to its pool");
        current = nullptr;
    }
};

// Relacy counts what is allocated during an execution, so nothing may be printed then.
struct discarding : std::streambuf {
    int overflow(int character)
    {
        return character;
    }
};

template <unsigned COUNT>
bool simulate(const rl::test_params &params, std::ostream &output, std::string &verdict)
{
    rl::test_params once = params;
    once.output_stream = once.progress_stream = &output;
    once.collect_history = true;
    learnt = false;
    bool right = rl::simulate<execution<COUNT>>(once);
    verdict = right ? "ok" : rl::test_result_str(once.test_result);
    verdict += " after " + std::to_string(once.stop_iteration) + " executions";
    return right;
}

template <unsigned COUNT>
int check(const rl::test_params &params)
{
    discarding buffer;
    std::ostream nowhere(&buffer);
    std::string verdict;
    bool right;
    do
        right = simulate<COUNT>(params, nowhere, verdict);
    while (learnt);
    if (!right)
        simulate<COUNT>(params, std::cerr, verdict);
    std::cout << verdict << "\n";
    return !right;
}

} // namespace

extern "C" {

void access_plain(const void *address, unsigned size, bool write)
{
    if (!is_shared(address) || !current)
        return;
    const char *at = static_cast<const char *>(address);
    for (unsigned done = 0; done < size; done += 4) {
        unsigned granule = size - done < 4 ? size - done : 4;
        unsigned index = number_of(plains, PLAINS, at + done, granule);
        rl::var_proxy<uint32_t> plain(current->plains[index], here("plain access"));
        if (write)
            plain.store(0);
        else
            plain.load();
    }
}

uint64_t checked_load(const void *cell, unsigned size, enum checked_order order,
                      const char *function)
{
    if (!is_shared(cell))
        return value_at(cell, size);
    return size == 8 ? wide_at(cell).load(order_of(order), here(function))
                     : cell_at(cell, size).load(order_of(order), here(function));
}

void checked_store(const void *cell, unsigned size, uint64_t value,
                   enum checked_order order, const char *function)
{
    if (!is_shared(cell))
        std::memcpy(const_cast<void *>(cell), &value, size);
    else if (size == 8)
        wide_at(cell).store(value, order_of(order), here(function));
    else
        cell_at(cell, size).store(static_cast<uint32_t>(value), order_of(order),
                                  here(function));
}

uint64_t checked_change(const void *cell, unsigned size, enum checked_change kind,
                        uint64_t operand, enum checked_order order,
                        const char *function)
{
    if (size == 8)
        return change<uint64_t>(wide_at(cell), kind, operand, order, function);
    return change<uint32_t>(cell_at(cell, size), kind, static_cast<uint32_t>(operand),
                            order, function);
}

uint64_t checked_compare_exchange(const void *cell, unsigned size, uint64_t expected,
                                  uint64_t desired, enum checked_order order,
                                  const char *function)
{
    if (size == 8)
        return compare<uint64_t>(wide_at(cell), expected, desired, order, function);
    return compare<uint32_t>(cell_at(cell, size), static_cast<uint32_t>(expected),
                             static_cast<uint32_t>(desired), order, function);
}

void checked_fence(const char *function)
{
    rl::atomic_thread_fence(rl::mo_seq_cst, here(function));
}

void checked_light_barrier(const char *function)
{
    checked_fence(function);
}

bool checked_heavy_barrier(const char *function)
{
    checked_fence(function);
    return true;
}

void checked_relax(const char *function)
{
    rl::yield(1, here(function));
}

bool checked_deadline_passed(bool long_ago, const char *function)
{
    (void)function;
    bool &mine = expired[rl::thread_index()];
    mine = mine || long_ago || rl::rand(2);
    return mine;
}

// Every sleep ends in a spurious wake-up.
bool checked_park(const void *cell, uint32_t expected, enum checked_deadline deadline,
                  const char *function)
{
    (void)cell, (void)expected;
    checked_relax(function);
    return deadline == CHECKED_NEVER ||
           !checked_deadline_passed(deadline == CHECKED_LONG_AGO, function);
}

void checked_unpark(const void *, uint32_t, const char *)
{
}

void checked_requeue(const void *, uint32_t, const void *, const char *)
{
}

uint64_t checked_now_ns(void)
{
    return 1000;
}

uint32_t checked_spin_limit(void)
{
    return 1;
}

uint32_t checked_thread(void)
{
    return rl::thread_index() + 1;
}

uint32_t checked_node(void)
{
    return node[rl::thread_index()];
}

uint32_t checked_fork_generation(void)
{
    return 1;
}

struct held_nodes *checked_held_nodes(void)
{
    return held_nodes_of(rl::thread_index());
}

uint32_t checked_thread_if_known(void)
{
    return held_nodes_count(rl::thread_index()) ? 0 : checked_thread();
}

void *checked_pages(size_t)
{
    return nullptr;
}

void checked_die(const char *text)
{
    std::cerr << text << "\n";
    std::exit(2);
}

void expect(bool condition, const char *text)
{
    if (!condition)
        RL_ASSERT_IMPL(false, rl::test_result_user_assert_failed, text, here(text));
}

unsigned choose(unsigned alternatives)
{
    return rl::rand(alternatives);
}

void move_to_node(unsigned to)
{
    node[rl::thread_index()] = to;
}

void begin_operation(void)
{
}

const struct deadline *new_deadline(void)
{
    static const uint64_t some_time[4] = {0, 1000000000, 0, 0};
    expired[rl::thread_index()] = false;
    return reinterpret_cast<const struct deadline *>(some_time);
}

// Clients that fork or watch the lock's memory are the explorer's alone.
void fork_here(void)
{
    std::abort();
}

bool fork_here_if_unmoved(unsigned)
{
    std::abort();
}

void watch_waiters(void)
{
}

void lock_is_destroyed(void)
{
}
}

int main(int count, char **words)
{
    unsigned threads = count == 5 ? subject_select(words[1], words[2]) : 0;
    if (threads != 2 && threads != 3) {
        std::cerr << "usage: relacy-checked LOCK CLIENT full|bound|random ITERATIONS\n";
        return 2;
    }
    const std::string search = words[3];
    rl::test_params params;
    params.search_type = search == "full"    ? rl::fair_full_search_scheduler_type
                         : search == "bound" ? rl::fair_context_bound_scheduler_type
                                             : rl::random_scheduler_type;
    params.context_bound = 2;
    params.iteration_count = static_cast<rl::iteration_t>(std::atoll(words[4]));
    params.execution_depth_limit = 10000;
    return threads == 2 ? check<2>(params) : check<3>(params);
}
