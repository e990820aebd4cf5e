/* SPDX-License-Identifier: MIT */
/* C++ objects with static storage lock in their constructors and destructors. */
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

#include "check.h"

namespace
{

/* Set by the last object to be destroyed; checked when only _exit is left to run. */
int alive = 0;
bool at_end = false;

class Service
{
  public:
    Service()
    {
        worker = std::thread([this] {
            std::unique_lock lock(mutex);
            running = true;
            changed.notify_all();
            changed.wait(lock, [this] { return stopping; });
        });
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return running; });
        alive++;
    }

    /* Stops the worker, after main has returned. */
    ~Service()
    {
        {
            std::lock_guard guard(mutex);
            stopping = true;
            changed.notify_all();
        }
        worker.join();
        alive--;
        if (at_end && alive == 0)
            _exit(0);
    }

    int depth()
    {
        std::lock_guard outer(again);
        std::lock_guard inner(again);
        return 2;
    }

  private:
    std::mutex mutex;
    std::recursive_mutex again;
    std::condition_variable changed;
    std::thread worker;
    bool running = false;
    bool stopping = false;
};

Service first;
Service second;

Service &local()
{
    static Service object;
    return object;
}

thread_local struct AtThreadExit {
    std::mutex *mutex = nullptr;
    ~AtThreadExit()
    {
        if (mutex) {
            std::lock_guard guard(*mutex);
            alive += 100;
        }
    }
} at_thread_exit;

void before_main()
{
    CHECK_EQUAL(alive, 2);
    CHECK_EQUAL(first.depth(), 2);
}

void function_static()
{
    std::thread others[4];
    for (auto &other : others)
        other = std::thread([] { CHECK_EQUAL(local().depth(), 2); });
    for (auto &other : others)
        other.join();
    CHECK_EQUAL(alive, 3);
}

/* This case passes only if every destructor completes, because the last one sets the
 * exit status. */
void after_main()
{
    local();
    at_end = true;
    std::atexit([] { CHECK_EQUAL(first.depth(), 2); });
    std::atexit([] { std::thread([] { CHECK_EQUAL(second.depth(), 2); }).join(); });
    exit(5);
}

void thread_local_destructor()
{
    static std::mutex shared;
    std::thread([] { at_thread_exit.mutex = &shared; }).join();
    CHECK_EQUAL(alive, 102);
    CHECK(shared.try_lock());
    shared.unlock();
    alive -= 100;
}

} // namespace

CHECK_MAIN(CASE(before_main), CASE(function_static), CASE(after_main),
           CASE(thread_local_destructor))
