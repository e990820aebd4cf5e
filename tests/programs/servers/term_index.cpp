// SPDX-License-Identifier: MIT
// A thread follows the documents and sorts the index of terms again when some changed,
// under the lock for writing. All others, which only read, wait meanwhile. The remedy
// sorts a copy first, under a mutex of its own.
#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "server.h"

namespace
{

class TermIndex
{
  public:
    bool has(std::uint64_t term)
    {
        std::shared_lock<std::shared_timed_mutex> guard(terms_mutex_);
        return std::binary_search(terms_.begin(), terms_.end(), term);
    }

    void rebuild(std::uint64_t seed)
    {
        if (server_fix("shorten-writes")) {
            std::lock_guard<std::mutex> one(rebuild_mutex_);
            std::vector<std::uint64_t> next = sorted(seed);
            std::unique_lock<std::shared_timed_mutex> guard(terms_mutex_);
            terms_.swap(next);
            return;
        }
        std::unique_lock<std::shared_timed_mutex> guard(terms_mutex_);
        terms_ = sorted(seed);
    }

  private:
    static std::vector<std::uint64_t> sorted(std::uint64_t seed)
    {
        std::vector<std::uint64_t> terms(20000);
        for (std::uint64_t &term : terms)
            term = seed = seed * 6364136223846793005u + 1442695040888963407u;
        std::sort(terms.begin(), terms.end());
        return terms;
    }

    std::shared_timed_mutex terms_mutex_;
    std::mutex rebuild_mutex_;
    std::vector<std::uint64_t> terms_ = sorted(1);
};

TermIndex *terms_index;

void *follow_documents(void *unused)
{
    for (std::uint64_t document = 1; !server_stopping(); document++) {
        terms_index->rebuild(document);
        sleep_us(600);
    }
    return unused;
}

unsigned handle(request *request)
{
    char query[1600] = {'q'};
    sleep_us(80); // the network
    std::uint64_t term = checksum(query, sizeof query, request->number);
    for (unsigned i = 0; i < 4; i++)
        request->random += terms_index->has(term * (i + 1)) ? 3 : 2;
    return 1;
}

void setup()
{
    terms_index = new TermIndex;
    server_background(follow_documents, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
