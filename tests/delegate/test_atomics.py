# SPDX-License-Identifier: MIT
"""C11 atomics in sections, with the headers of GCC where Clang's are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from delegate_samples import PROLOGUE, compile_and_run, delegate, write_program

from hasp.delegate import libclang

pytest.importorskip("clang.cindex")

ATOMICS = """\
static atomic_int number = 1;
static atomic_bool seen;
static _Atomic(long *) place;
static atomic_flag flag = ATOMIC_FLAG_INIT;

static void section(void)
{
    int expected = 3;
    pthread_mutex_lock(&mu);
    count += atomic_fetch_add(&number, 2);
    count += atomic_compare_exchange_strong(&number, &expected, 12);
    count += atomic_fetch_sub_explicit(&number, 1, memory_order_relaxed);
    count += atomic_fetch_or(&number, 4) + atomic_fetch_and(&number, 7);
    count += atomic_fetch_xor_explicit(&number, 1, memory_order_acq_rel);
    while (!atomic_compare_exchange_weak(&number, &expected, 40))
        count++;
    count += atomic_exchange(&number, 50) + atomic_exchange_explicit(&seen, 1, 5);
    atomic_store(&place, &count);
    atomic_store_explicit(&number, 6, memory_order_release);
    count += atomic_load(&number) + (atomic_load_explicit(&place, 2) == &count);
    count += atomic_flag_test_and_set(&flag);
    atomic_flag_clear(&flag);
    atomic_init(&number, 8);
    atomic_thread_fence(memory_order_seq_cst);
    pthread_mutex_unlock(&mu);
}

int main(void)
{
    section();
    printf("%ld %d %d\\n", count, number, seen);
    return 0;
}
"""


@pytest.fixture(params=["any headers", "GCC's headers"])
def headers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Use the headers that the machine has, and those of a machine without Clang."""
    if request.param == "GCC's headers":
        monkeypatch.setattr(libclang, "RESOURCE_HEADERS", ())
    libclang.header_folder.cache_clear()
    yield
    libclang.header_folder.cache_clear()


@pytest.mark.usefixtures("headers")
def test_a_section_with_atomics_is_rewritten(tmp_path: Path) -> None:
    write_program(tmp_path, db=f"#include <stdatomic.h>\n{PROLOGUE}{ATOMICS}")
    before = compile_and_run(tmp_path / "db.c")
    assert delegate(tmp_path, "--in-place", lock="mu") == 0
    text = (tmp_path / "db.c").read_text()
    assert "hasp_delegate_run_sized(" in text and "pthread_mutex_lock" not in text
    assert compile_and_run(tmp_path / "db.c") == before
