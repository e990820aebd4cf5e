// SPDX-License-Identifier: MIT
// The counters of an auction are protected by a lock that serves bidders strictly in
// the order of their arrival: who leaves passes it to the first in the queue, asleep
// or not.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "server.h"

namespace
{

class FifoMutex
{
  public:
    void lock()
    {
        std::unique_lock<std::mutex> guard(door_mutex_);
        if (!taken_) {
            taken_ = true;
            return;
        }
        Bidder self;
        bidders_.push_back(&self);
        self.called.wait(guard, [&self] { return self.admitted; });
    }

    void unlock()
    {
        std::lock_guard<std::mutex> guard(door_mutex_);
        if (bidders_.empty()) {
            taken_ = false;
            return;
        }
        bidders_.front()->admitted = true;
        bidders_.front()->called.notify_one();
        bidders_.pop_front();
    }

  private:
    struct Bidder {
        std::condition_variable called;
        bool admitted = false;
    };

    std::mutex door_mutex_;
    bool taken_ = false;
    std::deque<Bidder *> bidders_;
};

class Auction
{
  public:
    std::uint64_t bid(std::uint64_t amount)
    {
        if (server_fix("unfair-lock")) {
            std::lock_guard<std::mutex> guard(plain_mutex_);
            return raise(amount);
        }
        std::lock_guard<FifoMutex> guard(fifo_);
        return raise(amount);
    }

  private:
    std::uint64_t raise(std::uint64_t amount)
    {
        bids_[amount % 40]++;
        return highest_ = checksum(bids_, sizeof bids_, amount);
    }

    FifoMutex fifo_;
    std::mutex plain_mutex_;
    std::uint64_t bids_[40] = {}, highest_ = 0;
};

Auction auction;
std::mutex fraud_mutex;
std::uint64_t fraud;

unsigned handle(request *request)
{
    char form[700] = {'f'};
    std::uint64_t amount = checksum(form, sizeof form, request->random);
    if (auction.bid(amount + request->number) % 256 == 0) {
        std::lock_guard<std::mutex> guard(fraud_mutex);
        fraud++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"unfair-lock", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
