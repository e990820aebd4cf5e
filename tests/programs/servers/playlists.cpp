// SPDX-License-Identifier: MIT
// A music library of playlists, each with a mutex. Library::shuffle() keeps the
// library's recursive mutex while it shuffles a playlist under the playlist's own.
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "server.h"

namespace
{

class Playlist
{
  public:
    void shuffle(std::uint64_t seed)
    {
        std::lock_guard<std::mutex> guard(songs_mutex_);
        for (std::size_t i = songs_.size() - 1; i > 0; i--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            std::swap(songs_[i], songs_[(seed >> 33) % (i + 1)]);
        }
    }

  private:
    std::mutex songs_mutex_;
    std::vector<std::uint32_t> songs_ = std::vector<std::uint32_t>(5000, 1);
};

class Library
{
  public:
    Library()
    {
        for (unsigned i = 0; i < 100; i++)
            playlists_.push_back(std::make_shared<Playlist>());
    }

    void shuffle(std::size_t number, std::uint64_t seed)
    {
        std::unique_lock<std::recursive_mutex> guard(library_mutex_);
        std::shared_ptr<Playlist> playlist = find(number);
        if (server_fix("unnest"))
            guard.unlock();
        playlist->shuffle(seed);
    }

    std::shared_ptr<Playlist> find(std::size_t number)
    {
        std::lock_guard<std::recursive_mutex> guard(library_mutex_);
        lookups_++;
        return playlists_[number % playlists_.size()];
    }

  private:
    std::recursive_mutex library_mutex_;
    std::uint64_t lookups_ = 0;
    std::vector<std::shared_ptr<Playlist>> playlists_;
};

Library *library;
std::mutex history_mutex;
std::vector<std::uint64_t> history(256);

unsigned handle(request *request)
{
    std::uint64_t number = random_below(request, 100);
    library->shuffle(number, request->random);
    std::lock_guard<std::mutex> guard(history_mutex);
    history[request->number % 256] = number;
    return 1;
}

void setup()
{
    library = new Library;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
