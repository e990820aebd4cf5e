// SPDX-License-Identifier: MIT
// An index from tags to photos. A posting list grows element by element under the
// index's mutex, so it is allocated again and again, and moved.
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

using Postings = std::vector<std::uint32_t>;

class TagIndex
{
  public:
    void rebuild(std::size_t tag, std::uint32_t first)
    {
        if (server_fix("allocate-outside")) {
            Postings postings = collect(first);
            std::lock_guard<std::mutex> guard(index_mutex_);
            lists_[tag].swap(postings);
            return;
        }
        std::lock_guard<std::mutex> guard(index_mutex_);
        lists_[tag] = collect(first);
    }

    std::size_t size(std::size_t tag)
    {
        std::lock_guard<std::mutex> guard(index_mutex_);
        return lists_[tag].size();
    }

  private:
    static Postings collect(std::uint32_t first)
    {
        Postings postings;
        for (std::uint32_t photo = first; photo < first + 90000; photo += 1)
            postings.push_back(photo);
        return postings;
    }

    std::mutex index_mutex_;
    std::vector<Postings> lists_ = std::vector<Postings>(24);
};

TagIndex index_of_tags;
std::mutex popular_mutex;
std::size_t popular;

unsigned handle(request *request)
{
    std::size_t tag = random_below(request, 24);
    index_of_tags.rebuild(tag, static_cast<std::uint32_t>(request->number));
    std::size_t size = index_of_tags.size(random_below(request, 24));
    std::lock_guard<std::mutex> guard(popular_mutex);
    popular = size > popular ? size : popular;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
