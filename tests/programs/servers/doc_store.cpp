// SPDX-License-Identifier: MIT
// Documents have a mutex each, but the mutex of the index is kept while a document is
// edited, so two editors never work at a time. The remedy keeps the document alive
// with a shared_ptr and leaves the index.
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "server.h"

namespace
{

class Document
{
  public:
    std::uint64_t edit(std::size_t at, char letter)
    {
        std::lock_guard<std::mutex> guard(text_mutex_);
        text_[at % text_.size()] = letter;
        return checksum(text_.data(), text_.size(), at);
    }

  private:
    std::mutex text_mutex_;
    std::string text_ = std::string(11000, ' ');
};

class Store
{
  public:
    Store()
    {
        for (std::uint64_t id = 0; id < 60; id++)
            index_[id] = std::make_shared<Document>();
    }

    std::uint64_t edit(std::uint64_t id, std::size_t at, char letter)
    {
        std::unique_lock<std::mutex> guard(index_mutex_);
        std::shared_ptr<Document> document = index_.at(id);
        edits_++;
        if (server_fix("unnest"))
            guard.unlock();
        return document->edit(at, letter);
    }

  private:
    std::mutex index_mutex_;
    std::unordered_map<std::uint64_t, std::shared_ptr<Document>> index_;
    std::uint64_t edits_ = 0;
};

Store *store;
std::mutex cursor_mutex;
std::uint64_t cursors[32];

unsigned handle(request *request)
{
    char keys[1500] = {'k'};
    std::uint64_t key = checksum(keys, sizeof keys, request->number);
    std::uint64_t id = random_below(request, 60);
    std::uint64_t sum = store->edit(id, key, static_cast<char>('a' + key % 26));
    std::lock_guard<std::mutex> guard(cursor_mutex);
    cursors[sum % 32] = id;
    return 1;
}

void setup()
{
    store = new Store;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
