// SPDX-License-Identifier: MIT
// The undo logs of all editors have one mutex. A new step copies the changed lines
// into strings, and frees those of the step that it drops, while that is locked: some
// eighty calls of the allocator. The remedy copies before and frees after the section.
#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "server.h"

namespace
{

using Step = std::vector<std::string>;

struct Log {
    std::array<Step, 60> steps;
    std::size_t next = 0;
};

class UndoLog
{
  public:
    void push(unsigned editor, const std::vector<const char *> &lines)
    {
        if (server_fix("allocate-outside")) {
            Step step = copy(lines);
            {
                std::lock_guard<std::mutex> guard(steps_mutex_);
                next_step(editor).swap(step);
            }
            return;
        }
        std::lock_guard<std::mutex> guard(steps_mutex_);
        next_step(editor) = copy(lines);
    }

  private:
    Step &next_step(unsigned editor)
    {
        Log &log = logs_[editor];
        return log.steps[log.next++ % log.steps.size()];
    }

    static Step copy(const std::vector<const char *> &lines)
    {
        Step step;
        for (const char *line : lines)
            step.emplace_back(line);
        return step;
    }

    std::mutex steps_mutex_;
    std::vector<Log> logs_ = std::vector<Log>(256);
};

UndoLog undo;
std::mutex saved_mutex;
std::uint64_t saved;

const char *const TEXT[] = {
    "for (unsigned i = 0; i < count; i++)",
    "    total += price[i] * amount[i] / 100;",
    "// the sum of all positions of this invoice, without tax",
    "return total < limit ? total : limit;",
};

unsigned handle(request *request)
{
    std::vector<const char *> lines(40);
    for (const char *&line : lines)
        line = TEXT[random_below(request, 4)];
    char screen[2200] = {'s'};
    request->random += checksum(screen, sizeof screen, request->number) & 3;
    undo.push(request->worker, lines);
    if (request->number % 32 == 0) {
        std::lock_guard<std::mutex> guard(saved_mutex);
        saved++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
