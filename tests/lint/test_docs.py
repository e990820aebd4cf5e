# SPDX-License-Identifier: MIT
"""The documentation is complete and correct: links, verbs, schemas, variables."""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

import pytest

from hasp.cli.main import VERBS, load

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools/README.md"
PAGES = sorted([TOOLS, *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][a-z-]*")
OF_PROGRAMS = ("--beside", "--think", "--pinned")  # of hasp-bench-locks
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub generates them."""
    titles = HEADING.findall(page.read_text())
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        for title in titles
    }


def test_the_page_of_the_tools_names_files_that_exist() -> None:
    first = re.findall(r"^\| (`.*?) \|", TOOLS.read_text(), re.MULTILINE)
    named = [name for cell in first for name in re.findall(r"`([^`]+)`", cell)]
    assert len(named) > 60
    assert [name for name in named if not (TOOLS.parent / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text()):
        if "://" in link:
            continue
        name, _, fragment = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (fragment and fragment not in anchors(target)):
            broken.append(link)
    assert not broken


def linked(page: Path) -> set[Path]:
    """Return the pages that a page links to."""
    names = (link.partition("#")[0] for link in LINK.findall(page.read_text()))
    targets = {(page.parent / name).resolve() for name in names if name}
    return {target for target in targets if target.suffix == ".md"}


def test_every_page_is_at_most_two_links_from_the_index() -> None:
    """README.md links to the pages for users; docs/README.md lists all of them."""
    index = {ROOT / "README.md", ROOT / "docs/README.md"}
    near = index.union(*(linked(page) for page in index))
    reached = near.union(*(linked(page) for page in near if page.exists()))
    assert {page for page in PAGES if page not in reached} == set()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_page(verb: str) -> None:
    pages = list((ROOT / "docs").glob(f"hasp-{verb}*.md"))
    assert pages
    listed = (ROOT / "docs/hasp.md").read_text()
    assert all(page.name in listed for page in pages)


def options_of(parser: argparse.ArgumentParser) -> list[list[str]]:
    """Return the spellings of each option, including the options of all actions."""
    found = []
    for action in parser._actions:
        found.append([*action.option_strings])
        if isinstance(action, argparse._SubParsersAction):
            for part in action.choices.values():
                found += options_of(part)
    return [words for words in found if words]


def verb_options(verb: str) -> list[list[str]]:
    parser = argparse.ArgumentParser()
    load(verb).configure(parser)
    return options_of(parser)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_on_the_verb_s_page(verb: str) -> None:
    """A page that it links to also counts; one of several spellings is enough."""
    text = ""
    for page in (ROOT / "docs").glob(f"hasp-{verb}*.md"):
        words = page.read_text()
        links = (page.parent / link.partition("#")[0] for link in LINK.findall(words))
        pages = (link for link in links if link.suffix == ".md")
        text += words + "".join(each.read_text() for each in pages)
    documented = set(OPTION.findall(text)) | {"-h"}
    assert [each for each in verb_options(verb) if not documented & {*each}] == []


def test_no_page_of_a_verb_names_an_option_that_is_none() -> None:
    """Arguments after ` -- ` belong to the program."""
    known = {word for verb in VERBS for each in verb_options(verb) for word in each}
    known |= {"--version", *OF_PROGRAMS}
    for page in (ROOT / "docs").glob("hasp*.md"):
        lines = page.read_text().splitlines()
        words = {o for line in lines for o in OPTION.findall(line.split(" -- ")[0])}
        assert {word for word in words if word.startswith("--")} <= known, page.name


def test_every_schema_is_documented() -> None:
    written = {
        schema
        for path in (ROOT / "python/hasp").rglob("*.py")
        for schema in re.findall(r'"(hasp\.[a-z.-]+/\d+)"', path.read_text())
    }
    documented = "\n".join(page.read_text() for page in PAGES)
    assert written
    assert {schema for schema in written if schema not in documented} == set()


def test_every_variable_is_documented() -> None:
    sources = [
        *(ROOT / "src").rglob("*.[ch]"),
        *(ROOT / "python/hasp").rglob("*.py"),
    ]
    read = {
        name
        for path in sources
        for name in re.findall(r'"(HASP_[A-Z_]+)"', path.read_text())
    }
    documented = (ROOT / "docs/hasp.md").read_text()
    assert {name for name in read if f"`{name}" not in documented} == set()


def test_no_page_names_a_folder_of_the_author() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.md", "*.py", "*.c", "*.h", "*.build"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if tracked.returncode != 0:
        pytest.skip("not a git checkout")
    private = re.compile(r"(?<![\w.])/(work|home/\w+|root)/\w+")
    found = [
        name
        for name in tracked.stdout.splitlines()
        if (ROOT / name).is_file() and private.search((ROOT / name).read_text())
    ]
    assert found == []
