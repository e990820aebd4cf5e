// SPDX-License-Identifier: MIT
// Every quote walks the fare rules, about two microseconds, under the mutex that the
// rules had when they could still change. All threads compute. The remedy reads them
// without it.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class Fares
{
  public:
    std::uint64_t quote(std::uint64_t route)
    {
        if (server_fix("shorten-section")) {
            std::uint64_t price = walk(route);
            std::lock_guard<std::mutex> guard(fares_mutex_);
            return price + ++quotes_;
        }
        std::lock_guard<std::mutex> guard(fares_mutex_);
        return walk(route) + ++quotes_;
    }

  private:
    std::uint64_t walk(std::uint64_t route) const
    {
        return checksum(rules_.data(), rules_.size(), route);
    }

    std::mutex fares_mutex_;
    std::vector<unsigned char> rules_ = std::vector<unsigned char>(2200, 1);
    std::uint64_t quotes_ = 0;
};

Fares fares;
std::mutex sessions_mutex;
std::uint64_t sessions;

unsigned handle(request *request)
{
    char question[1400] = {'q'};
    std::uint64_t route = checksum(question, sizeof question, request->number);
    request->random += fares.quote(route) & 3;
    if (request->number % 16 == 0) {
        std::lock_guard<std::mutex> guard(sessions_mutex);
        sessions++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
