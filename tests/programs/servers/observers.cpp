// SPDX-License-Identifier: MIT
// A subject calls its observers under its mutex, and they lock their own. An
// observer that leaves locks its own mutex first and then the subject's. Threads
// claim an observer before they use it, which has prevented a deadlock up to now.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

struct Observer {
    std::mutex view_mutex;
    std::atomic<bool> claimed{false};
    std::uint64_t updates = 0;
};

class Subject
{
  public:
    void notify(Observer &observer)
    {
        std::lock_guard<std::mutex> guard(subject_mutex_);
        std::lock_guard<std::mutex> inner(observer.view_mutex);
        observer.updates += ++version_ % 3;
    }

    void attach(Observer &observer)
    {
        if (server_fix("fix-order")) {
            std::lock_guard<std::mutex> guard(subject_mutex_);
            std::lock_guard<std::mutex> inner(observer.view_mutex);
            renew(observer);
        } else {
            std::lock_guard<std::mutex> inner(observer.view_mutex);
            std::lock_guard<std::mutex> guard(subject_mutex_);
            renew(observer);
        }
    }

  private:
    void renew(Observer &observer)
    {
        observer.updates = 0;
        attached_++;
    }

    std::mutex subject_mutex_;
    std::uint64_t version_ = 0, attached_ = 0;
};

Subject subject;
std::vector<std::unique_ptr<Observer>> observers;
std::mutex layout_mutex;
std::uint64_t layout;

void *reattach(void *unused)
{
    for (std::size_t i = 0; !server_stopping(); i++) {
        sleep_us(4000);
        Observer &observer = *observers[i % observers.size()];
        if (observer.claimed.exchange(true))
            continue;
        subject.attach(observer);
        observer.claimed.store(false);
    }
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(100);
    Observer &observer = *observers[random_below(request, observers.size())];
    if (observer.claimed.exchange(true))
        return 0;
    subject.notify(observer);
    observer.claimed.store(false);
    std::lock_guard<std::mutex> guard(layout_mutex);
    layout++;
    return 1;
}

void setup()
{
    for (unsigned i = 0; i < 9; i++)
        observers.push_back(std::make_unique<Observer>());
    server_background(reattach, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
