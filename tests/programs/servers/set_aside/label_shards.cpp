// SPDX-License-Identifier: MIT
// Time series are kept in 32 shards by the upper bits of their numbers. The numbers
// come from a counter that has not got far, so nearly all are in the first shard. Each
// sample also locks the write-ahead log, for which threads wait much less.
#include <array>
#include <mutex>
#include <unordered_map>

#include "../server.h"

namespace
{

constexpr unsigned SHARDS = 32;

struct alignas(64) Shard {
    std::mutex shard_mutex;
    std::unordered_map<std::uint64_t, std::uint64_t> series;
};

class Store
{
  public:
    void add(std::uint64_t number, std::uint64_t sample)
    {
        Shard &shard = shards_[at(number)];
        std::lock_guard<std::mutex> guard(shard.shard_mutex);
        std::uint64_t &value = shard.series[number];
        value = checksum(block_.data(), block_.size(), value + sample);
    }

  private:
    static unsigned at(std::uint64_t number)
    {
        if (server_fix("spread-keys"))
            return static_cast<unsigned>(number * 0x9e3779b97f4a7c15u >> 59);
        return static_cast<unsigned>(number >> 15 & (SHARDS - 1));
    }

    std::array<Shard, SHARDS> shards_;
    std::array<unsigned char, 1800> block_{};
};

Store store;
std::mutex wal_mutex;
unsigned char wal[100];

unsigned handle(request *request)
{
    std::uint64_t number = random_below(request, 3000);
    if (request->number % 16 == 0)
        number = random_below(request, 1u << 20) % 200 << 15 | number;
    store.add(number, request->number);
    std::lock_guard<std::mutex> guard(wal_mutex);
    wal[number % sizeof wal] = static_cast<unsigned char>(checksum(wal, sizeof wal, 1));
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
