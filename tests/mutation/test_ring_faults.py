# SPDX-License-Identifier: MIT
"""The explorer catches faults of the rings' protocol that reorder nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from mutation.faults import STRUCTURES, TextFault, assert_caught

HEADER = STRUCTURES / "channel/ring.h"
fault = partial(TextFault, HEADER, part="ring.h", variant="spin")

FAULTS = {
    "the next line is not overwritten": fault(
        "store_relaxed(&lines[end & sender->mask].header, (uint64_t)end << 32);",
        "(void)end;",
        client="likeness",
    ),
    "it is overwritten with the number that is awaited": fault(
        "(uint64_t)end << 32);", "ring_header(end, 0));", client="wrap"
    ),
    "it may still be part of a message": fault(
        "needed = skipped + lines + 1;", "needed = skipped + lines;", client="full"
    ),
    "the skipped lines are not free": fault(
        "needed = skipped + lines + 1;", "needed = lines + 1;", client="wrap"
    ),
    "what was skipped is not announced": fault(
        "receiver->mask + 1 - (receiver->position & receiver->mask);",
        "0;",
        client="wrap",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAULTS))
def test_it_is_caught(name: str, tmp_path: Path) -> None:
    assert_caught(FAULTS[name], tmp_path)
