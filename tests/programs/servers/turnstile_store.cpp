// SPDX-License-Identifier: MIT
// A store with a lock of its own, written for speed: a queue of tickets whose owners
// sleep in futex(). What its threads wait for is not a lock of pthread.
#include <atomic>
#include <linux/futex.h>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "server.h"

namespace
{

class Turnstile
{
  public:
    void lock()
    {
        std::uint32_t ticket = next_.fetch_add(1), seen;
        while ((seen = serving_.load()) != ticket)
            syscall(SYS_futex, &serving_, FUTEX_WAIT_PRIVATE, seen, nullptr);
    }

    void unlock()
    {
        serving_.fetch_add(1);
        syscall(SYS_futex, &serving_, FUTEX_WAKE_PRIVATE, 1 << 30);
    }

  private:
    std::atomic<std::uint32_t> next_{0}, serving_{0};
};

Turnstile turnstile;
std::vector<std::uint64_t> documents(900, 1);
std::mutex audit_mutex;
std::uint64_t audit;

unsigned handle(request *request)
{
    turnstile.lock();
    std::size_t size = documents.size() * sizeof documents[0];
    std::uint64_t sum = checksum(documents.data(), size, request->number);
    documents[sum % documents.size()]++;
    turnstile.unlock();
    if (sum % 40 == 0) {
        std::lock_guard<std::mutex> guard(audit_mutex);
        audit++;
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
