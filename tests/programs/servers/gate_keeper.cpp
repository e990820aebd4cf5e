// SPDX-License-Identifier: MIT
// A reservation system whose only hot lock is a std::binary_semaphore of C++20,
// which waits in the kernel without any function of pthread.
#include <array>
#include <mutex>
#include <semaphore>

#include "server.h"

namespace
{

class Hall
{
  public:
    std::uint64_t reserve(std::uint64_t seat)
    {
        gate_.acquire();
        seats_[seat % seats_.size()]++;
        std::uint64_t sum = checksum(seats_.data(), sizeof seats_, seat);
        gate_.release();
        return sum;
    }

  private:
    std::binary_semaphore gate_{1};
    std::array<std::uint64_t, 2500> seats_{};
};

Hall hall;
std::mutex payments_mutex;
std::uint64_t payments;

void *settle(void *unused)
{
    while (!server_stopping()) {
        sleep_us(2500);
        std::lock_guard<std::mutex> guard(payments_mutex);
        payments /= 2;
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t sum = hall.reserve(random_below(request, 1u << 20));
    if (sum % 16 == 0) {
        std::lock_guard<std::mutex> guard(payments_mutex);
        payments++;
    }
    return 1;
}

void setup()
{
    server_background(settle, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
