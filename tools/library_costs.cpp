/* SPDX-License-Identifier: MIT */
/*
 * What a lock and unlock costs: pthread's and std::mutex beside Hasp's, in one run.
 *
 *     library_costs ROUNDS [KIND]
 *
 * Prints one JSON line for each kind, number of threads and round: nanoseconds of a
 * pair of lock and unlock, per pair of all threads. The kinds follow each other in
 * another order in each round. With one thread, a second one exists, but sleeps.
 */
#include <hasp/mutex.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <random>
#include <thread>
#include <vector>

namespace
{

using clock_type = std::chrono::steady_clock;

constexpr int PAIRS_ALONE = 200000;
constexpr auto WINDOW = std::chrono::milliseconds(40);

struct pthread_kind {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    void lock()
    {
        pthread_mutex_lock(&mutex);
    }
    void unlock()
    {
        pthread_mutex_unlock(&mutex);
    }
};

template <const char *const &Name> struct named_kind {
    hasp::any_mutex mutex{Name};
    void lock()
    {
        mutex.lock();
    }
    void unlock()
    {
        mutex.unlock();
    }
};

const char *const futex_name = "futex";
const char *const mcs_name = "mcs";

template <class Mutex> struct alignas(256) shared_state {
    Mutex mutex;
    alignas(128) long count = 0;
};

double per_pair(clock_type::duration time, long pairs)
{
    return std::chrono::duration<double, std::nano>(time).count() /
           static_cast<double>(pairs);
}

template <class Mutex> double alone()
{
    static shared_state<Mutex> state;
    const auto begin = clock_type::now();
    for (int i = 0; i < PAIRS_ALONE; i++) {
        state.mutex.lock();
        state.count++;
        state.mutex.unlock();
    }
    return per_pair(clock_type::now() - begin, PAIRS_ALONE);
}

template <class Mutex> double together()
{
    static shared_state<Mutex> state;
    std::atomic<bool> stop{false};
    std::atomic<int> ready{0};
    const long before = state.count;
    const auto work = [&] {
        ready++;
        while (ready < 2)
            ;
        while (!stop.load(std::memory_order_relaxed)) {
            for (int i = 0; i < 64; i++) {
                state.mutex.lock();
                state.count++;
                state.mutex.unlock();
            }
        }
    };
    std::thread one(work), two(work);
    while (ready < 2)
        std::this_thread::yield();
    const auto begin = clock_type::now();
    std::this_thread::sleep_for(WINDOW);
    stop = true;
    one.join();
    two.join();
    return per_pair(clock_type::now() - begin, state.count - before);
}

struct kind {
    const char *name;
    double (*alone)();
    double (*together)();
};

template <class Mutex> kind kind_of(const char *name)
{
    return {name, alone<Mutex>, together<Mutex>};
}

std::vector<kind> kinds()
{
    return {
        kind_of<pthread_kind>("pthread_mutex_t"),
        kind_of<std::mutex>("std::mutex"),
        kind_of<hasp::mutex<hasp::futex>>("hasp::mutex<futex>"),
        kind_of<hasp::mutex<hasp::ttas>>("hasp::mutex<ttas>"),
        kind_of<hasp::mutex<hasp::ticket>>("hasp::mutex<ticket>"),
        kind_of<hasp::mutex<hasp::mcs>>("hasp::mutex<mcs>"),
        kind_of<hasp::mutex<hasp::mcs_park>>("hasp::mutex<mcs_park>"),
        kind_of<hasp::mutex<hasp::malthusian_park>>("hasp::mutex<malthusian_park>"),
        kind_of<named_kind<futex_name>>("hasp::any_mutex(futex)"),
        kind_of<named_kind<mcs_name>>("hasp::any_mutex(mcs)"),
    };
}

} // namespace

int main(int arguments, char **argument)
{
    const int rounds = arguments > 1 ? std::atoi(argument[1]) : 10;
    std::mutex held;
    held.lock();
    std::thread sleeper([&] { std::lock_guard<std::mutex> wait(held); });
    std::mt19937 random(1);
    std::vector<kind> order = kinds();
    for (int round = 0; round < rounds; round++) {
        std::shuffle(order.begin(), order.end(), random);
        for (const kind &each : order) {
            if (arguments > 2 && std::strcmp(argument[2], each.name) != 0)
                continue;
            std::printf("{\"kind\": \"%s\", \"threads\": 1, \"ns\": %.2f}\n", each.name,
                        each.alone());
            std::printf("{\"kind\": \"%s\", \"threads\": 2, \"ns\": %.2f}\n", each.name,
                        each.together());
        }
    }
    held.unlock();
    sleeper.join();
    return 0;
}
