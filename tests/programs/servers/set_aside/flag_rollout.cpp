// SPDX-License-Identifier: MIT
// Services evaluate their switches under a std::shared_timed_mutex, shared, and are
// seldom out of it. An operator's roll-out needs it alone and waits for a moment
// without readers. A change that has come through counts as 150 evaluations.
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <vector>

#include "../server.h"

namespace
{

class Switches
{
  public:
    Switches()
    {
        pthread_rwlockattr_t how;
        pthread_rwlockattr_init(&how);
        pthread_rwlockattr_setkind_np(&how,
                                      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&for_writers_, &how);
    }

    std::uint64_t evaluate(std::size_t user)
    {
        if (server_fix("prefer-writers")) {
            pthread_rwlock_rdlock(&for_writers_);
            std::uint64_t value = value_for(user);
            pthread_rwlock_unlock(&for_writers_);
            return value;
        }
        std::shared_lock<std::shared_timed_mutex> guard(switches_mutex_);
        return value_for(user);
    }

    void roll_out(std::size_t user)
    {
        if (server_fix("prefer-writers")) {
            pthread_rwlock_wrlock(&for_writers_);
            rules_[user % rules_.size()]++;
            pthread_rwlock_unlock(&for_writers_);
            return;
        }
        std::lock_guard<std::shared_timed_mutex> guard(switches_mutex_);
        rules_[user % rules_.size()]++;
    }

  private:
    std::uint64_t value_for(std::size_t user) const
    {
        return checksum(rules_.data(), rules_.size(), user);
    }

    std::shared_timed_mutex switches_mutex_;
    pthread_rwlock_t for_writers_;
    std::vector<unsigned char> rules_ = std::vector<unsigned char>(7000);
};

Switches switches;
std::mutex usage_mutex;
std::uint64_t usage;

void *operate(void *unused)
{
    request order = {0, 0, 4242};
    while (!server_stopping()) {
        switches.roll_out(random_below(&order, 100000));
        server_count(150);
        sleep_us(150);
    }
    return unused;
}

unsigned handle(request *request)
{
    for (unsigned i = 0; i < 6; i++)
        request->random += switches.evaluate(random_below(request, 100000)) | 1;
    std::lock_guard<std::mutex> guard(usage_mutex);
    usage += 6;
    return 6;
}

void setup()
{
    for (unsigned i = 0; i < 3; i++)
        server_background(operate, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
