// SPDX-License-Identifier: MIT
// A std::shared_mutex that every thread locks exclusively: visits are formatted and
// appended under it, and nobody reads.
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "server.h"

namespace
{

class VisitLog
{
  public:
    void add(const char *page, std::size_t size, std::uint64_t seed)
    {
        bool before = server_fix("shorten-section");
        std::uint64_t line = before ? checksum(page, size, seed) : 0;
        std::unique_lock<std::shared_mutex> guard(visits_mutex_);
        if (!before)
            line = checksum(page, size, seed);
        visits_[next_++ % visits_.size()] = line;
    }

  private:
    std::shared_mutex visits_mutex_;
    std::vector<std::uint64_t> visits_ = std::vector<std::uint64_t>(5000);
    std::size_t next_ = 0;
};

VisitLog visits;

unsigned handle(request *request)
{
    char page[8000] = {'v'};
    std::uint64_t seed = checksum(page, 1000, request->number);
    visits.add(page, sizeof page, seed);
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
