// SPDX-License-Identifier: MIT
// A compiler service. Each thread has a lexer, which locks a mutex of its own
// whenever a character is read or looked at. No other thread ever uses it.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server.h"

namespace
{

class Lexer
{
  public:
    void open(std::uint64_t number)
    {
        auto guard = protect();
        text_ = "let x" + std::to_string(number) + " = (a + b) * 42 - f(y, 17);";
        at_ = 0;
    }

    int next()
    {
        auto guard = protect();
        return at_ < text_.size() ? text_[at_++] : -1;
    }

    int peek()
    {
        auto guard = protect();
        return at_ < text_.size() ? text_[at_] : -1;
    }

  private:
    std::unique_lock<std::mutex> protect()
    {
        if (server_fix("drop-lock"))
            return {};
        return std::unique_lock<std::mutex>(lexer_mutex_);
    }

    std::mutex lexer_mutex_;
    std::string text_;
    std::size_t at_ = 0;
};

std::vector<std::unique_ptr<Lexer>> lexers;
std::mutex diagnostics_mutex;
std::uint64_t diagnostics;

unsigned count_tokens(Lexer &lexer)
{
    unsigned tokens = 0;
    for (int letter; (letter = lexer.next()) >= 0;) {
        bool word = letter >= '0';
        tokens += word != (lexer.peek() >= '0');
    }
    return tokens;
}

unsigned handle(request *request)
{
    Lexer &lexer = *lexers[request->worker];
    lexer.open(request->number % 1000);
    unsigned tokens = count_tokens(lexer);
    if (request->number % 512 == 0) {
        std::lock_guard<std::mutex> guard(diagnostics_mutex);
        diagnostics += tokens;
    }
    return 1;
}

void setup()
{
    for (unsigned i = 0; i < server_threads(); i++)
        lexers.push_back(std::make_unique<Lexer>());
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
