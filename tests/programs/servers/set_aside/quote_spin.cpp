// SPDX-License-Identifier: MIT
// Six feeds and the serving threads share a book of quotes behind a spin lock, as if
// each had a CPU of its own. The section has ten microseconds of work. The remedy
// sleeps while it waits. The archive's mutex is always taken, and wanted by nobody
// else.
#include <array>
#include <mutex>
#include <pthread.h>

#include "../server.h"

namespace
{

constexpr unsigned FEEDS = 6;

class SpinLock
{
  public:
    SpinLock()
    {
        pthread_spin_init(&book_spin_, PTHREAD_PROCESS_PRIVATE);
    }
    ~SpinLock()
    {
        pthread_spin_destroy(&book_spin_);
    }
    void lock()
    {
        pthread_spin_lock(&book_spin_);
    }
    void unlock()
    {
        pthread_spin_unlock(&book_spin_);
    }

  private:
    pthread_spinlock_t book_spin_;
};

class Book
{
  public:
    std::uint64_t quote(std::uint64_t price)
    {
        if (server_fix("use-mutex")) {
            std::lock_guard<std::mutex> guard(book_mutex_);
            return work(price);
        }
        std::lock_guard<SpinLock> guard(spin_);
        return work(price);
    }

  private:
    std::uint64_t work(std::uint64_t price)
    {
        price = checksum(levels_.data(), levels_.size(), price);
        levels_[price % levels_.size()]++;
        return price;
    }

    SpinLock spin_;
    std::mutex book_mutex_;
    std::array<unsigned char, 10000> levels_{};
};

Book book;
std::mutex archive_mutex;

void *feed(void *unused)
{
    unsigned char message[40000] = {};
    for (std::uint64_t price = 1; !server_stopping();) {
        price = book.quote(price);
        message[0] = static_cast<unsigned char>(checksum(message, 40000, price));
        server_count(1);
    }
    return unused;
}

void *archive(void *unused)
{
    while (!server_stopping()) {
        std::lock_guard<std::mutex> guard(archive_mutex);
        sleep_us(5000);
    }
    return unused;
}

unsigned handle(request *request)
{
    unsigned char order[40000] = {};
    std::uint64_t price = book.quote(request->number);
    request->random += checksum(order, sizeof order, price) | 1;
    return 1;
}

void setup()
{
    unsigned feeds = server_fix("fewer-threads") ? 1 : FEEDS;
    for (unsigned i = 0; i < feeds; i++)
        server_background(feed, nullptr);
    server_background(archive, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
