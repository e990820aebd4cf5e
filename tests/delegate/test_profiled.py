# SPDX-License-Identifier: MIT
"""`hasp delegate --from`: the lock that the verdict of a profile names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import profile_samples
import pytest
from delegate_samples import write_program

from hasp.cli.main import main
from hasp.profile.model.profile import Profile

pytest.importorskip("clang.cindex")

SOURCE = """\
#include <pthread.h>
struct db { long count; pthread_mutex_t mu; };
void db_put(struct db *db)
{
    pthread_mutex_lock(&db->mu);
    db->count++;
    pthread_mutex_unlock(&db->mu);
}
void db_open(struct db *db)
{
    pthread_mutex_init(&db->mu, NULL);
}
"""


def hot_lock_of_the_source() -> Profile:
    """Return a profile whose hottest lock is created in the last function."""
    profile = profile_samples.hot_lock()
    line = SOURCE[: SOURCE.index("pthread_mutex_init")].count("\n") + 1
    first = replace(profile.sites[0], name=f"db.c:{line} &db->mu")
    return replace(profile, sites=(first, *profile.sites[1:]))


def delegate_from(
    profile: Profile, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> int:
    """Run `hasp delegate --from` on a profile; return the exit status."""
    write_program(folder, db=SOURCE)
    monkeypatch.setattr("hasp.profile.report.source.open_profile", lambda _: profile)
    words = ["delegate", "--from", "hasp.trace", "-p", str(folder)]
    return main([*words, "--no-compile"])


def test_the_lock_of_the_verdict_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert delegate_from(hot_lock_of_the_source(), tmp_path, monkeypatch) == 0
    assert "db.c:2 mu: 1 section, executor adaptive" in capsys.readouterr().out


def test_without_a_verdict_the_mutex_with_most_time_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = profile_samples.idle()
    line = SOURCE[: SOURCE.index("pthread_mutex_init")].count("\n") + 1
    first = replace(profile.sites[0], name=f"db.c:{line} &db->mu", share=0.1)
    profile = replace(profile, sites=(first, *profile.sites[1:]))
    assert delegate_from(profile, tmp_path, monkeypatch) == 0
    printed = capsys.readouterr()
    assert (
        "names no lock; db.c:11 &db->mu took most of the threads' time" in printed.err
    )
    assert "db.c:2 mu: 1 section" in printed.out


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (profile_samples.unlocked(), "hasp.trace shows no lock"),
        (profile_samples.idle(), "the verdict of hasp.trace names no lock"),
        (profile_samples.hot_lock(), "there is no pthread_mutex_t at db.c:88 &db->mu"),
    ],
    ids=["no-lock", "no-contention", "another-source"],
)
def test_a_profile_without_such_a_lock_is_refused(
    profile: Profile,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert delegate_from(profile, tmp_path, monkeypatch) == 2
    assert words in capsys.readouterr().err
