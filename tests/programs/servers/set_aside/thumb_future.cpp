// SPDX-License-Identifier: MIT
// A gallery asks a storage service for missing thumbnails and waits for the future with
// its map of thumbnails locked, so those that are there are out of reach meanwhile. The
// hit statistics, for which threads wait at times too, matter much less.
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <unordered_map>

#include "../server.h"

namespace
{

class Storage // answers each request after a millisecond, however many there are
{
  public:
    std::future<std::uint64_t> ask(std::uint64_t name)
    {
        std::lock_guard<std::mutex> guard(asked_mutex_);
        asked_.push_back({now_ns() + 1000000, name, {}});
        asked_cond_.notify_one();
        if (ended_)
            asked_.back().answer.set_value(0);
        return asked_.back().answer.get_future();
    }

    void answer_all()
    {
        std::unique_lock<std::mutex> guard(asked_mutex_);
        while (!server_stopping() || !asked_.empty()) {
            if (asked_.empty()) {
                asked_cond_.wait(guard);
                continue;
            }
            Question question = std::move(asked_.front());
            asked_.pop_front();
            guard.unlock();
            if (std::uint64_t now = now_ns(); now < question.due_ns)
                sleep_us(static_cast<long>((question.due_ns - now) / 1000));
            question.answer.set_value(question.name * 7);
            guard.lock();
        }
        ended_ = true;
    }

    void wake()
    {
        std::lock_guard<std::mutex> guard(asked_mutex_);
        asked_cond_.notify_one();
    }

  private:
    struct Question {
        std::uint64_t due_ns, name;
        std::promise<std::uint64_t> answer;
    };
    std::mutex asked_mutex_;
    std::condition_variable asked_cond_;
    std::deque<Question> asked_;
    bool ended_ = false;
};

Storage storage;

class Gallery
{
  public:
    std::uint64_t thumbnail(std::uint64_t name)
    {
        std::unique_lock<std::mutex> guard(thumbnails_mutex_);
        auto found = thumbnails_.find(name);
        if (found != thumbnails_.end() && ++found->second.uses % 24 != 0)
            return found->second.pixels;
        std::future<std::uint64_t> answer = storage.ask(name);
        if (!server_fix("move-blocking-out"))
            return thumbnails_[name].pixels = answer.get();
        guard.unlock();
        std::uint64_t pixels = answer.get();
        guard.lock();
        return thumbnails_[name].pixels = pixels;
    }

  private:
    struct Thumbnail {
        std::uint64_t pixels = 0, uses = 0;
    };
    std::mutex thumbnails_mutex_;
    std::unordered_map<std::uint64_t, Thumbnail> thumbnails_;
};

Gallery gallery;
std::mutex hits_mutex;
std::uint64_t hits[400];

unsigned handle(request *request)
{
    std::uint64_t pixels = gallery.thumbnail(random_below(request, 300));
    std::lock_guard<std::mutex> guard(hits_mutex);
    request->random += checksum(hits, sizeof hits, pixels) | 1;
    hits[pixels % 400]++;
    return 1;
}

void *serve_storage(void *unused)
{
    storage.answer_all();
    return unused;
}

void setup()
{
    server_background(serve_storage, nullptr);
}
void stop()
{
    storage.wake();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
