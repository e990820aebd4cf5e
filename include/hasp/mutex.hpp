/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Hasp's locks as C++17 classes.
 *
 *   hasp::mutex<hasp::mcs>   a mutex whose algorithm the type names: TimedLockable
 *   hasp::any_mutex          a mutex whose algorithm is named at run time: TimedLockable
 *   hasp::shared_mutex       a reader-writer lock, named at run time: SharedTimedLockable
 *   hasp::condition_variable for hasp::mutex and hasp::any_mutex; std::condition_variable_any
 *                            takes them, too, but needs a second mutex
 *
 * They work with std::lock_guard, std::unique_lock, std::scoped_lock and
 * std::shared_lock. <hasp/mutex.h> and <hasp/rwlock.h> describe memory order, threads
 * and fork. Locking never throws, except for a shared_mutex that the caller holds
 * exclusively. Without exceptions (-fno-exceptions), what would throw aborts.
 */
#ifndef HASP_MUTEX_HPP
#define HASP_MUTEX_HPP

static_assert(__cplusplus >= 201703L, "hasp/mutex.hpp needs C++17");

#include <hasp/mutex.h>
#include <hasp/rwlock.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>

namespace hasp
{

/** Not part of the interface. */
namespace internal
{

template <class Exception>
[[noreturn]] void fail([[maybe_unused]] const Exception &exception)
{
#ifdef __cpp_exceptions
    throw exception;
#endif
    std::abort();
}

/** Throws what std::shared_mutex throws when a thread would wait for itself. */
inline void check_acquired(int result)
{
    if (result != 0)
        fail(std::system_error(result, std::generic_category(), "hasp::shared_mutex"));
}

struct moment {
    clockid_t clock;
    timespec at;
};

template <class Duration> moment moment_of(clockid_t clock, Duration since_epoch)
{
    using namespace std::chrono;
    const seconds whole = floor<seconds>(since_epoch);
    const nanoseconds rest = duration_cast<nanoseconds>(since_epoch - whole);
    timespec at{};
    at.tv_sec = static_cast<time_t>(whole.count());
    at.tv_nsec = static_cast<long>(rest.count());
    return {clock, at};
}

/** Returns the time to give up, on the kernel's clock that the argument's one reads. */
template <class Duration>
moment until(const std::chrono::time_point<std::chrono::steady_clock, Duration> &time)
{
    return moment_of(CLOCK_MONOTONIC, time.time_since_epoch());
}

template <class Duration>
moment until(const std::chrono::time_point<std::chrono::system_clock, Duration> &time)
{
    return moment_of(CLOCK_REALTIME, time.time_since_epoch());
}

/** Any other clock is converted once: if it is set meanwhile, the wait does not notice. */
template <class Clock, class Duration>
moment until(const std::chrono::time_point<Clock, Duration> &time)
{
    return until(std::chrono::steady_clock::now() +
                 std::chrono::ceil<std::chrono::nanoseconds>(time - Clock::now()));
}

template <class Rep, class Period>
moment after(const std::chrono::duration<Rep, Period> &time)
{
    using std::chrono::nanoseconds;
    return until(std::chrono::steady_clock::now() +
                 std::chrono::ceil<nanoseconds>(time));
}

} // namespace internal

/* A type for each algorithm: hasp::mcs, hasp::mcs_park, hasp::futex and so on. */
#define LOCK(id, ...)                                                                  \
    struct id {                                                                        \
        using type = ::hasp_mutex_##id;                                                \
        static void lock(type &mutex) noexcept                                         \
        {                                                                              \
            ::hasp_mutex_##id##_lock(&mutex);                                          \
        }                                                                              \
        [[nodiscard]] static bool try_lock(type &mutex) noexcept                       \
        {                                                                              \
            return ::hasp_mutex_##id##_trylock(&mutex) == 0;                           \
        }                                                                              \
        static bool lock_until(type &mutex, const internal::moment &moment) noexcept   \
        {                                                                              \
            return ::hasp_mutex_##id##_clocklock(&mutex, moment.clock, &moment.at) ==  \
                   0;                                                                  \
        }                                                                              \
        static void unlock(type &mutex) noexcept                                       \
        {                                                                              \
            ::hasp_mutex_##id##_unlock(&mutex);                                        \
        }                                                                              \
        static int wait(type &mutex, ::hasp_condition &condition,                      \
                        const internal::moment *moment)                                \
        {                                                                              \
            return ::hasp_mutex_##id##_clockwait(&mutex, &condition,                   \
                                                 moment ? moment->clock : -1,          \
                                                 moment ? &moment->at : nullptr);      \
        }                                                                              \
        static void destroy(type &mutex) noexcept                                      \
        {                                                                              \
            ::hasp_mutex_##id##_destroy(&mutex);                                       \
        }                                                                              \
    };
