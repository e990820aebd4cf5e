// SPDX-License-Identifier: MIT
// A client that finds the lease table locked sleeps for half a millisecond and tries
// again, although the table is free much earlier. The remedy waits in the lock.
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "server.h"

namespace
{

class LeaseTable
{
  public:
    std::uint64_t renew(std::uint64_t client)
    {
        if (server_fix("block-instead")) {
            table_mutex_.lock();
        } else {
            while (!table_mutex_.try_lock())
                std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
        std::uint64_t lease = client;
        for (unsigned pass = 0; pass < 5; pass++)
            lease = checksum(leases_.data(), leases_.size(), lease);
        leases_[lease % leases_.size()]++;
        table_mutex_.unlock();
        return lease;
    }

  private:
    std::mutex table_mutex_;
    std::vector<unsigned char> leases_ = std::vector<unsigned char>(12000);
};

LeaseTable table;
std::mutex renewals_mutex;
std::uint64_t renewals;

unsigned handle(request *request)
{
    sleep_us(150); // the network
    request->random += table.renew(request->number) | 1;
    std::lock_guard<std::mutex> guard(renewals_mutex);
    renewals++;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
