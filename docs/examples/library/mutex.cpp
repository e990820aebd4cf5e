/* SPDX-License-Identifier: MIT */
/* Accounts under locks of two kinds, and what the standard library does with them. */
#include <hasp/mutex.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace
{

struct account {
    hasp::mutex<hasp::mcs_park> mutex;
    long balance = 0;
};

account savings, current;
hasp::shared_mutex rates_mutex;
long rate = 1;

void transfer(int times)
{
    for (int i = 0; i < times; i++) {
        std::scoped_lock both(savings.mutex, current.mutex);
        savings.balance -= 1;
        current.balance += 1;
    }
}

long read_rate()
{
    std::shared_lock reading(rates_mutex);
    return rate;
}

template <class Condition> bool hand_over()
{
    hasp::mutex<hasp::futex> mutex;
    Condition changed;
    bool ready = false;
    std::thread other([&] {
        std::lock_guard held(mutex);
        ready = true;
        changed.notify_one();
    });
    std::unique_lock held(mutex);
    while (!ready)
        changed.wait(held);
    held.unlock();
    other.join();
    return ready;
}

template <class Mutex> bool times_out(Mutex &mutex)
{
    std::unique_lock held(mutex);
    bool acquired = true;
    std::thread([&] {
        acquired = mutex.try_lock() || mutex.try_lock_for(1ms) ||
                   mutex.try_lock_until(std::chrono::system_clock::now() + 1ms);
    }).join();
    return !acquired;
}

} // namespace

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(transfer, 5000);
    for (std::thread &thread : threads)
        thread.join();
    {
        std::unique_lock writing(rates_mutex);
        rate = 3;
    }

    hasp::any_mutex named("malthusian-park");
    bool refused = false;
    try {
        hasp::any_mutex unknown("no such lock");
    } catch (const std::invalid_argument &) {
        refused = true;
    }
    std::printf("moved %ld of %ld, rate %ld, %s %d, conditions %d %d, refused %d\n",
                current.balance, -savings.balance, read_rate(), named.name(),
                times_out(named) && times_out(savings.mutex) && times_out(rates_mutex),
                hand_over<hasp::condition_variable>(),
                hand_over<std::condition_variable_any>(), refused);
    return 0;
}
