// SPDX-License-Identifier: MIT
// A request locks its session and moves the guard into the task that writes the
// session back, so another thread unlocks the mutex. std::mutex does not allow that;
// it works with glibc as it is. The remedy locks in the task.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

struct Session {
    std::mutex session_mutex;
    std::uint64_t value = 0, written = 0;
};

struct Task {
    Session *session = nullptr;
    std::unique_lock<std::mutex> guard;
};

class Writer
{
  public:
    void add(Task task)
    {
        std::lock_guard<std::mutex> guard(tasks_mutex_);
        tasks_.push_back(std::move(task));
        added_.notify_one();
    }

    bool run_next()
    {
        std::unique_lock<std::mutex> guard(tasks_mutex_);
        added_.wait(guard, [this] { return !tasks_.empty() || server_stopping(); });
        if (tasks_.empty())
            return false;
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        guard.unlock();
        if (!task.guard.owns_lock())
            task.guard = std::unique_lock<std::mutex>(task.session->session_mutex);
        task.session->written = task.session->value;
        return true;
    }

    void wake()
    {
        std::lock_guard<std::mutex> guard(tasks_mutex_);
        added_.notify_all();
    }

  private:
    std::mutex tasks_mutex_;
    std::condition_variable added_;
    std::deque<Task> tasks_;
};

Writer writer;
std::vector<std::unique_ptr<Session>> sessions;

void *write_back(void *unused)
{
    while (writer.run_next())
        ;
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(150);
    Session &session = *sessions[random_below(request, sessions.size())];
    std::unique_lock<std::mutex> guard(session.session_mutex);
    session.value += request->number;
    if (request->number % 20 != 0)
        return 1;
    if (server_fix("fix-misuse"))
        guard.unlock();
    Task task;
    task.session = &session;
    if (guard.owns_lock())
        task.guard = std::move(guard);
    writer.add(std::move(task));
    return 1;
}

void setup()
{
    for (unsigned i = 0; i < 80; i++)
        sessions.push_back(std::make_unique<Session>());
    server_background(write_back, nullptr);
}

void stop()
{
    writer.wake();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
