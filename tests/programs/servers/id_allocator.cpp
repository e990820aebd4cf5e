// SPDX-License-Identifier: MIT
// Hands out trace identifiers: a mutex for one increment.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class IdAllocator
{
  public:
    std::uint64_t next()
    {
        if (server_fix("use-atomic"))
            return atomic_next_.fetch_add(1, std::memory_order_relaxed);
        const std::lock_guard<std::mutex> guard(next_mutex_);
        return next_++;
    }

  private:
    alignas(128) std::mutex next_mutex_;
    std::uint64_t next_ = 1;
    alignas(128) std::atomic<std::uint64_t> atomic_next_{1};
};

class Exporter
{
  public:
    void send(const std::vector<std::uint64_t> &spans)
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        sent_ += spans.size();
    }

  private:
    std::mutex mutex_;
    std::uint64_t sent_ = 0;
};

std::unique_ptr<IdAllocator> ids;
Exporter exporter;

unsigned handle(request *request)
{
    std::vector<std::uint64_t> spans(200);
    for (auto &span : spans)
        span = checksum(&request->random, 4, ids->next());
    exporter.send(spans);
    return static_cast<unsigned>(spans.size());
}

void setup()
{
    ids = std::make_unique<IdAllocator>();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
