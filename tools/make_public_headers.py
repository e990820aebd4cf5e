#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the headers and the sources of the library from include/hasp/ and src/.

A public header, include/hasp/NAME.h, includes internal headers from src/. Users get two
files: hasp/NAME.h, and hasp/internal/NAME.h, which holds all those internal headers in
one. Library sources (*.c) are written the same way, each with its headers in one file.
In all of them the internal names carry the prefix `hasp_in_` (internal_names.py). So
the code of the library is that of src/, and no short name reaches a user's program but
those of parameters (public_names.py).

hasp/mutex_implementation.h has the sources that mutexes need in one file. Their private
names stay as in src/, so no two of these sources may use the same one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from c_tokens import tokens
from internal_names import Names, rename
from public_names import members, parameter_uses

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|(<[^>]+>)).*\n', re.M)
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b", re.M)
ENTRY = re.compile(r"^((?:RW|SPIN)?LOCK|BARRIER|EXECUTOR)\((\w+),", re.M)
KINDS = ("public", "internal", "sources", "implementation")
HIDDEN = 'visibility("hidden")'

OPENING = """#if defined(__cplusplus)
extern "C" {
#define HASP_STATIC_ASSERT static_assert
#else
#define HASP_STATIC_ASSERT _Static_assert
#endif
"""
CLOSING = """#undef HASP_STATIC_ASSERT
#if defined(__cplusplus)
}
#endif
"""
IMPLEMENTATION = """/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What hasp/mutex.h needs of libhasp-sync, for programs that do not link it. One C
 * source of such a program consists of this line:
 *
 *     #include <hasp/mutex_implementation.h>
 *
 * The others, in C or C++, include hasp/mutex.h or hasp/mutex.hpp as usual. Link with
 * -pthread. Hasp's other headers need the library, which contains all of this: use one
 * or the other, not both. A shared library that has it this way must be linked with
 * `-Wl,-z,nodelete`: a late wake-up may access its memory.
 *
 * Made by tools/make_public_headers.py from the sources of the library.
 */
#ifndef HASP_MUTEX_IMPLEMENTATION_H
#define HASP_MUTEX_IMPLEMENTATION_H
#if defined(__cplusplus) || defined(HASP_INTERNAL)
#error "hasp/mutex_implementation.h needs a C source of its own"
#endif
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1
#endif
#pragma GCC system_header
"""
# At the beginning of each internal header.
NOT_BESIDE_IT = """#define HASP_INTERNAL
#if defined(HASP_MUTEX_IMPLEMENTATION_H)
#error "hasp/mutex_implementation.h needs a C source of its own"
#endif
"""
FEATURES = """
#if defined(__GLIBC__) && !defined(__USE_MISC)
#error "compile with -D_DEFAULT_SOURCE, as `hasp config --cflags` says, or -std=gnu11"
#endif
"""


class Failure(Exception):
    """A source from which no public header can be made."""


@dataclass
class Tree:
    """Where includes are looked up, and what has been read."""

    root: Path
    texts: dict[Path, str] = field(default_factory=dict)
    included: dict[Path, list[Path]] = field(default_factory=dict)

    def find(self, name: str, by: Path) -> Path:
        for folder in ("include", "src", "src/platform/library"):
            path = self.root / folder / name
            if path.is_file():
                return path
        raise Failure(f'{by.relative_to(self.root)}: cannot find "{name}"')

    def read(self, path: Path) -> str:
        if path not in self.texts:
            self.texts[path] = path.read_text(encoding="utf-8")
        return self.texts[path]

    def reach(self, path: Path) -> set[Path]:
        """Return all files that a file includes, itself included."""
        reached, left = set(), [path]
        while left:
            current = left.pop()
            if current not in reached:
                reached.add(current)
                left += self.directly_included(current)
        return reached

    def directly_included(self, path: Path) -> list[Path]:
        if path not in self.included:
            self.included[path] = [
                self.find(found[1], path)
                for found in INCLUDE.finditer(self.read(path))
                if found[1]
            ]
        return self.included[path]


