/* SPDX-License-Identifier: MIT */
/*
 * Memory, sleeping and waking for the models in this folder.
 *
 * Total store order: each thread has a buffer of stores, oldest first, which reach the
 * memory at any later time. A load returns the thread's own newest buffered store,
 * otherwise the value in memory. An atomic read-modify-write, and every system call,
 * first empties the caller's buffer. Store buffering is the only reordering that
 * matters for these protocols; the checked platform covers the reorderings of weaker
 * machines.
 *
 * A model defines THREADS and CELLS, includes this file, and gives each thread's
 * process a byte `self`. Sleepers are woken in any order. At most one sleeper wakes up
 * spuriously: unlimited spurious wake-ups would hide every lost wake-up.
 */
#define DEPTH 2

typedef store {
    byte cell;
    byte value
}

typedef thread {
    store buffer[DEPTH];
    byte buffered;
    byte asleep_on /* cell + 1; 0 awake */
}

byte memory[CELLS];
thread threads[THREADS];
byte spurious;

#define BUFFERED(i, c) (threads[self].buffered > i && threads[self].buffer[i].cell == c)
#define LOAD(c) \
    (BUFFERED(1, c) -> threads[self].buffer[1].value : \
     (BUFFERED(0, c) -> threads[self].buffer[0].value : memory[c]))

/* The assertion shows that the buffer never limits a thread. */
inline plain_store(c, v)
{
    d_step {
        assert(threads[self].buffered < DEPTH);
        threads[self].buffer[threads[self].buffered].cell = c;
        threads[self].buffer[threads[self].buffered].value = v;
        threads[self].buffered++
    }
}

inline oldest_store_reaches_memory(t)
{
    memory[threads[t].buffer[0].cell] = threads[t].buffer[0].value;
    threads[t].buffer[0].cell = threads[t].buffer[1].cell;
    threads[t].buffer[0].value = threads[t].buffer[1].value;
    threads[t].buffer[1].cell = 0;
    threads[t].buffer[1].value = 0;
    threads[t].buffered--
}

inline drain(t)
{
    do
    :: threads[t].buffered > 0 -> oldest_store_reaches_memory(t)
    :: else -> break
    od
}

/* Each thread has one, so its stores may reach the memory at any time. */
proctype store_buffer(byte t)
{
end:
    do
    :: d_step { threads[t].buffered > 0 -> oldest_store_reaches_memory(t) }
    od
}

inline exchange(c, v, old)
{
    d_step {
        drain(self);
        old = memory[c];
        memory[c] = v
    }
}

inline fetch_add(c, v)
{
    d_step {
        drain(self);
        memory[c] = memory[c] + v
    }
}

inline compare_exchange(c, from, to, ok)
{
    d_step {
        drain(self);
        ok = (memory[c] == from);
        if
        :: ok -> memory[c] = to
        :: else
        fi
    }
}

/* To a thread that wakes others, the kernel's comparison and sleep are one step. */
inline fall_asleep(c, expected)
{
    d_step {
        drain(self);
        threads[self].asleep_on = (memory[c] == expected -> c + 1 : 0)
    }
}

/* park(c, expected, deadline); sets `in_time` to false if the deadline has passed. */
inline park(c, expected, has_deadline, in_time)
{
    in_time = true;
    fall_asleep(c, expected);
    do
    :: threads[self].asleep_on == 0 -> break
    :: d_step {
           threads[self].asleep_on != 0 && has_deadline ->
           threads[self].asleep_on = 0;
           in_time = false
       };
       break
    :: d_step {
           threads[self].asleep_on != 0 && spurious > 0 ->
           threads[self].asleep_on = 0;
           spurious--
       };
       break
    od
}

/* Wakes any one of the sleepers, if there are any. */
inline unpark_one(c)
{
    atomic {
        d_step { drain(self) };
        if
        :: threads[0].asleep_on == c + 1 -> threads[0].asleep_on = 0
        :: threads[1].asleep_on == c + 1 -> threads[1].asleep_on = 0
#if THREADS > 2
        :: threads[2].asleep_on == c + 1 -> threads[2].asleep_on = 0
#endif
#if THREADS > 3
        :: threads[3].asleep_on == c + 1 -> threads[3].asleep_on = 0
#endif
        :: else
        fi
    }
}

inline unpark_all(c)
{
    d_step {
        drain(self);
        for (i : 0 .. THREADS - 1) {
            threads[i].asleep_on =
                (threads[i].asleep_on == c + 1 -> 0 : threads[i].asleep_on)
        };
        i = 0
    }
}

/* requeue(from, expected, to): moves one sleeper without waking it. */
inline requeue_one(from, expected, to)
{
    atomic {
        d_step { drain(self) };
        if
        :: memory[from] == expected && threads[0].asleep_on == from + 1 ->
           threads[0].asleep_on = to + 1
        :: memory[from] == expected && threads[1].asleep_on == from + 1 ->
           threads[1].asleep_on = to + 1
#if THREADS > 2
        :: memory[from] == expected && threads[2].asleep_on == from + 1 ->
           threads[2].asleep_on = to + 1
#endif
#if THREADS > 3
        :: memory[from] == expected && threads[3].asleep_on == from + 1 ->
           threads[3].asleep_on = to + 1
#endif
        :: else
        fi
    }
}

/* The first statement of init, which declares n. */
inline start_memory()
{
    for (n : 0 .. THREADS - 1) {
        run store_buffer(n)
    };
    if
    :: spurious = 1
    :: spurious = 0
    fi
}

/* Threads in the critical section, and threads that have ended. */
byte inside, finished;

inline critical_section()
{
    inside++;
    assert(inside == 1);
    inside--
}

/* The last thread to end checks that the lock is `free`. */
inline finish(free)
{
    d_step {
        drain(self);
        finished++;
        assert(finished < THREADS || (free))
    }
}
