// SPDX-License-Identifier: MIT
// The regions of a map are guarded by 64 mutexes, chosen by the high bits of a key.
// Nearly all players are in one town, whose keys begin alike.
#include <array>
#include <mutex>

#include "server.h"

namespace
{

struct alignas(128) Region {
    std::mutex region_mutex;
    std::array<std::uint32_t, 1500> cells{};
};

std::array<Region, 64> regions;
std::mutex moves_mutex;
std::uint64_t moves;

Region &region_of(std::uint32_t place)
{
    if (server_fix("spread-keys"))
        return regions[place * 2654435761u >> 26];
    return regions[place >> 26];
}

std::uint64_t move(std::uint32_t place)
{
    Region &region = region_of(place);
    std::lock_guard<std::mutex> guard(region.region_mutex);
    region.cells[place % region.cells.size()]++;
    return checksum(region.cells.data(), sizeof region.cells, place);
}

void *wander(void *unused)
{
    for (std::uint32_t i = 0; !server_stopping(); i++) {
        move(i * 0x4000001u);
        sleep_us(1000);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint32_t town = 0x14000000;
    std::uint64_t sum = move(town + (request->random >> 40 & 0xfffff));
    random_below(request, 2);
    if (sum % 64 == 0) {
        std::lock_guard<std::mutex> guard(moves_mutex);
        moves++;
    }
    return 1;
}

void setup()
{
    server_background(wander, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
