// SPDX-License-Identifier: MIT
// A follower that is behind its leader applies one chunk after the other. It unlocks
// the tables between two chunks only to look at a flag, so readers hardly ever get
// them. The lock of the network buffers is busier and harmless.
#include <array>
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

class Tables
{
  public:
    void apply_chunk(std::uint64_t chunk)
    {
        lock();
        for (unsigned pass = 0; pass < 25; pass++)
            chunk = checksum(rows_.data(), rows_.size(), chunk);
        rows_[chunk % rows_.size()]++;
        unlock();
    }

    std::uint64_t read(std::size_t row)
    {
        lock();
        std::uint64_t value = rows_[row % rows_.size()];
        unlock();
        return value;
    }

  private:
    void lock()
    {
        if (server_fix("fair-lock"))
            fair_lock_acquire(&fair_);
        else
            tables_mutex_.lock();
    }

    void unlock()
    {
        if (server_fix("fair-lock"))
            fair_lock_release(&fair_);
        else
            tables_mutex_.unlock();
    }

    std::mutex tables_mutex_;
    fair_lock fair_ = FAIR_LOCK_INITIALIZER;
    std::vector<unsigned char> rows_ = std::vector<unsigned char>(10000);
};

Tables tables;
std::mutex buffers_mutex;
std::array<unsigned, 16> buffers;
bool behind = true;

void *catch_up(void *unused)
{
    for (std::uint64_t chunk = 0; behind && !server_stopping(); chunk++)
        tables.apply_chunk(chunk);
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(100); // the network
    for (unsigned i = 0; i < 5; i++) {
        std::lock_guard<std::mutex> guard(buffers_mutex);
        buffers[i]++;
    }
    request->random += tables.read(random_below(request, 10000)) | 1;
    return 1;
}

void setup()
{
    server_background(catch_up, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
