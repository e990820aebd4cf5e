// SPDX-License-Identifier: MIT
// A parallel loop: threads fetch the number of their next chunk under a mutex. The
// chunks are far too small for that.
#include <atomic>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class Loop
{
  public:
    std::uint64_t next_chunk()
    {
        if (server_fix("use-atomic"))
            return atomic_next_.fetch_add(1, std::memory_order_relaxed);
        std::lock_guard<std::mutex> guard(cursor_mutex_);
        return next_++;
    }

    void add(std::uint64_t sum)
    {
        std::lock_guard<std::mutex> guard(sum_mutex_);
        sum_ += sum;
    }

  private:
    std::mutex cursor_mutex_;
    std::uint64_t next_ = 0;
    alignas(128) std::atomic<std::uint64_t> atomic_next_{0};
    alignas(128) std::mutex sum_mutex_;
    std::uint64_t sum_ = 0;
};

Loop loop;
std::vector<std::uint64_t> pixels(1 << 14, 3);

unsigned handle(request *)
{
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 200; i++) {
        std::uint64_t chunk = loop.next_chunk() * 16 % pixels.size();
        sum = checksum(&pixels[chunk], 40, sum);
    }
    loop.add(sum);
    return 200;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
