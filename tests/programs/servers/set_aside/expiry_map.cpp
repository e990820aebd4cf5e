// SPDX-License-Identifier: MIT
// A rate limiter keeps the addresses of each period in a std::map. At the end of a
// period it clears the map of a client and fills the next one, node by node, under the
// mutex. The remedy builds and destroys the maps outside, and swaps them inside.
#include <map>
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

constexpr unsigned CLIENTS = 1024, ADDRESSES = 160;
using Period = std::map<std::uint64_t, unsigned>;

Period new_period(std::uint64_t first)
{
    Period period;
    for (unsigned i = 0; i < ADDRESSES; i++)
        period.emplace_hint(period.end(), first + i, 0);
    return period;
}

class Limiter
{
  public:
    void begin_period(unsigned client, std::uint64_t first)
    {
        if (server_fix("allocate-outside")) {
            Period period = new_period(first);
            std::lock_guard<std::mutex> guard(periods_mutex_);
            periods_[client].swap(period);
            return; // the guard ends before the old map does
        }
        std::lock_guard<std::mutex> guard(periods_mutex_);
        periods_[client].clear();
        for (unsigned i = 0; i < ADDRESSES; i++)
            periods_[client].emplace_hint(periods_[client].end(), first + i, 0);
    }

    unsigned use(unsigned client, std::uint64_t address)
    {
        std::lock_guard<std::mutex> guard(periods_mutex_);
        auto found = periods_[client].find(address);
        return found == periods_[client].end() ? 0 : ++found->second;
    }

  private:
    std::mutex periods_mutex_;
    std::vector<Period> periods_ = std::vector<Period>(CLIENTS);
};

Limiter limiter;
std::mutex served_mutex;
std::uint64_t served;

unsigned handle(request *request)
{
    auto client = static_cast<unsigned>(random_below(request, 4) + 4 * request->worker);
    limiter.begin_period(client, request->number);
    request->random += limiter.use(client, request->number + 3) | 1;
    unsigned char body[1000] = {};
    request->random += checksum(body, sizeof body, client) | 1;
    std::lock_guard<std::mutex> guard(served_mutex);
    served++;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
