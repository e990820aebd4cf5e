# SPDX-License-Identifier: MIT
"""Output shared by all verbs: tables in 80 columns, JSON lines and colours.

Colour appears on a terminal only, and never when NO_COLOR is set. `rich` is imported
only when a table is printed, because `hasp run` must start quickly.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hasp.base.errors import HaspError
from hasp.base.files import write_file

if TYPE_CHECKING:
    # Imported here because rich takes long to load.
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

COLUMNS = 80
STDOUT = "-"


def colour_wanted(stream: IO[str]) -> bool:
    """Return true if output to `stream` should be coloured."""
    return not os.environ.get("NO_COLOR") and is_terminal(stream)


def is_terminal(stream: IO[str]) -> bool:
    """Return true if `stream` is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def console(stream: IO[str] | None = None) -> Console:
    """Return a console as wide as the terminal, at most 100 columns, or else 80."""
    target = stream or sys.stdout
    colour = colour_wanted(target)
    result = _console_class()(
        file=target,
        force_terminal=is_terminal(target),
        no_color=not colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
        width=None if target.isatty() else COLUMNS,
    )
    if result.width > 100:
        result.width = 100
    return result


@cache
def _console_class() -> type[Console]:
    # Imported here because rich takes long to load.
    from rich.console import Console
    from rich.text import Text

    class SafeConsole(Console):
        """A console that escapes control characters and raises BrokenPipeError.

        No line of text that it wraps ends with the blank at which it was wrapped.
        """

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            segments = super().render(renderable, options)
            return bare(segments) if isinstance(renderable, Text) else segments

    return SafeConsole


def table(*, title: str = "", caption: str = "") -> Table:
    """Return an empty table without a frame, with a rule below the headings."""
    # Imported here because rich takes long to load.
    from rich import box

    return _table_class()(
        title=title or None,
        caption=caption or None,
        title_justify="left",
        caption_justify="left",
        title_style="bold",
        caption_style="",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


@cache
def _table_class() -> type[Table]:
    # Imported here because rich takes long to load.
    from rich.segment import Segment
    from rich.table import Table

    class BareTable(Table):
        """A table whose lines end with their last cell's text, not with blanks."""

        def __rich_console__(
            self, console: Console, options: ConsoleOptions
        ) -> RenderResult:
            parts = super().__rich_console__(console, options)
            yield from bare(part for part in parts if isinstance(part, Segment))

    return BareTable


def bare(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield the segments without blanks at the ends of lines."""
    # Imported here because rich takes long to load.
    from rich.segment import Segment

    parts = list(segments)
    lines = list(Segment.split_lines(parts))
    # More may be printed on a last line that is not ended.
    last = [] if not parts or parts[-1].text.endswith("\n") else lines.pop()
    for line in lines:
        while line and not line[-1].text.rstrip():
            line.pop()
        yield from line[:-1]
        if line:
            yield Segment(line[-1].text.rstrip(), line[-1].style)
        yield Segment.line()
    yield from last


def add_json_option(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup,
) -> None:
    """Add the option `--json [FILE]`."""
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        metavar="FILE",
        help="write JSON, one object a line, to FILE; to stdout without FILE or for -",
    )


def json_line(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON; infinity and NaN become null."""
    text = json.dumps(_finite(record), ensure_ascii=False, separators=(",", ":"))
    # Command lines may contain any bytes, but JSON is UTF-8.
    return text.encode(errors="replace").decode()


def _finite(value: Any) -> Any:
    if isinstance(value, float) and (value != value or value in (1e999, -1e999)):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def write_json(records: Iterable[Mapping[str, Any]], destination: str) -> None:
    """Write records as JSON lines to a file, or to stdout for `-`."""
    text = "".join(f"{json_line(record)}\n" for record in records)
    if destination == STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        check_writable(destination)
        write_file(destination, text)


def check_writable(destination: str) -> None:
    """Raise HaspError if an output file cannot be written, before any work is done.

    Executable files are not replaced either: in `--json ./program` the name is most
    likely the program to run.
    """
    path = Path(destination)
    if destination == STDOUT:
        return
    if path.is_dir():
        raise HaspError(f"{path} is a folder", "name a file in it")
    if path.is_file() and os.access(path, os.X_OK) and path.stat().st_mode & 0o111:
        raise HaspError(
            f"{path} is an executable file, and would be replaced by output",
            "write `--` between the options and the program, or name another file",
        )
    if path.exists():
        writable = os.access(path, os.W_OK)
    else:
        writable = path.parent.is_dir() and _accepts_files(path.parent)
    if not writable:
        raise HaspError(
            f"{path} cannot be written",
            "name a file in a folder that exists and that you may write to",
        )


def _accepts_files(folder: Path) -> bool:
    """Return whether a file can be created there: access(2) grants root all folders."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def printable(text: str) -> str:
    """Return the lines of `text` with control characters escaped."""
    return "\n".join(map(escaped, text.split("\n")))


def escaped(text: str) -> str:
    """Return the text with control characters escaped as in Python.

    Names of programs, threads and files may contain escape sequences for the terminal.
    """
    return "".join(one if one.isprintable() else _escape(one) for one in text)


def quoted(text: str) -> str:
    """Return the text in quotation marks, with single backslashes."""
    return f"'{escaped(text)}'" if "'" not in text else f'"{escaped(text)}"'


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, kept by surrogateescape
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def note(message: str) -> None:
    """Print one line on stderr, prefixed with `hasp:`."""
    print(f"hasp: {printable(message)}", file=sys.stderr, flush=True)


def complain(error: HaspError) -> None:
    """Print an error and its remedy on stderr."""
    bold, plain = ("\033[1;31m", "\033[0m") if colour_wanted(sys.stderr) else ("", "")
    print(f"{bold}hasp:{plain} {printable(error.message)}", file=sys.stderr)
    if error.remedy:
        print(f"      {printable(error.remedy)}", file=sys.stderr)
    sys.stderr.flush()
