// SPDX-License-Identifier: MIT
// A scrubber of the lowest priority checks many blocks again and again, under the
// mutex of the block map. Compressors that never take it use all CPUs, so the
// scrubber runs seldom, and whoever looks up a block waits until it does.
#include <mutex>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "server.h"

namespace
{

class BlockMap
{
  public:
    std::uint64_t find(std::size_t block)
    {
        std::lock_guard<std::mutex> guard(map_mutex_);
        return blocks_[block % blocks_.size()];
    }

    void scrub(std::size_t from)
    {
        std::lock_guard<std::mutex> guard(map_mutex_);
        std::size_t first = from * 10 % 10000;
        std::uint64_t sum = from;
        for (unsigned i = 0; i < 16; i++)
            sum = checksum(&blocks_[first], 70000 * sizeof blocks_[0], sum);
        blocks_[first] = sum % 99;
    }

  private:
    std::mutex map_mutex_;
    std::vector<std::uint64_t> blocks_ = std::vector<std::uint64_t>(80000, 1);
};

BlockMap map;
std::mutex sizes_mutex;
std::uint64_t sizes[7];

void *scrub(void *unused)
{
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19);
    for (std::size_t from = 0; !server_stopping(); from++) {
        map.scrub(from);
        sleep_us(20000);
    }
    return unused;
}

void *compress(void *unused)
{
    std::vector<char> data(50000, 'd');
    while (!server_stopping())
        data[0] = static_cast<char>(checksum(data.data(), data.size(), 1));
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(150);
    std::uint64_t block = map.find(random_below(request, 80000));
    std::lock_guard<std::mutex> guard(sizes_mutex);
    sizes[block % 7]++;
    return 1;
}

void setup()
{
    server_background(scrub, nullptr);
    unsigned compressors = server_fix("fewer-threads") ? 1 : 5;
    for (unsigned i = 0; i < compressors; i++)
        server_background(compress, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
