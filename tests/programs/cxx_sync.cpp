/* SPDX-License-Identifier: MIT */
/* The C++ standard library's locks and condition variables, which use pthread's. */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "check.h"

using namespace std::chrono_literals;

namespace
{

template <typename Mutex> void count(int threads, int wanted_rounds)
{
    Mutex mutex;
    volatile long counter = 0;
    int rounds = check_rounds(wanted_rounds);
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; i++)
        workers.emplace_back([&] {
            for (int round = 0; round < rounds; round++) {
                std::lock_guard<Mutex> guard(mutex);
                long before = counter;
                check_dawdle(before);
                counter = before + 1;
            }
        });
    for (auto &worker : workers)
        worker.join();
    CHECK_EQUAL(counter, static_cast<long>(threads) * rounds);
}

/* Checks that apply to every timed mutex, recursive or not. */
template <typename Mutex> void timed()
{
    Mutex mutex;
    count<Mutex>(4, 3000);
    CHECK(mutex.try_lock_for(0ms));
    std::thread([&] {
        auto start = std::chrono::steady_clock::now();
        CHECK(!mutex.try_lock());
        CHECK(!mutex.try_lock_for(15ms));
        CHECK(std::chrono::steady_clock::now() - start >= 15ms);
        CHECK(!mutex.try_lock_until(std::chrono::system_clock::now() + 10ms));
        CHECK(!mutex.try_lock_until(std::chrono::steady_clock::now() + 10ms));
        CHECK(!mutex.try_lock_until(std::chrono::steady_clock::now() - 1s));
    }).join();
    std::atomic<bool> started = false;
    std::thread patient([&] {
        started = true;
        CHECK(mutex.try_lock_for(15s));
        mutex.unlock();
    });
    while (!started)
        std::this_thread::yield();
    std::this_thread::sleep_for(5ms);
    mutex.unlock();
    patient.join();
    CHECK(mutex.try_lock());
    mutex.unlock();
}

void mutex()
{
    count<std::mutex>(4, 5000);
}

void timed_mutex()
{
    timed<std::timed_mutex>();
}

void recursive_timed_mutex()
{
    timed<std::recursive_timed_mutex>();
}

void recursive_mutex()
{
    count<std::recursive_mutex>(4, 3000);
    std::recursive_mutex object;
    std::unique_lock outer(object);
    std::unique_lock inner(object);
    CHECK(object.try_lock());
    object.unlock();
    inner.unlock();
    std::thread([&] { CHECK(!object.try_lock()); }).join();
    outer.unlock();
    std::thread([&] {
        CHECK(object.try_lock());
        object.unlock();
    }).join();
}

template <typename Mutex, typename Condition> void wait_for()
{
    Mutex object;
    Condition condition;
    bool ready = false;
    {
        std::unique_lock lock(object);
        auto start = std::chrono::steady_clock::now();
        CHECK(!condition.wait_for(lock, 15ms, [&] { return ready; }));
        CHECK(std::chrono::steady_clock::now() - start >= 15ms);
        CHECK(!condition.wait_until(lock, std::chrono::system_clock::now() + 10ms,
                                    [&] { return ready; }));
        CHECK(!condition.wait_until(lock, std::chrono::steady_clock::now() - 1s,
                                    [&] { return ready; }));
        CHECK(lock.owns_lock());
    }
    std::thread waker([&] {
        std::this_thread::sleep_for(5ms);
        std::lock_guard guard(object);
        ready = true;
        condition.notify_one();
    });
    {
        std::unique_lock lock(object);
        CHECK(condition.wait_for(lock, 15s, [&] { return ready; }));
    }
    waker.join();

    int turn = 0;
    int rounds = check_rounds(1000);
    std::thread other([&] {
        std::unique_lock lock(object);
        for (int i = 0; i < rounds; i++) {
            condition.wait(lock, [&] { return turn == 1; });
            turn = 0;
            condition.notify_all();
        }
    });
    {
        std::unique_lock lock(object);
        for (int i = 0; i < rounds; i++) {
            turn = 1;
            condition.notify_one();
            CHECK(condition.wait_for(lock, 15s, [&] { return turn == 0; }));
        }
    }
    other.join();
}

void condition_variable()
{
    wait_for<std::mutex, std::condition_variable>();
}

void condition_variable_any()
{
    wait_for<std::mutex, std::condition_variable_any>();
    wait_for<std::recursive_timed_mutex, std::condition_variable_any>();
    wait_for<std::shared_mutex, std::condition_variable_any>();
}

void stop_token()
{
    std::mutex object;
    std::condition_variable_any condition;
    std::jthread waiter([&](std::stop_token stop) {
        std::unique_lock lock(object);
        CHECK(!condition.wait(lock, stop, [] { return false; }));
    });
    std::this_thread::sleep_for(3ms);
    waiter.request_stop();
    waiter.join();
}

void shared_mutex()
{
    count<std::shared_mutex>(4, 3000);
    count<std::shared_timed_mutex>(4, 3000);
    std::shared_timed_mutex object;
    std::shared_lock reader(object);
    std::thread([&] {
        std::shared_lock second(object);
        CHECK(!object.try_lock_for(5ms));
    }).join();
}

void futures()
{
    int total = 0;
    for (int i = 0; i < 100; i++)
        total += std::async(std::launch::async, [i] { return i; }).get();
    CHECK_EQUAL(total, 4950);
    std::promise<int> promise;
    auto future = promise.get_future();
    CHECK(future.wait_for(5ms) == std::future_status::timeout);
    std::thread([&] { promise.set_value_at_thread_exit(5); }).join();
    CHECK_EQUAL(future.get(), 5);
}

void at_thread_exit()
{
    std::mutex object;
    std::condition_variable condition;
    bool done = false;
    std::thread([&] {
        std::unique_lock lock(object);
        done = true;
        std::notify_all_at_thread_exit(condition, std::move(lock));
    }).detach();
    std::unique_lock lock(object);
    CHECK(condition.wait_for(lock, 15s, [&] { return done; }));
}

void once()
{
    std::once_flag flag;
    std::atomic<int> calls = 0;
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; i++)
        workers.emplace_back([&] {
            std::call_once(flag, [&] { calls++; });
            CHECK_EQUAL(calls.load(), 1);
        });
    for (auto &worker : workers)
        worker.join();
}

} // namespace

CHECK_MAIN(CASE(mutex), CASE(timed_mutex), CASE(recursive_timed_mutex),
           CASE(recursive_mutex), CASE(condition_variable),
           CASE(condition_variable_any), CASE(stop_token), CASE(shared_mutex),
           CASE(futures), CASE(at_thread_exit), CASE(once))
