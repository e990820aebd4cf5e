// SPDX-License-Identifier: MIT
// close_day() unlocks the ledger before it sends the report, and its std::lock_guard
// unlocks it once more at the end, when another thread may have it. The remedy is a
// std::unique_lock, which knows that it was unlocked.
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

class Ledger
{
  public:
    void book(std::int64_t amount)
    {
        std::lock_guard<std::mutex> guard(ledger_mutex_);
        entries_[static_cast<std::size_t>(amount) % entries_.size()] += amount;
    }

    void close_day()
    {
        if (server_fix("fix-misuse")) {
            std::unique_lock<std::mutex> guard(ledger_mutex_);
            std::int64_t total = sum();
            guard.unlock();
            send_report(total);
            return;
        }
        std::lock_guard<std::mutex> guard(ledger_mutex_);
        std::int64_t total = sum();
        ledger_mutex_.unlock();
        send_report(total);
    }

  private:
    std::int64_t sum() const
    {
        std::int64_t total = 0;
        for (std::int64_t entry : entries_)
            total += entry;
        return total;
    }

    void send_report(std::int64_t total)
    {
        reported_ = total;
        sleep_us(400);
    }

    std::mutex ledger_mutex_;
    std::vector<std::int64_t> entries_ = std::vector<std::int64_t>(300);
    std::int64_t reported_ = 0;
};

Ledger ledger;
std::mutex visitors_mutex;
std::uint64_t visitors;

void *close_days(void *unused)
{
    while (!server_stopping()) {
        sleep_us(20000);
        ledger.close_day();
    }
    return unused;
}

unsigned handle(request *request)
{
    unsigned char invoice[2000] = {};
    request->random += checksum(invoice, sizeof invoice, request->number) | 1;
    sleep_us(400);
    ledger.book(static_cast<std::int64_t>(random_below(request, 1000)));
    std::lock_guard<std::mutex> guard(visitors_mutex);
    visitors++;
    return 1;
}

void setup()
{
    server_background(close_days, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
