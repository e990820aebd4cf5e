# SPDX-License-Identifier: MIT
"""`hasp list --kind executor`, and the completion of kinds and executors."""

from __future__ import annotations

import json

import pytest

from hasp.base.errors import HaspError
from hasp.cli.completion import script
from hasp.locks import native
from hasp.locks.executors import check_executor, executors
from hasp.locks.kinds import EXECUTOR
from hasp.locks.listing import Options, list_locks


def test_executors_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_locks(Options("all", kind="executor")) == 0
    table = capsys.readouterr().out
    assert "hasp/delegate.h" in table and "flat-combining" in table
    assert "overtaken" not in table
    assert "the default of `hasp_delegate_init(object, NULL)`: adaptive" in table


def test_their_records_have_no_fields_about_locks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    list_locks(Options("all", kind="executor", json="-"))
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["kind"] for row in rows} == {"executor"}
    assert [row["name"] for row in rows] == list(executors())
    assert not {"fifo", "bypass_bound", "node_bytes"} & {
        key for row in rows for key in row
    }
    assert all(row["bytes"] and row["waiter_bytes"] for row in rows)


def test_one_is_described_with_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    list_locks(Options("rcl", details=True))
    text = capsys.readouterr().out
    assert "rcl (executor):" in text and "docs/executors/rcl.md" in text
    assert "is overtaken" not in text


def test_adaptive_is_the_default() -> None:
    assert native.default_lock(EXECUTOR).name == "adaptive"


def test_the_shell_completes_executors_and_kinds() -> None:
    names = {"EXECUTOR": ["flat-combining"], "KIND": ["barrier"]}
    text = script("bash", names)
    assert "flat-combining" in text and "barrier" in text


@pytest.mark.parametrize("name", ["rcl", "rcl:1", "FFWD:7", "cc_synch", "lock:mcs"])
def test_an_executor_may_name_its_server(name: str) -> None:
    check_executor(name)


@pytest.mark.parametrize("name", ["rcl:8", "rcl:", "rcl:11", "adaptive:1", "rlc"])
def test_there_is_no_such_executor_or_server(name: str) -> None:
    with pytest.raises(HaspError, match="there is no executor"):
        check_executor(name)
