// SPDX-License-Identifier: MIT
// A service registry hands out copies of its list of addresses. Each copy allocates
// a hundred and fifty strings under the mutex. The remedy copies into strings that
// the thread allocated for an earlier request.
#include <mutex>
#include <string>
#include <vector>

#include "server.h"

namespace
{

using Addresses = std::vector<std::string>;

class Registry
{
  public:
    Registry()
    {
        for (unsigned i = 0; i < 150; i++)
            addresses_.push_back("instance-" + std::to_string(i) + ".cluster.example");
    }

    void copy_to(Addresses &copy)
    {
        if (!server_fix("allocate-outside")) {
            std::lock_guard<std::mutex> guard(registry_mutex_);
            copy = Addresses(addresses_);
            return;
        }
        std::lock_guard<std::mutex> guard(registry_mutex_);
        copy.resize(addresses_.size());
        for (std::size_t i = 0; i < copy.size(); i++)
            copy[i].assign(addresses_[i]);
    }

    void renew(std::size_t number)
    {
        std::lock_guard<std::mutex> guard(registry_mutex_);
        addresses_[number % addresses_.size()].back() = 'e';
    }

  private:
    std::mutex registry_mutex_;
    Addresses addresses_;
};

Registry *registry;
std::mutex tries_mutex;
std::uint64_t tries[5];

void *check_health(void *unused)
{
    for (std::size_t number = 0; !server_stopping(); number++) {
        registry->renew(number);
        sleep_us(1000);
    }
    return unused;
}

unsigned handle(request *request)
{
    static thread_local Addresses addresses;
    registry->copy_to(addresses);
    std::uint64_t sum = request->number;
    for (std::size_t i = 0; i < addresses.size(); i += 10)
        sum = checksum(addresses[i].data(), addresses[i].size(), sum);
    if (sum % 16 == 0) {
        std::lock_guard<std::mutex> guard(tries_mutex);
        tries[sum % 5]++;
    }
    return 1;
}

void setup()
{
    registry = new Registry;
    server_background(check_health, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
