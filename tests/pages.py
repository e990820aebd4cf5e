# SPDX-License-Identifier: MIT
"""Drives a real browser, and checks the requirements on all HTML pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import pytest

WIDE, TALL, PHONE = (1200, 1000), (1200, 8000), (390, 844)
CELLS = (24, 36)  # lines and columns into which a figure is averaged for comparison
# Another font or version of Plotly moves letters within cells; a figure in which
# something is missing differs by more. Both limits range from 0 to 1, for each of red,
# green and blue.
MEAN_DIFFERENCE, CELL_DIFFERENCE, MOST_CELLS = 0.03, 0.25, 0.02


def headless() -> Iterator[Any]:
    """Start Chromium without a screen; skip if it is not installed."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("Chromium and its driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-background-networking",
        "--force-color-profile=srgb",
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield window
    window.quit()


def visit(browser: Any, page: Path, size: tuple[int, int] = WIDE) -> None:
    """Open a page in a window or on a phone of this size, without a network."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1}
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {**metrics, "mobile": size == PHONE}
    )
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    )
    browser.get(f"file://{page}")


def assert_fits_a_phone(browser: Any, page: Path) -> None:
    """Assert that the page fits the screen and that figures overlap nothing."""
    visit(browser, page, PHONE)
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= PHONE[0]
    boxes = browser.execute_script(
        """return [...document.querySelectorAll("h2, .plot")].map((one) =>
            one.getBoundingClientRect()).map((box) => [box.top, box.bottom])"""
    )
    for before, after in pairwise(boxes):
        assert before[1] <= after[0] + 1


def assert_can_be_heard(browser: Any) -> None:
    """Assert that a screen reader and a keyboard reach everything."""
    nameless = browser.execute_script(
        """const named = (one) => one.ariaLabel || one.closest("label")
            || one.textContent.trim();
        return [...document.querySelectorAll("input, select, button")]
            .filter((one) => !named(one)).map((one) => one.outerHTML)"""
    )
    assert nameless == []
    silent = browser.execute_script(
        """return [...document.querySelectorAll(".plot, table")].filter((one) =>
            one.checkVisibility() && !(one.ariaLabel || one.caption?.textContent))
            .map((one) => one.id)"""
    )
    assert silent == []
    assert (
        browser.execute_script("return document.querySelectorAll('main').length") == 1
    )
    sorting = browser.execute_script(
        """return [...document.querySelectorAll("th")].filter((one) =>
            !one.querySelector("button")).length"""
    )
    assert sorting == 0


def pictures(browser: Any, folder: Path, names: list[str]) -> dict[str, Any]:
    """Return figures as cells of mean colour, by the id of their element.

    In a TALL window nothing is scrolled, so sticky elements cover nothing.
    """
    from matplotlib.image import imread

    found = {}
    for name in names:
        shot = folder / f"{name}.png"
        assert browser.find_element("id", name).screenshot(str(shot))
        found[name] = averaged(imread(shot)[..., :3])
    return found


def averaged(picture: Any) -> Any:
    """Return a picture as CELLS of mean colour."""
    lines, columns = (
        numpy.linspace(0, size, cells + 1).astype(int)
        for size, cells in zip(picture.shape, CELLS, strict=False)
    )
    return numpy.array(
        [
            [picture[a:b, c:d].mean(axis=(0, 1)) for c, d in pairwise(columns)]
            for a, b in pairwise(lines)
        ]
    )


def differences(one: Any, other: Any) -> str:
    """Return how two averaged pictures differ beyond the limits.

    Empty if they do not.
    """
    apart = numpy.abs(one - other).max(axis=2)
    mean, far = apart.mean(), (apart > CELL_DIFFERENCE).mean()
    if mean <= MEAN_DIFFERENCE and far <= MOST_CELLS:
        return ""
    return f"differs by {mean:.3f} on average, {far:.1%} of its cells by much"


def assert_looks_as_before(found: dict[str, Any], reference: Path) -> None:
    """Compare the figures with a committed picture of their cells.

    If the picture does not exist it is created and the test fails: check and commit it.
    """
    from matplotlib.image import imread, imsave

    names = list(found)
    if not reference.exists():
        imsave(reference, numpy.concatenate([found[name] for name in names]))
        pytest.fail(f"{reference} was missing; check the new picture and keep it")
    stored = imread(reference)[..., :3]
    parts = dict(zip(names, numpy.split(stored, len(names)), strict=True))
    wrong = {
        name: why for name in names if (why := differences(found[name], parts[name]))
    }
    assert not wrong, (
        f"{wrong}; if the change is intended, delete {reference} and run again"
    )


def click(browser: Any, selector: str) -> None:
    """Click the first element that matches a CSS selector."""
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def text_of(browser: Any, name: str) -> str:
    """Return the text of the element with an id."""
    script = "return document.getElementById(arguments[0]).textContent"
    return str(browser.execute_script(script, name))
