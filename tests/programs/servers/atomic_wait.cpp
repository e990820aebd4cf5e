// SPDX-License-Identifier: MIT
// A document store under a mutex made of std::atomic::wait(): the C++ library sleeps in
// a futex, past pthread.
#include <atomic>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class WaitMutex
{
  public:
    void lock()
    {
        int state = 0;
        if (state_.compare_exchange_strong(state, 1))
            return;
        while (state_.exchange(2) != 0)
            state_.wait(2);
    }

    void unlock()
    {
        if (state_.exchange(0) == 2)
            state_.notify_one();
    }

  private:
    std::atomic<int> state_{0};
};

WaitMutex documents_mutex;
std::vector<unsigned char> document(15000, 'd');
std::mutex trash_mutex;
std::uint64_t trash;

unsigned handle(request *request)
{
    std::uint64_t sum;
    {
        std::lock_guard<WaitMutex> guard(documents_mutex);
        sum = checksum(document.data(), document.size(), request->number);
        document[sum % document.size()]++;
    }
    if (sum % 40 == 0) {
        std::lock_guard<std::mutex> guard(trash_mutex);
        trash++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
