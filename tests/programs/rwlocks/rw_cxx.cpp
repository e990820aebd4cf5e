/* SPDX-License-Identifier: MIT */
/* std::shared_mutex and std::shared_timed_mutex. */
#include "../check.h"

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

template <class Mutex> static void count_with(Mutex &mutex)
{
    long first = 0, second = 0;
    const int rounds = check_rounds(2000);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            for (int turn = 0; turn < rounds; turn++) {
                if ((turn + i) % 4 == 0) {
                    std::unique_lock<Mutex> guard(mutex);
                    first++;
                    check_dawdle(turn);
                    second++;
                } else {
                    std::shared_lock<Mutex> guard(mutex);
                    CHECK_EQUAL(first, second);
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    CHECK_EQUAL(first, rounds);
}

static void shared_mutex()
{
    static std::shared_mutex mutex;
    count_with(mutex);
    if (getenv("CHECK_EXCLUSIVE") != NULL)
        return;
    mutex.lock_shared();
    std::thread([] {
        CHECK(!mutex.try_lock());
        CHECK(mutex.try_lock_shared());
        mutex.unlock_shared();
    }).join();
    mutex.unlock_shared();
}

static void shared_timed_mutex()
{
    static std::shared_timed_mutex mutex;
    count_with(mutex);
    mutex.lock();
    std::thread([] {
        CHECK(!mutex.try_lock_shared_for(10ms));
        CHECK(!mutex.try_lock_for(10ms));
        CHECK(!mutex.try_lock_until(std::chrono::system_clock::now() + 10ms));
        CHECK(!mutex.try_lock_shared_until(std::chrono::steady_clock::now() + 10ms));
    }).join();
    mutex.unlock();
    CHECK(mutex.try_lock_for(10ms));
    mutex.unlock();
    CHECK(mutex.try_lock_shared_for(10ms));
    mutex.unlock_shared();
}

CHECK_MAIN(CASE(shared_mutex), CASE(shared_timed_mutex))
