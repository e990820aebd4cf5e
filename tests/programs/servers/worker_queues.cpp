// SPDX-License-Identifier: MIT
// Every worker of a pool has a queue with a mutex of its own, and seldom steals. But
// the queues are adjacent in an array, two in each pair of cache lines.
#include <mutex>

#include "server.h"

namespace
{

struct Queue {
    std::mutex queue_mutex;
    std::uint32_t size = 0, sum = 0;
};

struct Pool {
    static constexpr unsigned MOST = 256, APART = 8;
    alignas(64) Queue queues[MOST * APART];

    Queue &of(unsigned worker)
    {
        return queues[server_fix("pad") ? worker * APART : worker];
    }
};

Pool pool;
std::mutex steals_mutex;
std::uint64_t steals;

void run_task(Queue &queue, std::uint64_t task)
{
    {
        std::lock_guard<std::mutex> guard(queue.queue_mutex);
        queue.size++;
    }
    std::lock_guard<std::mutex> guard(queue.queue_mutex);
    queue.sum += static_cast<std::uint32_t>(task);
    queue.size--;
}

unsigned handle(request *request)
{
    Queue &own = pool.of(request->worker);
    for (unsigned i = 0; i < 200; i++)
        run_task(own, checksum(&i, 2, request->number));
    if (request->number % 64 == 0) {
        run_task(pool.of((request->worker + 1) % server_threads()), request->number);
        std::lock_guard<std::mutex> guard(steals_mutex);
        steals++;
    }
    return 200;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
