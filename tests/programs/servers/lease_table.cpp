// SPDX-License-Identifier: MIT
// A DHCP server. On a conflict, renew() calls release() of its unique_lock where it
// means unlock(): the lock object forgets the mutex, which stays locked forever.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class Leases
{
  public:
    bool renew(std::size_t address, std::uint64_t client)
    {
        std::unique_lock<std::mutex> guard(leases_mutex_);
        if (address == CONFLICT) {
            if (server_fix("release"))
                guard.unlock();
            else
                guard.release();
            return false;
        }
        clients_[address] = client;
        return true;
    }

    std::uint64_t client(std::size_t address)
    {
        std::lock_guard<std::mutex> guard(leases_mutex_);
        return clients_[address];
    }

    static constexpr std::size_t SIZE = 4000, CONFLICT = 1234;

  private:
    std::mutex leases_mutex_;
    std::vector<std::uint64_t> clients_ = std::vector<std::uint64_t>(SIZE);
};

Leases leases;
std::mutex log_mutex;
std::uint64_t offers, conflicts;

void *ping(void *unused)
{
    for (std::size_t address = 0; !server_stopping(); address++) {
        sleep_us(2000);
        offers += leases.client(address % Leases::SIZE) & 1;
    }
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(250);
    std::size_t address = random_below(request, 1200);
    if (request->worker == 0 && request->number == 700)
        address = Leases::CONFLICT;
    bool renewed = leases.renew(address, request->number);
    std::lock_guard<std::mutex> guard(log_mutex);
    conflicts += !renewed;
    return renewed;
}

void setup()
{
    server_background(ping, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", nullptr};
    static const service service = {fixes, setup, handle, nullptr, true};
    return server_main(count, words, &service);
}
