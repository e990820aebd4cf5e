/* SPDX-License-Identifier: MIT */
/* Sites in C++: no call initialises these mutexes and, without optimisation, a single
 * function of the library locks all of them. */
#include <cstdio>
#include <mutex>
#include <thread>

struct Store {
    std::mutex mutex;
    int values = 0;
};
static std::mutex journal;

/* Returns the index of a mutex's algorithm, which Hasp stores at this offset. */
static int lock_of(const std::mutex &mutex)
{
    return reinterpret_cast<const unsigned char *>(&mutex)[20];
}

static void put(Store &store)
{
    std::lock_guard<std::mutex> guard(store.mutex);
    store.values++;
}

static void count(Store &other)
{
    std::lock_guard<std::mutex> guard(other.mutex);
    other.values += 2;
}

int main()
{
    Store *first = new Store, *second = new Store;
    std::thread([] {}).join();
    for (int turn = 0; turn < 100; turn++) {
        put(*first);
        count(*second);
        std::lock_guard<std::mutex> guard(journal);
    }
    std::printf("put %d count %d journal %d\n", lock_of(first->mutex),
                lock_of(second->mutex), lock_of(journal));
}