@dataclass
class Amalgam:
    """One file and its internal headers, each in the place of its first include."""

    tree: Tree
    names: Names
    lines: bool  # refer debuggers to the original lines
    plain: bool = False  # only macros are internal: a header that wraps another one
    system: list[str] = field(default_factory=list)
    done: set[Path] = field(default_factory=set)

    def add(self, path: Path) -> str:
        """Return the text of a file with its headers in place of the includes."""
        text = self.tree.read(path)
        if path.suffix == ".def":
            text = keep_entry_names(text)
        pieces, at = [self.place(path, text, 0)], 0
        for found in INCLUDE.finditer(text):
            pieces.append(self.piece(text[at : found.start()]))
            pieces.append(self.included(found, path))
            at = found.end()
            pieces.append(self.place(path, text, at))
        return "".join(pieces) + self.piece(text[at:])

    def entries(self, path: Path) -> str:
        """Return the entries of a list; their headers are in hasp/internal/."""
        text = INCLUDE.sub("", keep_entry_names(self.tree.read(path)))
        return rename(text[text.index("*/") + 2 :], self.names)

    def piece(self, text: str) -> str:
        if self.plain:
            return re.sub(r"\b[A-Z_]+\b", lambda x: self.names.renamed(x[0]), text)
        text = rename(text, self.names).replace(HIDDEN, 'visibility("default")')
        return text.replace("_Static_assert", "HASP_STATIC_ASSERT")

    def public_piece(self, text: str, path: Path) -> str:
        """Return a piece of a public header, whose parameters keep their names."""
        if self.plain:
            return self.piece(text)
        source = list(tokens(text))
        self.check_members(source, path)
        pieces, since = [], 0
        for at in sorted(parameter_uses(source)):
            pieces.append(self.piece("".join(word for _, word in source[since:at])))
            pieces.append(source[at][1])
            since = at + 1
        pieces.append(self.piece("".join(word for _, word in source[since:])))
        return "".join(pieces)

    def check_members(self, source: list[tuple[str, str]], path: Path) -> None:
        """Raise a Failure if a member would be renamed though its type is not ours."""
        for words in members(source):
            changed = [word for word in words if self.names.renamed(word) != word]
            if changed == words[-1:]:
                raise Failure(
                    f"{path.relative_to(self.tree.root)}: the member"
                    f" `{' '.join(words)}` would be called"
                    f" {self.names.renamed(changed[0])}, because an internal header"
                    f" declares {changed[0]}; choose another name for one of them"
                )

    def place(self, path: Path, text: str, at: int) -> str:
        if not self.lines:
            return ""
        name = path.relative_to(self.tree.root)
        return f'#line {text.count(chr(10), 0, at) + 1} "{name}"\n'

    def included(self, found: re.Match[str], by: Path) -> str:
        if found[2]:
            if within_conditional(found.string, found.start()):
                return found[0]
            if found[2] not in self.system:
                self.system.append(found[2])
            return ""
        path = self.tree.find(found[1], by)
        if path.suffix != ".def":
            if path in self.done:
                return ""
            if not within_conditional(found.string, found.start()):
                self.done.add(path)
        name = path.relative_to(self.tree.root)
        return f"\n/* {name} */\n{self.add(path)}"

    def whole(self, body: str) -> str:
        system = "".join(f"#include {name}\n" for name in sorted(self.system))
        return f"{system}{FEATURES}\n{OPENING}{body}{CLOSING}"


def within_conditional(text: str, at: int) -> bool:
    """Return whether a conditional other than the include guard is open there."""
    depth = 0
    for found in CONDITIONAL.finditer(text, 0, at):
        depth += -1 if found[1] == "endif" else 1
    return depth > 1


def keep_entry_names(text: str) -> str:
    """Mark the first argument of the lists' entries, from which public names come."""
    return ENTRY.sub(r"\1(hasp__\2,", text)


def without_marks(text: str) -> str:
    return text.replace("hasp__", "")


def public_header(tree: Tree, names: Names, path: Path) -> tuple[str, str]:
    """Return the texts of hasp/NAME.h and of hasp/internal/NAME.h."""
    text = tree.read(path)
    amalgam = Amalgam(tree, names, lines=False, plain=path.suffix == ".hpp")
    amalgam.done.add(path)
    bodies, others = [], []
    for found in INCLUDE.finditer(text):
        if found[1] and found[1].startswith("hasp/"):
            others.append(f"#include <{found[1]}>\n")
            amalgam.done |= tree.reach(tree.find(found[1], path))
        elif found[1] and not found[1].endswith(".def"):
            bodies.append(amalgam.included(found, path))
    guard = f"HASP_INTERNAL_{path.stem.upper()}_H"
    internal = (
        "/* SPDX-License-Identifier: MIT */\n"
        "/* Made by tools/make_public_headers.py from Hasp's internal headers. Not an"
        f" interface:\n * include <hasp/{path.name}>. */\n"
        f"#ifndef {guard}\n#define {guard}\n#pragma GCC system_header\n"
        f"{NOT_BESIDE_IT}{''.join(others)}{amalgam.whole(''.join(bodies))}\n#endif\n"
    )
    first, quiet = True, False
    pieces, at = [], 0
    for found in INCLUDE.finditer(text):
        pieces.append(amalgam.public_piece(text[at : found.start()], path))
        if not quiet:  # in front of the first include
            pieces.append("#pragma GCC system_header\n\n")
            quiet = True
        at = found.end()
        if found[2] or found[1].startswith("hasp/"):
            pieces.append(found[0] if found[2] else f"#include <{found[1]}>\n")
        elif found[1].endswith(".def"):
            pieces.append(amalgam.entries(tree.find(found[1], path)))
        elif first:
            pieces.append(f"#include <hasp/internal/{path.name}>\n")
            first = False
    pieces.append(amalgam.public_piece(text[at:], path))
    return without_marks("".join(pieces)), without_marks(internal)


