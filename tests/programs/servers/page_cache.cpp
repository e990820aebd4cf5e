// SPDX-License-Identifier: MIT
// A page's latch is one of 32, chosen by bits 12 to 16 of its address. Pages of 64 KiB
// have the same bits there, but for a few small pages.
#include <array>
#include <cstdlib>
#include <mutex>

#include "server.h"

namespace
{

constexpr std::size_t PAGES = 64, SIZE = 65536, LATCHES = 32;

struct alignas(64) Latch {
    std::mutex latch_mutex;
    std::uint64_t uses = 0;
};

class PageCache
{
  public:
    PageCache()
        : pages_(static_cast<unsigned char *>(std::aligned_alloc(SIZE, PAGES * SIZE)))
    {
        for (std::size_t i = 0; i < PAGES * SIZE; i += 4096)
            pages_[i] = 1;
    }

    std::uint64_t scan(std::size_t page, std::size_t offset)
    {
        unsigned char *at = pages_ + page * SIZE + offset;
        Latch &latch = latches_[slot(at)];
        std::lock_guard<std::mutex> guard(latch.latch_mutex);
        latch.uses++;
        at[0]++;
        return checksum(at, 7000, latch.uses);
    }

  private:
    static std::size_t slot(const unsigned char *page)
    {
        auto bits = reinterpret_cast<std::uintptr_t>(page);
        if (server_fix("spread-keys"))
            return (bits >> 12) * 0x9e3779b97f4a7c15u >> 59;
        return bits >> 12 & (LATCHES - 1);
    }

    unsigned char *pages_;
    std::array<Latch, LATCHES> latches_;
};

PageCache *cache;

void *tidy(void *unused)
{
    for (std::size_t i = 0; !server_stopping(); i++) {
        cache->scan(i % PAGES, i % 14 * 4096);
        sleep_us(3000);
    }
    return unused;
}

unsigned handle(request *request)
{
    cache->scan(random_below(request, PAGES / 2) * 2, 0);
    return 1;
}

void setup()
{
    cache = new PageCache;
    server_background(tidy, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
