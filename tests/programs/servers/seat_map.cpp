// SPDX-License-Identifier: MIT
// A seat is booked with try_lock. After a failure the thread sleeps for twice as long
// as before, from 100 us on, so that it often sleeps while the mutex is free.
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "server.h"

namespace
{

class SeatMap
{
  public:
    std::uint64_t book(std::uint64_t seat)
    {
        if (server_fix("block-instead"))
            seats_mutex_.lock();
        else
            acquire();
        seats_[seat % seats_.size()]++;
        std::uint64_t sum = checksum(seats_.data(), seats_.size(), seat);
        seats_mutex_.unlock();
        return sum;
    }

  private:
    void acquire()
    {
        for (unsigned pause = 100; !seats_mutex_.try_lock(); pause *= 2)
            std::this_thread::sleep_for(std::chrono::microseconds(pause));
    }

    std::mutex seats_mutex_;
    std::vector<unsigned char> seats_ = std::vector<unsigned char>(40000);
};

SeatMap map;
std::mutex bills_mutex;
std::uint64_t bills;

unsigned handle(request *request)
{
    char customer[20000] = {'c'};
    std::uint64_t sum = checksum(customer, sizeof customer, request->number);
    if (map.book(sum) % 8 == 0) {
        std::lock_guard<std::mutex> guard(bills_mutex);
        bills++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
