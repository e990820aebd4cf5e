// SPDX-License-Identifier: MIT
// Searches look up the list of segments, which a crowd of merging threads publishes. So
// many of them want a CPU that one often loses it while it holds the list's mutex.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

struct SegmentList {
    std::mutex mutex;
    std::vector<std::uint64_t> segments = std::vector<std::uint64_t>(6000, 1);
};

SegmentList list;
std::mutex suggestions_mutex;
std::uint64_t suggestions[64];

void *merge(void *unused)
{
    std::vector<std::uint64_t> postings(25000, 3);
    while (!server_stopping()) {
        std::uint64_t size = postings.size() * sizeof postings[0];
        std::uint64_t merged = checksum(postings.data(), size, 1);
        std::lock_guard<std::mutex> guard(list.mutex);
        for (auto &segment : list.segments)
            segment = (segment ^ merged) * 31 % 1000003;
        list.segments[0] = checksum(list.segments.data(), 40000, merged);
    }
    return unused;
}

std::uint64_t find(std::uint64_t term)
{
    std::lock_guard<std::mutex> guard(list.mutex);
    return list.segments[term];
}

unsigned handle(request *request)
{
    sleep_us(200);
    std::uint64_t segment = find(random_below(request, 6000));
    std::lock_guard<std::mutex> guard(suggestions_mutex);
    suggestions[segment % 64]++;
    return 1;
}

void setup()
{
    unsigned mergers = server_fix("fewer-threads") ? 1 : 3 + server_threads();
    for (unsigned i = 0; i < mergers; i++)
        server_background(merge, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
