// SPDX-License-Identifier: MIT
// C++ in sections that other threads run: exceptions that leave a section, and those
// that are caught in it; thread-local objects and the allocator, in many sections of
// eight threads.
#include "check.h"

#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static long counter;

enum { THREADS = 8 };

// A system call that the C library does not make for the section lets others queue.
static void let_others_queue()
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(24L) : "rcx", "r11", "memory");
}

static void throwing(int round)
{
    std::lock_guard<std::mutex> guard(mutex);
    counter++;
    if (round % 16 == 0)
        let_others_queue();
    try {
        if (round % 2)
            throw std::runtime_error(std::to_string(round));
    } catch (const std::runtime_error &problem) {
        CHECK(problem.what() == std::to_string(round));
    }
    if (round % 3 == 0)
        throw round;
}

static void in_threads(void (*body)(int rounds), int rounds)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(body, rounds);
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQUAL(counter, static_cast<long>(THREADS) * rounds);
}

static void throw_often(int rounds)
{
    int caught = 0;
    for (int i = 0; i < rounds; i++) {
        try {
            throwing(i);
        } catch (int round) {
            CHECK_EQUAL(round, i);
            caught++;
        }
    }
    CHECK_EQUAL(caught, (rounds + 2) / 3);
}

static void exceptions()
{
    in_threads(throw_often, check_rounds(1500));
}

static thread_local std::string text;
static thread_local long mine;

static void count_often(int rounds)
{
    const std::thread::id self = std::this_thread::get_id();
    for (int i = 0; i < rounds; i++) {
        std::lock_guard<std::mutex> guard(mutex);
        counter++;
        mine++;
        if (i % 64 == 0) {
            text.assign(static_cast<std::size_t>(i % 300), 'x'); // allocates
            let_others_queue();
        }
        if (self != std::this_thread::get_id())
            CHECK(false);
    }
    CHECK_EQUAL(mine, rounds);
}

static void thread_locals()
{
    const char *rounds = getenv("CHECK_SECTIONS");
    in_threads(count_often, (rounds ? atoi(rounds) : 80000) / THREADS);
}

CHECK_MAIN(CASE(exceptions), CASE(thread_locals))
