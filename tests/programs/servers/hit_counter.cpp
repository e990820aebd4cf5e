// SPDX-License-Identifier: MIT
// A log that one thread appends to under a mutex, and a counter of hits that all
// serving threads increment without it. The counter is in the cache line of the
// mutex, so each hit takes the line away from the thread that locks.
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>

#include "server.h"

namespace
{

struct Journal {
    std::mutex journal_mutex;
    std::uint32_t size = 0, last = 0;
};

struct alignas(64) Near {
    Journal journal;
    std::atomic<std::uint32_t> hits{0};
};

struct alignas(64) Far {
    Journal journal;
    alignas(128) std::atomic<std::uint32_t> hits{0};
};

Near near_state;
Far far_state;
std::mutex segments_mutex;
std::uint64_t segments;

Journal &journal()
{
    return server_fix("pad") ? far_state.journal : near_state.journal;
}

std::atomic<std::uint32_t> &hits()
{
    return server_fix("pad") ? far_state.hits : near_state.hits;
}

void append(Journal &to, std::uint32_t entry)
{
    std::lock_guard<std::mutex> guard(to.journal_mutex);
    to.size++;
    to.last ^= entry;
}

void *write_journal(void *unused)
{
    Journal &to = journal();
    while (!server_stopping()) {
        for (std::uint32_t i = 0; i < 500; i++)
            append(to, i);
        server_count(500);
        std::lock_guard<std::mutex> guard(segments_mutex);
        segments++;
    }
    return unused;
}

void *rotate(void *unused)
{
    while (!server_stopping()) {
        sleep_us(10000);
        std::lock_guard<std::mutex> guard(journal().journal_mutex);
        journal().size = 0;
    }
    return unused;
}

unsigned handle(request *request)
{
    auto &counter = hits();
    for (std::uint64_t i = 0; i < 500; i++)
        if (checksum(&i, 2, request->number) % 4 != 0)
            counter.fetch_add(1, std::memory_order_relaxed);
    return 500;
}

void setup()
{
    server_background(write_journal, nullptr);
    server_background(rotate, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