#include "locks/locks.def"
#undef LOCK

/** The algorithm of an any_mutex. */
struct by_name {
    using type = ::hasp_mutex;
    static void lock(type &mutex) noexcept
    {
        ::hasp_mutex_lock(&mutex);
    }
    [[nodiscard]] static bool try_lock(type &mutex) noexcept
    {
        return ::hasp_mutex_trylock(&mutex) == 0;
    }
    static bool lock_until(type &mutex, const internal::moment &moment) noexcept
    {
        return ::hasp_mutex_clocklock(&mutex, moment.clock, &moment.at) == 0;
    }
    static void unlock(type &mutex) noexcept
    {
        ::hasp_mutex_unlock(&mutex);
    }
    static int wait(type &mutex, ::hasp_condition &condition,
                    const internal::moment *moment)
    {
        if (!moment)
            return ::hasp_condition_wait(&condition, &mutex);
        return ::hasp_condition_clockwait(&condition, &mutex, moment->clock,
                                          &moment->at);
    }
    static void destroy(type &mutex) noexcept
    {
        ::hasp_mutex_destroy(&mutex);
    }
};

/** A mutex with the given algorithm. Not recursive; neither copied nor moved. No thread
 * may hold it, or wait for it, when it is destroyed. */
template <class Algorithm = futex> class mutex
{
  public:
    using native_handle_type = typename Algorithm::type *;

    constexpr mutex() noexcept = default;
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;
    ~mutex()
    {
        Algorithm::destroy(state);
    }

    /** Waits until the caller holds the mutex. */
    void lock() noexcept
    {
        Algorithm::lock(state);
    }

    /** Returns whether the caller has acquired the mutex, without waiting. */
    [[nodiscard]] bool try_lock() noexcept
    {
        return Algorithm::try_lock(state);
    }

    /** Waits at most that long; returns whether the caller has acquired the mutex. */
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        return Algorithm::lock_until(state, internal::after(time));
    }

    /** Waits at most until that time; returns whether the caller has acquired the
     * mutex. */
    template <class Clock, class Duration>
    [[nodiscard]] bool
    try_lock_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return Algorithm::lock_until(state, internal::until(time));
    }

    /** Releases the mutex. */
    void unlock() noexcept
    {
        Algorithm::unlock(state);
    }

    /** The mutex for the functions of <hasp/mutex.h>. */
    native_handle_type native_handle() noexcept
    {
        return &state;
    }

  protected:
    typename Algorithm::type state{};
};

/** A mutex whose algorithm is named at run time. */
class any_mutex : public mutex<by_name>
{
  public:
    /** Uses the default algorithm, futex. */
    constexpr any_mutex() noexcept = default;

    /** Uses the algorithm of this name, as in `hasp list`. Throws std::invalid_argument
     * if there is none. */
    explicit any_mutex(const char *name)
    {
        if (::hasp_mutex_init(&state, name) != 0)
            internal::fail(std::invalid_argument(
                std::string("hasp::any_mutex: no algorithm ") + name));
    }

    /** Returns the name of the algorithm. */
    const char *name() const noexcept
    {
        return ::hasp_mutex_name(&state);
    }
};

/** A reader-writer lock. A thread that holds it shared may acquire it shared again. If
 * it holds the lock exclusively, lock() and lock_shared() throw std::system_error with
 * std::errc::resource_deadlock_would_occur, and the timed ones return false. */