def library_source(tree: Tree, names: Names, path: Path) -> str:
    """Return a source of the library with all its headers in it."""
    amalgam = Amalgam(tree, names, lines=True)
    body = amalgam.add(path)
    return without_marks(amalgam.whole(body))


def implementation(tree: Tree, names: Names, sources: list[Path]) -> str:
    """Return one text of all these sources, in which each header occurs once."""
    amalgam = Amalgam(tree, names, lines=False)
    body = "".join(map(amalgam.add, sources))
    return without_marks(f"{IMPLEMENTATION}{amalgam.whole(body)}\n#endif\n")


def collect(tree: Tree, paths: list[Path]) -> Names:
    """Return the names that the internal headers of these files declare."""
    names = declared_in(tree, set().union(*map(tree.reach, paths)))
    for path in paths:
        check_clashes(tree, declared_in(tree, tree.reach(path)), path)
    return names


def declared_in(tree: Tree, paths: set[Path]) -> Names:
    names = Names()
    public = tree.root / "include"
    for path in sorted(paths):
        if path.suffix in (".h", ".def") and not path.is_relative_to(public):
            names.add(tree.read(path))
        elif path.suffix == ".c":
            names.add_calls(tree.read(path))
    return names


def check_clashes(tree: Tree, names: Names, path: Path) -> None:
    """Raise a Failure if a public name is the same as a renamed internal one."""
    renamed = {names.renamed(name): name for name in names.declared}
    for kind, word in tokens(tree.read(path)):
        if kind == "name" and renamed.get(word, word) != word:
            raise Failure(
                f"{path.relative_to(tree.root)}: {word} is also what the internal"
                f" name {renamed[word]} becomes; choose another name for one of them"
            )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make(tree: Tree, names: Names, kind: str, path: Path) -> tuple[str, str] | None:
    """Return the name and the text of what is made of a file, if it is of that kind."""
    if path.suffix == ".c":
        if kind != "sources":
            return None
        return source_name(tree, path), library_source(tree, names, path)
    if kind == "sources" or (kind == "internal" and path.suffix == ".hpp"):
        return None
    header, internal = public_header(tree, names, path)
    return path.name, header if kind == "public" else internal


def made_files(tree: Tree, wanted: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file that is wanted."""
    paths = [path.resolve() for path in wanted.files]
    names = collect(tree, paths)
    if wanted.kind == "implementation":
        parts = [path.resolve() for path in wanted.parts]
        yield "mutex_implementation.h", implementation(tree, names, parts)
        return
    for path in paths:
        made = make(tree, names, wanted.kind, path)
        if made:
            yield made


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--output", type=Path, required=True, help="folder to write to")
    parser.add_argument("--depfile", type=Path, help="where to list what was read")
    parser.add_argument(
        "--parts", nargs="+", type=Path, default=[], help="sources of an implementation"
    )
    parser.add_argument("files", nargs="+", type=Path, help="public headers, sources")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    tree = Tree(arguments.root.resolve())
    made = []
    try:
        for name, text in made_files(tree, arguments):
            made.append(arguments.output / name)
            write(made[-1], text)
    except Failure as failure:
        print(f"make_public_headers: {failure}", file=sys.stderr)
        return 1
    if arguments.depfile:
        write(arguments.depfile, f"{made[0]}: {' '.join(map(str, tree.texts))}\n")
    return 0


def source_name(tree: Tree, path: Path) -> str:
    """Return `locks-memory-pool.c` for src/locks/memory/pool.c."""
    return "-".join(path.relative_to(tree.root / "src").parts)


if __name__ == "__main__":
    sys.exit(main())
