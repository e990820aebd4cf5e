# SPDX-License-Identifier: MIT
"""A TOML file whose errors name the file, the line and the key."""

from __future__ import annotations

import os
import re
import select
import stat
import sys
from pathlib import Path
from typing import Any, NoReturn

from hasp.base.errors import HaspError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Keys = tuple[str, ...]

PIPE_TIME_LIMIT = 5.0  # seconds to wait for the first data in a pipe


class Document:
    """A parsed TOML file that can find the line of each key."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        try:
            self.data: dict[str, Any] = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as problem:
            raise HaspError(f"{path}: {problem}", "correct the TOML there") from None

    @classmethod
    def read(cls, path: Path) -> Document:
        """Read the file at `path`, which may be a pipe.

        Raises HaspError if it is unreadable, or a pipe without a writer.
        """
        try:
            return cls(path, _bytes_of(path).decode("utf-8"))
        except (OSError, UnicodeDecodeError) as problem:
            words = getattr(problem, "strerror", None) or "it is not UTF-8"
            raise HaspError(
                f"{path} cannot be read: {words}", "name a readable TOML file"
            ) from None

    def get(self, keys: Keys) -> Any:
        """Return the value at a path of keys, or None."""
        return _at(self.data, keys)

    def line_of(self, keys: Keys) -> int:
        """Return the line on which a key, or the innermost table around it, begins.

        This needs no grammar: the value ends at the shortest prefix of whole lines that
        parses and contains the key, and begins after the longest shorter prefix that
        parses. It is slow and only used for errors.
        """
        while keys and self.get(keys) is None:
            keys = keys[:-1]
        lines = self.text.splitlines(keepends=True)
        begin = 0
        for end in range(1, len(lines) + 1):
            try:
                data = tomllib.loads("".join(lines[:end]))
            except tomllib.TOMLDecodeError:
                continue
            if _at(data, keys) is not None:
                return begin + 1
            begin = end
        return 1

    def line_in_list(self, name: str, number: int, key: str = "") -> int:
        """Return the line of a key in the nth `[[name]]`, or else of its head.

        line_of supports tables, but not lists of tables. This finds only keys at the
        beginning of a line, as in every file written by hand, although TOML allows
        others.
        """
        lines = self.text.splitlines()
        head = re.compile(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]")
        heads = [index for index, line in enumerate(lines) if head.match(line)]
        if number >= len(heads):
            return 1
        end = heads[number + 1] if number + 1 < len(heads) else len(lines)
        word = re.escape(key)
        wanted = re.compile(
            rf'\s*(?:"?{word}"?\s*[.=]|\[\s*{re.escape(name)}\s*\.\s*"?{word}"?\s*[.\]])'
        )
        for index in range(heads[number], end):
            if key and wanted.match(lines[index]):
                return index + 1
        return heads[number] + 1

    def fail(self, keys: Keys, message: str, remedy: str) -> NoReturn:
        """Raise a HaspError about the value, or missing value, at `keys`."""
        where = f"{self.path}:{self.line_of(keys)}"
        raise HaspError(f"{where}: {'.'.join(keys)}: {message}", remedy)


def _bytes_of(path: Path) -> bytes:
    # Opening a named pipe blocks until a writer opens it, possibly forever.
    with open(path, "rb", opener=_open_at_once) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            if not select.select([file], [], [], PIPE_TIME_LIMIT)[0]:
                raise HaspError(
                    f"{path} is a pipe without a writer",
                    "name a readable TOML file",
                )
            os.set_blocking(file.fileno(), True)
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _at(data: Any, keys: Keys) -> Any:
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    return data
