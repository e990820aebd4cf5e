// SPDX-License-Identifier: MIT
// suggest() compares a word with all candidates under the dictionary's mutex, which is
// there because users add words.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server.h"

namespace
{

using Words = std::vector<std::string>;

class Dictionary
{
  public:
    Dictionary()
    {
        auto words = std::make_shared<Words>();
        for (unsigned i = 0; i < 90; i++)
            words->push_back("word" + std::to_string(i * 7919));
        words_ = words;
    }

    std::size_t suggest(const std::string &word)
    {
        if (server_fix("shorten-section")) {
            std::unique_lock<std::mutex> guard(mutex_);
            std::shared_ptr<const Words> words = words_;
            guard.unlock();
            return nearest(*words, word);
        }
        std::lock_guard<std::mutex> guard(mutex_);
        return nearest(*words_, word);
    }

    void add(const std::string &word)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto words = std::make_shared<Words>(*words_);
        words->back() = word;
        words_ = words;
    }

  private:
    static std::size_t distance(const std::string &a, const std::string &b)
    {
        std::size_t row[32];
        for (std::size_t j = 0; j <= b.size(); j++)
            row[j] = j;
        for (std::size_t i = 1; i <= a.size(); i++) {
            std::size_t corner = row[0]++;
            for (std::size_t j = 1; j <= b.size(); j++) {
                std::size_t change = corner + (a[i - 1] != b[j - 1]);
                corner = row[j];
                row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
            }
        }
        return row[b.size()];
    }

    static std::size_t nearest(const Words &words, const std::string &word)
    {
        std::size_t best = word.size();
        for (const auto &candidate : words)
            best = std::min(best, distance(word, candidate));
        return best;
    }

    std::mutex mutex_;
    std::shared_ptr<const Words> words_;
};

Dictionary *dictionary;
pthread_mutex_t errors_mutex = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t errors;

void *learn(void *unused)
{
    for (unsigned number = 0; !server_stopping(); number++) {
        dictionary->add("learned" + std::to_string(number % 100));
        sleep_us(5000);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::string word = "wrod" + std::to_string(random_below(request, 10000));
    std::size_t found = dictionary->suggest(word);
    if (found > 1) {
        pthread_mutex_lock(&errors_mutex);
        errors++;
        pthread_mutex_unlock(&errors_mutex);
    }
    return 1;
}

void setup()
{
    dictionary = new Dictionary;
    server_background(learn, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
