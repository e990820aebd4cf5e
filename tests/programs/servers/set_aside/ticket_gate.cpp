// SPDX-License-Identifier: MIT
// A gate admits threads strictly by the numbers that they draw. Whoever leaves calls
// the next number, whose thread sleeps on a condition variable of its own. What is
// done inside takes three microseconds, but the next thread must wake up first. The
// remedy is an ordinary mutex.
#include <array>
#include <condition_variable>
#include <mutex>

#include "../server.h"

namespace
{

constexpr unsigned SEATS = 64;

class TicketGate
{
  public:
    void lock()
    {
        std::unique_lock<std::mutex> guard(gate_mutex_);
        unsigned ticket = drawn_++;
        while (ticket != called_)
            seats_[ticket % SEATS].wait(guard);
    }

    void unlock()
    {
        std::lock_guard<std::mutex> guard(gate_mutex_);
        called_++;
        seats_[called_ % SEATS].notify_one();
    }

  private:
    std::mutex gate_mutex_;
    std::array<std::condition_variable, SEATS> seats_;
    unsigned drawn_ = 0, called_ = 0;
};

TicketGate gate;
std::mutex plain_mutex;
std::array<unsigned char, 3000> auction;
std::mutex bids_mutex;
std::uint64_t bids;

std::uint64_t bid(std::uint64_t amount)
{
    std::uint64_t value = checksum(auction.data(), auction.size(), amount);
    auction[value % auction.size()]++;
    return value;
}

unsigned handle(request *request)
{
    std::uint64_t value;
    if (server_fix("unfair-lock")) {
        std::lock_guard<std::mutex> guard(plain_mutex);
        value = bid(request->number);
    } else {
        std::lock_guard<TicketGate> guard(gate);
        value = bid(request->number);
    }
    unsigned char reply[900] = {};
    request->random += checksum(reply, sizeof reply, value) | 1;
    if (request->number % 30 == 0) {
        std::lock_guard<std::mutex> guard(bids_mutex);
        bids += 30;
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
