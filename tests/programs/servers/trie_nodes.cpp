// SPDX-License-Identifier: MIT
// Each node of a trie has a mutex, "to be able to lock finely". The trie has more than
// 200,000 nodes, which are locked once when they are made; afterwards it is asked for
// a few hundred words. The remedy has a mutex for each first letter.
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

struct Plain {
    std::array<std::uint32_t, 4> children{};
    std::uint32_t count = 0;
};

struct Node : Plain {
    std::mutex node_mutex;
};

class Trie
{
  public:
    explicit Trie(unsigned words)
    {
        fine_ = !server_fix("fewer-locks");
        nodes_.reserve(words * 8);
        plain_.reserve(words * 8);
        grow();
        for (std::uint64_t word = 0; word < words; word++)
            insert(spread(word));
    }

    void insert(std::uint64_t word)
    {
        std::uint32_t at = 0;
        std::unique_lock<std::mutex> letter(letters_[word % 4], std::defer_lock);
        if (!fine_)
            letter.lock();
        for (unsigned depth = 0; depth < 11; depth++, word /= 4)
            at = descend(at, word % 4);
    }

    static std::uint64_t spread(std::uint64_t word)
    {
        return word * 0x9e3779b97f4a7c15u >> 20;
    }

  private:
    std::uint32_t descend(std::uint32_t at, std::uint64_t letter)
    {
        std::unique_lock<std::mutex> guard;
        if (fine_)
            guard = std::unique_lock<std::mutex>(nodes_[at]->node_mutex);
        Plain &node = fine_ ? *nodes_[at] : *plain_[at];
        node.count++;
        if (node.children[letter] == 0)
            node.children[letter] = grow();
        return node.children[letter];
    }

    std::uint32_t grow()
    {
        if (fine_)
            nodes_.push_back(std::make_unique<Node>());
        else
            plain_.push_back(std::make_unique<Plain>());
        return static_cast<std::uint32_t>((fine_ ? nodes_.size() : plain_.size()) - 1);
    }

    bool fine_;
    std::array<std::mutex, 4> letters_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::vector<std::unique_ptr<Plain>> plain_;
};

std::unique_ptr<Trie> trie;
std::mutex queries_mutex;
std::uint64_t queries;

unsigned handle(request *request)
{
    sleep_us(80);
    trie->insert(Trie::spread(random_below(request, 300)));
    std::lock_guard<std::mutex> guard(queries_mutex);
    queries++;
    return 1;
}

void setup()
{
    trie = std::make_unique<Trie>(60000);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
