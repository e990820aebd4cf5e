# SPDX-License-Identifier: MIT
"""Tests `hasp study fetch` with a local server and with folders."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import json
import threading

import pytest
from study.printed import reference

from hasp.base.errors import HaspError
from hasp.study import fetching
from hasp.study.fetching import PUBLISHED, Published, chosen, fetch
from hasp.study.samples import create_or_open

RUNS = "bench,node,strategy,throughput\nradix,1,mcs,2.5\nradix,2,mcs,4.0\n"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_words):
        pass


@pytest.fixture
def files(tmp_path):
    """Return a folder with one data set, and its description."""
    folder = tmp_path / "datasets"
    folder.mkdir()
    (folder / "A64.csv").write_text(RUNS)
    digest = hashlib.sha256(RUNS.encode()).hexdigest()
    return folder, [Published("A-64", "A64.csv", digest)]


@contextlib.contextmanager
def serving(folder):
    """Return the address of a server that serves a folder."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_download_into_a_store(files, tmp_path):
    folder, wanted = files
    store = create_or_open(tmp_path / "store")
    with serving(folder) as address:
        (batch,) = fetch(store, wanted, f"{address}/")
    assert (batch["machine"], batch["runs"]) == ("A-64", 2)
    assert sorted(store.read()["value"]) == [2.5, 4.0]


@pytest.mark.parametrize("place", ["folder", "file"])
def test_from_local_files(files, tmp_path, place):
    folder, wanted = files
    source = folder if place == "folder" else folder / "A64.csv"
    store = create_or_open(tmp_path / "store")
    assert [one["machine"] for one in fetch(store, wanted, str(source))] == ["A-64"]


def test_files_in_the_store_are_not_downloaded_again(files, tmp_path):
    folder, wanted = files
    store = create_or_open(tmp_path / "store")
    fetch(store, wanted, str(folder))
    assert fetch(store, wanted, str(tmp_path / "gone")) == []


def test_a_file_with_another_checksum_is_refused(files, tmp_path):
    folder, wanted = files
    (folder / "A64.csv").write_text(RUNS + "radix,4,mcs,9.0\n")
    store = create_or_open(tmp_path / "store")
    with pytest.raises(HaspError, match="not the published file"):
        fetch(store, wanted, str(folder))
    assert store.batches() == []


def test_without_a_network_the_error_offers_another_way(files, tmp_path):
    folder, wanted = files
    with serving(folder) as address:
        pass
    store = create_or_open(tmp_path / "store")
    with pytest.raises(HaspError) as refusal:
        fetch(store, wanted, address)
    assert "cannot be downloaded" in str(refusal.value)
    assert "--from DIR" in (refusal.value.remedy or "")
    with serving(folder) as address, pytest.raises(HaspError, match="404"):
        fetch(store, [Published("A-48", "A48.csv", "")], address)


def test_machines_are_chosen_by_name():
    assert chosen([]) == list(PUBLISHED)
    assert [one.file for one in chosen(["I-20", "A-64"])] == ["I20.csv", "A64.csv"]
    with pytest.raises(HaspError, match="B-52"):
        chosen(["B-52"])


def test_the_command(hasp, tmp_path):
    folder = reference("litl-datasets")
    finished = hasp(
        *("study", "fetch", "--machine", "I-20", "--from", folder),
        *("--store", tmp_path / "store", "--json", "-"),
    )
    assert finished.returncode == 0, finished.stderr
    batch = json.loads(finished.stdout)
    assert (batch["machine"], batch["runs"]) == ("I-20", 20413)
    assert batch["metrics"] == ["throughput", "tpp"]
    again = hasp(
        *("study", "fetch", "--machine", "I-20", "--from", folder),
        *("--store", tmp_path / "store"),
    )
    assert "1 of 1 were already in the store" in again.stderr


def test_every_published_file_has_its_checksum():
    for one in fetching.PUBLISHED:
        path = reference("litl-datasets", one.file)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == one.sha256
