// SPDX-License-Identifier: MIT
// A dictionary of phrases is guarded by a lock made of std::atomic_flag and its
// wait(), which pthread's functions do not see. It is what the threads wait for.
#include <atomic>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class FlagLock
{
  public:
    void lock()
    {
        while (flag_.test_and_set(std::memory_order_acquire))
            flag_.wait(true, std::memory_order_relaxed);
    }

    void unlock()
    {
        flag_.clear(std::memory_order_release);
        flag_.notify_one();
    }

  private:
    std::atomic_flag flag_;
};

class Phrases
{
  public:
    std::uint64_t learn(std::uint64_t phrase)
    {
        if (server_fix("shorten-section"))
            phrase = checksum(letters_.data(), letters_.size(), phrase);
        std::lock_guard<FlagLock> guard(phrases_lock_);
        if (!server_fix("shorten-section"))
            phrase = checksum(letters_.data(), letters_.size(), phrase);
        known_[phrase % 64]++;
        return phrase;
    }

  private:
    FlagLock phrases_lock_;
    std::vector<unsigned char> letters_ = std::vector<unsigned char>(30000);
    std::uint64_t known_[64] = {};
};

Phrases phrases;
std::mutex users_mutex;
std::uint64_t users[16];

unsigned handle(request *request)
{
    char sentence[2500] = {'S'};
    std::uint64_t phrase = checksum(sentence, sizeof sentence, request->number);
    phrase = phrases.learn(phrase);
    std::lock_guard<std::mutex> guard(users_mutex);
    users[phrase % 16]++;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
