// SPDX-License-Identifier: MIT
// Players are kept in twenty regions, found by the length of their names. Nearly all
// names have nine letters. The remedy hashes the letters.
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "server.h"

namespace
{

struct alignas(128) Region {
    std::mutex region_mutex;
    std::map<std::string, std::uint64_t> scores;
};

class Players
{
  public:
    void add_score(const std::string &name, std::uint64_t points)
    {
        Region &region = region_of(name);
        std::lock_guard<std::mutex> guard(region.region_mutex);
        for (const char *table : {"/day", "/week", "/month", "/year", "/best"})
            region.scores[name + table] += points;
    }

  private:
    Region &region_of(const std::string &name)
    {
        std::size_t hash =
            server_fix("spread-keys") ? std::hash<std::string>()(name) : name.size();
        return regions_[hash % regions_.size()];
    }

    std::vector<Region> regions_ = std::vector<Region>(20);
};

Players players;
std::mutex rounds_mutex;
std::uint64_t rounds;

std::string name_of(std::uint64_t number)
{
    std::string name = number % 20 == 0 ? "guest" : "gamer";
    name += std::to_string(1000 + number);
    return number % 20 == 0 ? name + "@cafe" : name;
}

unsigned handle(request *request)
{
    char move[600] = {'m'};
    std::uint64_t number = random_below(request, 3000);
    players.add_score(name_of(number), checksum(move, sizeof move, number) % 50);
    if (request->number % 256 == 0) {
        std::lock_guard<std::mutex> guard(rounds_mutex);
        rounds++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
