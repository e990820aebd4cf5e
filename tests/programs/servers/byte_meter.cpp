// SPDX-License-Identifier: MIT
// Threads add to an atomic counter of bytes that lies beside the mutex of the meter's
// history, into which one thread writes all the time.
#include <array>
#include <atomic>
#include <mutex>

#include "server.h"

namespace
{

template <std::size_t DISTANCE> struct alignas(128) Meter {
    std::mutex history_mutex;
    std::uint64_t latest = 0;
    alignas(DISTANCE) std::atomic<std::uint64_t> bytes{0};
};

Meter<8> close_meter;
Meter<128> wide_meter;
std::mutex alarms_mutex;
std::uint64_t alarms;

template <class M> void record(M &meter)
{
    while (!server_stopping()) {
        for (unsigned i = 0; i < 64; i++) {
            std::lock_guard<std::mutex> guard(meter.history_mutex);
            meter.latest += i;
        }
        server_count(64);
        std::lock_guard<std::mutex> guard(alarms_mutex);
        alarms += meter.latest & 1;
    }
}

void *keep_history(void *unused)
{
    if (server_fix("pad"))
        record(wide_meter);
    else
        record(close_meter);
    return unused;
}

unsigned handle(request *request)
{
    auto &bytes = server_fix("pad") ? wide_meter.bytes : close_meter.bytes;
    for (std::uint64_t i = 0; i < 400; i++)
        bytes.fetch_add(i + request->number % 3, std::memory_order_relaxed);
    return 400;
}

void setup()
{
    server_background(keep_history, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
