// SPDX-License-Identifier: MIT
// Each call of a service enters its latency into one histogram, whose mutex guards a
// single increment. The remedy makes the buckets atomic.
#include <atomic>
#include <mutex>

#include "server.h"

namespace
{

class Histogram
{
  public:
    void add(std::uint64_t ns)
    {
        unsigned bucket = ns ? 63 - static_cast<unsigned>(__builtin_clzll(ns)) : 0;
        if (server_fix("use-atomic")) {
            shared_[bucket].fetch_add(1, std::memory_order_relaxed);
            return;
        }
        std::lock_guard<std::mutex> guard(buckets_mutex_);
        buckets_[bucket]++;
    }

    std::uint64_t sum()
    {
        std::uint64_t all = 0;
        std::lock_guard<std::mutex> guard(buckets_mutex_);
        for (unsigned i = 0; i < 64; i++)
            all += buckets_[i] + shared_[i].load(std::memory_order_relaxed);
        return all;
    }

  private:
    std::mutex buckets_mutex_;
    std::uint64_t buckets_[64] = {};
    alignas(128) std::atomic<std::uint64_t> shared_[64] = {};
};

Histogram histogram;
std::mutex exporter_mutex;
std::uint64_t exported;

void *publish(void *unused)
{
    while (!server_stopping()) {
        sleep_us(20000);
        std::uint64_t sum = histogram.sum();
        std::lock_guard<std::mutex> guard(exporter_mutex);
        exported = sum;
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t value = request->random;
    for (unsigned call = 0; call < 40; call++) {
        value = checksum(&value, sizeof value, call);
        histogram.add(value >> (value % 40));
    }
    request->random = value | 1;
    return 40;
}

void setup()
{
    server_background(publish, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
