// SPDX-License-Identifier: MIT
// Queries look up synonyms under a shared lock. The thread that learns synonyms
// rebuilds the whole index under the exclusive lock for each change. The remedy
// rebuilds a second index and swaps. The lock of the log, for which threads also wait,
// matters less.
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "../server.h"

namespace
{

constexpr unsigned WORDS = 1500;
const std::vector<unsigned char> text(700);

class Synonyms
{
  public:
    void learn(std::uint64_t version)
    {
        if (server_fix("shorten-writes")) {
            std::vector<std::uint64_t> fresh(WORDS);
            rebuild(fresh, version);
            std::lock_guard<std::shared_mutex> guard(synonyms_mutex_);
            index_.swap(fresh);
            return;
        }
        std::lock_guard<std::shared_mutex> guard(synonyms_mutex_);
        rebuild(index_, version);
    }

    std::uint64_t look_up(std::size_t word)
    {
        std::shared_lock<std::shared_mutex> guard(synonyms_mutex_);
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < 40; i++)
            sum ^= index_[(word + 3 * i) % WORDS];
        return sum;
    }

  private:
    static void rebuild(std::vector<std::uint64_t> &index, std::uint64_t version)
    {
        for (std::uint64_t &word : index)
            word = checksum(text.data(), text.size(), version++);
    }

    std::shared_mutex synonyms_mutex_;
    std::vector<std::uint64_t> index_ = std::vector<std::uint64_t>(WORDS);
};

Synonyms synonyms;
std::mutex query_log_mutex;
std::uint64_t query_log[50];

void *learn(void *unused)
{
    for (std::uint64_t version = 0; !server_stopping(); version++) {
        synonyms.learn(version);
        sleep_us(300);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t found = synonyms.look_up(random_below(request, WORDS));
    {
        std::lock_guard<std::mutex> guard(query_log_mutex);
        query_log[found % 50] = checksum(query_log, sizeof query_log, found);
    }
    request->random += checksum(text.data(), 300, found) | 1;
    return 1;
}

void setup()
{
    server_background(learn, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
