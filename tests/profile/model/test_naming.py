# SPDX-License-Identifier: MIT
"""Tests the names of locks: source locations and expressions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from profile_samples import stack

from hasp.profile.model.naming import expression_in, is_wrapper, name_of
from hasp.profile.symbols.frame import Frame, Stack

SOURCE = {
    ("db.c", 88): "    pthread_mutex_init(&db->mu, NULL);",
    ("db.c", 90): "    pthread_mutex_lock(m);",
    ("db.c", 95): "    db_lock(&table->rows[row].lock, READ);",
    ("db.c", 97): "    insert(&table, key);",
    ("apr.c", 10): "    rv = pthread_mutex_init(&new_mutex->mutex, &attributes);",
    ("httpd.c", 40): "    apr_thread_mutex_create(&conf->cache_mutex, FLAGS, pool);",
    ("port.cc", 5): "    PthreadCall(pthread_mutex_lock(&mu_));",
    ("pool.cc", 30): "    std::lock_guard<std::mutex> guard(mutex_);",
    ("db.c", 99): "    LOCK(other);",
}

FIELDS = {stack("work gone.c:9")[0].address: "db.mu"}


def lines(path: str, line: int) -> list[str]:
    text = SOURCE.get((path.removeprefix("/src/"), line))
    return [text] if text else []


def name(frames: Stack, symbol: str | None = None) -> str:
    return name_of(frames, symbol, "server", lines, FIELDS.get).whole


@pytest.mark.parametrize(
    ("source", "expression"),
    [
        ("pthread_mutex_init(&db->mu, NULL);", "&db->mu"),
        ("if (pthread_mutex_trylock(&a[i + f(2, 3)].m) == 0) {", "&a[i + f(2, 3)].m"),
        ("    pthread_mutex_lock(\n        &db->mu);", "&db->mu"),
        ("mtx_lock(&queue->mutex);", "&queue->mutex"),
        ("LOCK(db);", "db"),
        ("std::lock_guard<std::mutex> guard(mutex_);", "mutex_"),
        ("std::unique_lock<std::mutex> l{s[n % 4].m, std::defer_lock};", "s[n % 4].m"),
        ("std::scoped_lock lock{a.mutex, b.mutex};", "a.mutex"),
        ("MutexLock l(&versions_->mu);", "&versions_->mu"),
        ("    cache->shard(7).mutex.lock();", "mutex"),
        ("    self->mutex_.lock();", "self->mutex_"),
        ("    total += clock(id) - block(size);", None),
        ("    tryLock(&m) || rdlock(&m);", "&m"),
        ("    MUTEX_ENTER(&log->m);", "&log->m"),
        ("    x = 1;\n    pthread_mutex_lock(&other);", None),
        ("pthread_mutex_lock();", None),
        ("", None),
        ("std::lock_guard<std::mutex> guard(mutex_of(row));", "mutex_of(row)"),
        ("pthread_mutex_lock(mutex_of(row));", "mutex_of(row)"),
    ],
)
def test_the_lock_in_a_line_of_source(source: str, expression: str | None) -> None:
    assert expression_in(source) == expression


@pytest.mark.parametrize(
    ("function", "wrapper"),
    [
        ("rocksdb::port::Mutex::Lock()", True),
        ("rocksdb::MutexLock::MutexLock(rocksdb::port::Mutex*)", True),
        ("SpinLock<true>::lock()", True),
        ("rocksdb::port::RWMutex::RWMutex()", True),
        ("apr_thread_mutex_create", True),
        ("inline_mysql_mutex_init", True),
        ("g_mutex_lock", True),
        ("my_rw_lock_init", True),
        ("BlockCache::Insert(int)", False),
        ("Clock::now()", False),
        ("PointLockManager::TryLock()", False),
        ("lock_account", False),
        ("seconds_init", False),
        ("main", False),
        ("", False),
    ],
)
def test_functions_that_only_pass_a_lock_on(function: str, wrapper: bool) -> None:
    frame = Frame(0, "server", 0, function, None, None)
    assert is_wrapper(frame) is wrapper


def test_the_location_and_the_argument() -> None:
    assert name(stack("db_open db.c:88", "main main.c:5")) == "db.c:88 &db->mu"


def test_a_lock_that_is_a_parameter_is_named_by_the_caller() -> None:
    frames = stack("take db.c:90", "find db.c:95", "main main.c:5")
    assert name(frames) == "db.c:95 &table->rows[row].lock"


def test_a_caller_that_passes_something_else_does_not_name_the_lock() -> None:
    assert name(stack("insert db.c:90", "fill db.c:97")) == "db.c:90 m"
    assert name(stack("insert db.c:90", "fill db.c:99")) == "db.c:90 m"


def test_wrappers_are_skipped_by_name() -> None:
    frames = stack("apr_thread_mutex_create apr.c:10", "child_init httpd.c:40")
    assert name(frames) == "httpd.c:40 &conf->cache_mutex"


def test_wrappers_without_source_are_skipped() -> None:
    frames = stack("g_mutex_lock gone.c:1", "paint gone.c:70")
    assert name(frames) == "gone.c:70"


def test_if_all_are_wrappers_the_outermost_stays() -> None:
    frames = stack("Mutex::Lock() port.cc:5", "MutexLock::MutexLock() x.h:2")
    assert name(frames) == "x.h:2"


def test_a_member_has_its_class() -> None:
    (frame,) = stack("work pool.cc:30")
    frame = replace(frame, function="void store::Pool<int>::take<int>(int)")
    assert name((frame,)) == "pool.cc:30 store::Pool::mutex_"


def test_frames_of_the_languages_library_are_skipped() -> None:
    inner = Frame(
        *(1, "server", 1, "std::mutex::lock()", "/usr/include/c++/12/bits/std_mutex.h"),
        line=100,
        inlined=True,
    )
    outer = stack("std::condition_variable::wait", module="libstdc++.so.6")
    no_lines = stack("std::function<void()>::operator()() const")
    no_lines = (replace(no_lines[0], file=None, line=None),)
    own = (*no_lines, *stack("work pool.cc:30"))
    assert name((*outer, inner, *own)) == "pool.cc:30 mutex_"


def test_without_source_a_global_has_its_symbol() -> None:
    frames = stack("work gone.c:7")
    assert name(frames, "table_lock") == "gone.c:7 table_lock"


def test_without_source_and_symbol_the_type_and_field_are_taken() -> None:
    assert name(stack("work gone.c:9")) == "gone.c:9 db.mu"
    assert name(stack("work gone.c:9"), "table_lock") == "gone.c:9 table_lock"


def test_a_member_of_a_global_keeps_the_expression_of_the_source() -> None:
    frames = stack("db_open db.c:88")
    assert name(frames, "db") == "db.c:88 &db->mu"
    assert name(frames, "b") == "db.c:88 b"  # the text belongs to another lock


def test_a_global_made_before_main_has_its_module() -> None:
    frames = stack("call_init x.c:1", module="libc.so.6") + stack("_start")
    assert name(frames, "pool") == "server pool"


def test_without_lines_the_offset_is_the_location() -> None:
    frames = stack("")
    assert name(frames) == f"server+{frames[0].offset:#x}"
    frames = stack("db::open(int)")
    assert name(frames) == f"server+{frames[0].offset:#x} in db::open"
    assert name(frames, "table") == f"server+{frames[0].offset:#x} table"
    jit = (Frame(0x7F0000001234, "", 0x7F0000001234, "", None, None),)
    assert name(jit) == "0x7f0000001234"
    assert name(()) == "(unknown place)"