class shared_mutex
{
  public:
    /** Uses the default algorithm. */
    constexpr shared_mutex() noexcept = default;

    /** Uses the algorithm of this name, as in `hasp list --kind rwlock`. Throws
     * std::invalid_argument if there is none. */
    explicit shared_mutex(const char *name)
    {
        if (::hasp_rwlock_init(&state, name) != 0)
            internal::fail(std::invalid_argument(
                std::string("hasp::shared_mutex: no algorithm ") + name));
    }
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;
    ~shared_mutex()
    {
        ::hasp_rwlock_destroy(&state);
    }

    void lock()
    {
        internal::check_acquired(::hasp_rwlock_write_lock(&state));
    }
    [[nodiscard]] bool try_lock() noexcept
    {
        return ::hasp_rwlock_write_trylock(&state) == 0;
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        return lock_by(internal::after(time));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool
    try_lock_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return lock_by(internal::until(time));
    }
    void unlock() noexcept
    {
        ::hasp_rwlock_write_unlock(&state);
    }

    void lock_shared()
    {
        internal::check_acquired(::hasp_rwlock_read_lock(&state));
    }
    [[nodiscard]] bool try_lock_shared() noexcept
    {
        return ::hasp_rwlock_read_trylock(&state) == 0;
    }
    template <class Rep, class Period>
    [[nodiscard]] bool
    try_lock_shared_for(const std::chrono::duration<Rep, Period> &time)
    {
        return share_by(internal::after(time));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool
    try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return share_by(internal::until(time));
    }
    void unlock_shared() noexcept
    {
        ::hasp_rwlock_read_unlock(&state);
    }

  private:
    bool lock_by(const internal::moment &moment) noexcept
    {
        return ::hasp_rwlock_write_clocklock(&state, moment.clock, &moment.at) == 0;
    }
    bool share_by(const internal::moment &moment) noexcept
    {
        return ::hasp_rwlock_read_clocklock(&state, moment.clock, &moment.at) == 0;
    }

    ::hasp_rwlock state{};
};

/** A condition variable. All threads that wait on it at one time use the same mutex,
 * which they hold. Waits can end spuriously. */
class condition_variable
{
  public:
    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;

    void notify_one() noexcept
    {
        ::hasp_condition_signal(&state);
    }
    void notify_all() noexcept
    {
        ::hasp_condition_broadcast(&state);
    }

    /** Mutex is hasp::mutex<Algorithm> or hasp::any_mutex. */
    template <class Mutex> void wait(std::unique_lock<Mutex> &held)
    {
        wait_on(*held.mutex(), nullptr);
    }
    template <class Mutex, class Predicate>
    void wait(std::unique_lock<Mutex> &held, Predicate done)
    {
        while (!done())
            wait(held);
    }
    template <class Mutex, class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<Mutex> &held,
                              const std::chrono::time_point<Clock, Duration> &time)
    {
        const internal::moment moment = internal::until(time);
        return wait_on(*held.mutex(), &moment) == ETIMEDOUT
                   ? std::cv_status::timeout
                   : std::cv_status::no_timeout;
    }
    template <class Mutex, class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<Mutex> &held,
                    const std::chrono::time_point<Clock, Duration> &time,
                    Predicate done)
    {
        while (!done())
            if (wait_until(held, time) == std::cv_status::timeout)
                return done();
        return true;
    }
    template <class Mutex, class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<Mutex> &held,
                            const std::chrono::duration<Rep, Period> &time)
    {
        return wait_until(held, std::chrono::steady_clock::now() + time);
    }
    template <class Mutex, class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<Mutex> &held,
                  const std::chrono::duration<Rep, Period> &time, Predicate done)
    {
        return wait_until(held, std::chrono::steady_clock::now() + time, done);
    }

  private:
    template <class Algorithm>
    int wait_on(mutex<Algorithm> &held, const internal::moment *moment)
    {
        return Algorithm::wait(*held.native_handle(), state, moment);
    }

    ::hasp_condition state{};
};

} // namespace hasp

#endif
