# SPDX-License-Identifier: MIT
"""End-to-end tests: a program, its trace, and its report."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pytest

from hasp.base.errors import HaspError
from hasp.cli.main import main
from hasp.profile.report.source import open_profile

PROGRAM = r"""
#include <pthread.h>

static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static volatile int sum;

static void *work(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&hot);
        if (i % 100 == 0) {
            pthread_mutex_lock(&other);
            sum++;
            pthread_mutex_unlock(&other);
        }
        for (int k = 0; k < 100; k++)
            sum++;
        pthread_mutex_unlock(&hot);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory, hasp):
    folder = tmp_path_factory.mktemp("trace")
    source = folder / "sums.c"
    source.write_text(PROGRAM)
    binary = folder / "sums"
    command = ["cc", "-g", "-O1", "-pthread", source, "-o", binary]
    subprocess.run(command, check=True, timeout=50)
    path = folder / "hasp.trace"
    done = hasp("profile", "-o", path, "--", binary)
    assert done.returncode == 0, done.stderr
    return path


def test_the_first_screen_of_a_real_program(trace, capsys):
    assert main(["report", str(trace)]) == 0
    out = capsys.readouterr().out
    assert "sums.c:11 &hot" in out
    assert "60.0k" in out  # exactly 60,000 acquisitions
    assert "600" in out  # acquisitions of the other lock
    assert max(map(len, out.splitlines())) <= 80
    assert "Recording took" in out


def test_json_of_a_real_program_follows_the_schema(trace, capsys):
    jsonschema = pytest.importorskip("jsonschema")
    from importlib.resources import files

    assert main(["report", "--json", str(trace)]) == 0
    document = json.loads(capsys.readouterr().out)
    schema = files("hasp.profile.report").joinpath("report.schema.json").read_text()
    jsonschema.Draft202012Validator(json.loads(schema)).validate(document)
    by_name = {lock["name"]: lock for lock in document["locks"]}
    assert by_name["sums.c:11 &hot"]["acquisitions"] == 60_000
    assert by_name["sums.c:13 &other"]["nested"] == 600


@pytest.mark.parametrize(
    "form", ["csv", "markdown", "html", "speedscope", "chrome-trace", "pprof"]
)
def test_every_format_of_a_real_program(form, trace, tmp_path):
    target = tmp_path / "out"
    assert main(["report", f"--{form}", str(target), str(trace)]) == 0
    content = target.read_bytes()
    if form == "pprof":
        content = gzip.decompress(content)
    # The sampler may have missed the waiters of such a short program.
    assert (b'"sums"' if form == "chrome-trace" else b"sums.c") in content


def test_a_diff_of_a_run_with_itself_is_empty(trace, capsys):
    words = ["diff", str(trace), str(trace), "--fail-if", "share != 0%"]
    assert main(words) == 0
    assert "Nothing changed" in capsys.readouterr().out


@pytest.mark.parametrize("size", [0, 7, 64, 4096, 70_000])
def test_broken_traces_are_refused_or_shown_with_a_warning(
    size, trace, tmp_path, capsys
):
    path = tmp_path / "cut.trace"
    path.write_bytes(trace.read_bytes()[:size])
    status = main(["report", str(path)])
    out, err = capsys.readouterr()
    if status == 2:
        assert "cut.trace" in err and len(err.splitlines()) >= 2  # with a remedy
    else:
        assert status == 0
        assert out.startswith("this trace is damaged")
        assert "cut off" in " ".join(out.split())


def test_other_files_are_not_traces(tmp_path, capsys):
    path = tmp_path / "notes.txt"
    path.write_text("not a trace at all\n" * 9000)
    for words in (["report", str(path)], ["diff", str(path), str(path)]):
        assert main(words) == 2
        assert "not a Hasp trace" in capsys.readouterr().err
    with pytest.raises(HaspError):
        open_profile(tmp_path)


def test_a_closed_pipe_is_not_an_error(trace):
    command = [sys.executable, "-m", "hasp", "report", "--html", "-", str(trace)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(50) == 128 + 13
        assert process.stderr.read() == ""
