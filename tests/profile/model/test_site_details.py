# SPDX-License-Identifier: MIT
"""The name of a lock whose creation left no frame of the function that created it."""

from __future__ import annotations

from dataclasses import replace

import profile_samples as samples
import pytest
from profile_samples import stack

from hasp.profile.model.holding import HolderFunction
from hasp.profile.model.profile import Site
from hasp.profile.model.site_details import SiteDetails

SOURCE = {
    ("/src/main.c", 191): "service->setup();",
    ("/src/main.c", 20): "pthread_mutex_init(&seats->lock, NULL);",
    ("/src/book.c", 22): "pthread_mutex_lock(&seats->lock);",
    ("/src/book.c", 30): "leave();",
}


class Symbols:
    """The source lines of a small program."""

    def lines(self, file: str, line: int) -> list[str]:
        text = SOURCE.get((file, line))
        return [text] if text else []

    def field(self, address: int) -> str | None:
        return None


@pytest.fixture
def details() -> SiteDetails:
    made = SiteDetails.__new__(SiteDetails)
    made._symbolizer = Symbols()  # type: ignore[assignment]
    return made


def created(place: str, expression: str | None = None) -> Site:
    site = samples.site(1, place, samples.use(10, 0, 1, 1), 0.1)
    return replace(site, expression=expression, created=stack(f"main {place}"))


def holders(*places: str) -> tuple[HolderFunction, ...]:
    return tuple(HolderFunction("book", 1.0, 1, 1, stack(place)) for place in places)


def test_the_acquisition_names_a_lock_that_a_tail_call_created(
    details: SiteDetails,
) -> None:
    named = details._named(created("main.c:191"), holders("book book.c:22"))
    assert (named.name, named.place) == ("book.c:22 &seats->lock", "book.c:22")


def test_the_acquisition_names_a_lock_whose_creator_has_no_source(
    details: SiteDetails,
) -> None:
    named = details._named(created("other.c:5"), holders("book book.c:22"))
    assert named.name == "book.c:22 &seats->lock"


@pytest.mark.parametrize(
    ("site", "held"),
    [
        (created("main.c:20"), holders("book book.c:22")),  # the line has the lock
        (created("main.c:191", "bus"), holders("book book.c:22")),  # named already
        (created("main.c:191"), holders("book book.c:30")),  # no lock there either
        (created("main.c:191"), ()),
    ],
)
def test_other_names_stay(
    details: SiteDetails, site: Site, held: tuple[HolderFunction, ...]
) -> None:
    assert details._named(site, held) == site
