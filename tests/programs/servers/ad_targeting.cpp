// SPDX-License-Identifier: MIT
// Advertisements are chosen under a shared lock. Two threads that receive new bids
// need it alone. Because std::shared_mutex lets new readers pass a waiting writer,
// bids are late. The remedy is a lock that stops readers as soon as a writer waits.
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <vector>

#include "server.h"

namespace
{

constexpr unsigned CAMPAIGNS = 6000, WORTH = 25;

class WriterFirstMutex
{
  public:
    WriterFirstMutex()
    {
        pthread_rwlockattr_t kind;
        pthread_rwlockattr_init(&kind);
        pthread_rwlockattr_setkind_np(&kind,
                                      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&inner, &kind);
    }

    pthread_rwlock_t inner;
};

class Campaigns
{
  public:
    std::uint64_t choose(std::uint64_t user)
    {
        if (server_fix("prefer-writers")) {
            pthread_rwlock_rdlock(&writer_first_.inner);
            user = best(user);
            pthread_rwlock_unlock(&writer_first_.inner);
            return user;
        }
        std::shared_lock<std::shared_mutex> guard(bids_mutex_);
        return best(user);
    }

    void bid(std::size_t campaign, std::uint64_t cents)
    {
        if (server_fix("prefer-writers")) {
            pthread_rwlock_wrlock(&writer_first_.inner);
            bids_[campaign % CAMPAIGNS] = cents;
            pthread_rwlock_unlock(&writer_first_.inner);
            return;
        }
        std::unique_lock<std::shared_mutex> guard(bids_mutex_);
        bids_[campaign % CAMPAIGNS] = cents;
    }

  private:
    std::uint64_t best(std::uint64_t user) const
    {
        return checksum(bids_.data(), bids_.size() * sizeof bids_[0], user);
    }

    std::shared_mutex bids_mutex_;
    WriterFirstMutex writer_first_;
    std::vector<std::uint64_t> bids_ = std::vector<std::uint64_t>(CAMPAIGNS, 5);
};

Campaigns *campaigns;

void *receive_bids(void *unused)
{
    for (std::size_t bid = 0; !server_stopping(); bid++) {
        campaigns->bid(bid, bid % 90);
        server_count(WORTH);
        sleep_us(300);
    }
    return unused;
}

unsigned handle(request *request)
{
    char page[2000] = {'p'};
    std::uint64_t user = checksum(page, sizeof page, request->number);
    request->random ^= campaigns->choose(user) | 1;
    return 1;
}

void setup()
{
    campaigns = new Campaigns;
    server_background(receive_bids, nullptr);
    server_background(receive_bids, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
