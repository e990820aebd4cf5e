// SPDX-License-Identifier: MIT
// A gateway charges each call to a quota. It tries to get the mutex, and sleeps for
// a millisecond whenever somebody else has it, which is for 20 microseconds.
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "server.h"

namespace
{

class Quotas
{
  public:
    bool charge(std::uint64_t customer)
    {
        std::unique_lock<std::mutex> guard(quotas_mutex_, std::defer_lock);
        if (server_fix("block-instead"))
            guard.lock();
        while (!guard.owns_lock() && !guard.try_lock())
            std::this_thread::sleep_for(std::chrono::microseconds(1000));
        used_[customer] += 1;
        std::uint64_t size = used_.size() * sizeof used_[0];
        return checksum(used_.data(), size, customer) % 100 != 0;
    }

  private:
    std::mutex quotas_mutex_;
    std::vector<std::uint64_t> used_ = std::vector<std::uint64_t>(3000);
};

Quotas quotas;
std::mutex refusals_mutex;
std::uint64_t refusals;

unsigned handle(request *request)
{
    sleep_us(100); // the next call
    char call[1000] = {'c'};
    std::uint64_t sum = checksum(call, sizeof call, request->number);
    if (!quotas.charge((sum + random_below(request, 3000)) % 3000)) {
        std::lock_guard<std::mutex> guard(refusals_mutex);
        refusals++;
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
