// SPDX-License-Identifier: MIT
// A station's rails are given to trains strictly in turn, by a lock that keeps a list
// of the waiting threads and wakes the first one. A section takes a few microseconds,
// and waking the next thread takes longer. The remedy lets anybody in who comes first.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class TurnLock
{
  public:
    void lock()
    {
        if (server_fix("unfair-lock")) {
            plain_mutex_.lock();
            return;
        }
        std::unique_lock<std::mutex> guard(turns_mutex_);
        if (!taken_) {
            taken_ = true;
            return;
        }
        Waiter self;
        waiting_.push_back(&self);
        self.called.wait(guard, [&self] { return self.has_turn; });
    }

    void unlock()
    {
        if (server_fix("unfair-lock")) {
            plain_mutex_.unlock();
            return;
        }
        std::lock_guard<std::mutex> guard(turns_mutex_);
        if (waiting_.empty()) {
            taken_ = false;
            return;
        }
        waiting_.front()->has_turn = true;
        waiting_.front()->called.notify_one();
        waiting_.pop_front();
    }

  private:
    struct Waiter {
        std::condition_variable called;
        bool has_turn = false;
    };

    std::mutex turns_mutex_, plain_mutex_;
    bool taken_ = false;
    std::deque<Waiter *> waiting_;
};

TurnLock rails;
std::vector<std::uint64_t> positions(300);

unsigned handle(request *request)
{
    char route[1500] = {'r'};
    std::uint64_t train = checksum(route, sizeof route, request->number);
    for (unsigned signal = 0; signal < 10; signal++) {
        rails.lock();
        std::uint64_t &position = positions[(train + signal) % positions.size()];
        position = checksum(positions.data(), 1000, position);
        rails.unlock();
        train = checksum(route, sizeof route, train);
    }
    return 10;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"unfair-lock", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
