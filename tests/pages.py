# SPDX-License-Identifier: MIT
"""What every page that Hasp writes has to be in a browser."""

from __future__ import annotations

from itertools import pairwise


def assert_fits_a_phone(browser, page):
    """As wide as the screen, and no figure over another or over a heading."""
    browser.set_window_size(500, 900)
    browser.get(f"file://{page}")
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= 500
    boxes = browser.execute_script(
        """return [...document.querySelectorAll("h2, .plot")].map((one) =>
            one.getBoundingClientRect()).map((box) => [box.top, box.bottom])"""
    )
    for before, after in pairwise(boxes):
        assert before[1] <= after[0] + 1
