# SPDX-License-Identifier: MIT
"""The symbols file beside a trace, hasp.trace.symbols.

With it a trace can be read on another machine or after its program was rebuilt. It
stores only the addresses that were resolved; others are looked up again. The file names
the trace that it belongs to, and is ignored for any other.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hasp.profile.symbols.frame import Frame
from hasp.profile.symbols.symbolizer import Datum, Symbolizer
from hasp.profile.trace.reader import Trace

VERSION = 1
SUFFIX = ".symbols"
LARGEST = 1 << 28  # bytes
WRONG_SHAPE = (ValueError, TypeError, AttributeError)


def path_of(trace: Path) -> Path:
    """Return the symbols file of a trace."""
    return trace.with_name(trace.name + SUFFIX)


def identity(trace: Trace) -> list[int]:
    """Return the fields that identify a recording."""
    header = trace.header
    begin = header["begin"]
    return [int(header["session"]), int(header["pid"]), int(begin["ticks"])]


def write(trace: Trace, symbolizer: Symbolizer) -> Path:
    """Write all resolved addresses to the symbols file; raises OSError."""
    frames = {
        f"{address:x}": [[f.function, f.file, f.line] for f in found]
        for address, found in symbolizer.answered_frames.items()
        if any(frame.function or frame.line for frame in found)
    }
    data = {
        f"{address:x}": [datum.symbol, datum.offset]
        for address, datum in symbolizer.answered_data.items()
        if datum
    }
    fields = symbolizer.answered_fields.items()
    calls = symbolizer.answered_calls.items()
    quoted = symbolizer.sources.quoted.items()
    lines = [[path, line, text] for (path, line), text in quoted if text]
    document = {
        "version": VERSION,
        "trace": identity(trace),
        "frames": frames,
        "data": data,
        "fields": {f"{address:x}": field for address, field in fields if field},
        "calls": {f"{address:x}": name for address, name in calls if name},
        "lines": lines,
    }
    path = path_of(trace.path)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(document), encoding="utf-8")
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    return path


def read(trace: Trace, symbolizer: Symbolizer) -> None:
    """Load the symbols file of this trace, if there is one, into the symbolizer."""
    path = path_of(trace.path)
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != VERSION or document["trace"] != identity(trace):
            symbolizer.doubts.append(
                f"{path} belongs to another trace or another Hasp, and was not used"
            )
            return
        _fill(symbolizer, document)
    except (OSError, ArithmeticError, LookupError, *WRONG_SHAPE):
        symbolizer.doubts.append(f"{path} is damaged, and was not used")


def _fill(symbolizer: Symbolizer, document: dict[str, Any]) -> None:
    frames, data = {}, {}
    for key, places in document["frames"].items():
        address = int(key, 16)
        module = symbolizer.modules.find(address)
        offset = module.offset(address) if module else address
        name = module.name if module else ""
        frames[address] = tuple(
            Frame(
                *(address, name, offset, str(function)),
                file=None if file is None else str(file),
                line=None if line is None else int(line),
                inlined=depth < len(places) - 1,
            )
            for depth, (function, file, line) in enumerate(places)
        )
    for key, (symbol, inside) in document["data"].items():
        address = int(key, 16)
        module = symbolizer.modules.find(address)
        if module:
            data[address] = Datum(
                module, str(symbol), int(inside), module.offset(address)
            )
    fields = {int(key, 16): str(name) for key, name in document["fields"].items()}
    calls = {  # files of older versions have none
        int(key, 16): str(name) for key, name in document.get("calls", {}).items()
    }
    quoted = {
        (str(path), int(line)): [str(each) for each in text]
        for path, line, text in document["lines"]
    }
    symbolizer.answered_frames.update(frames)
    symbolizer.answered_data.update(data)
    symbolizer.answered_fields.update(fields)
    symbolizer.answered_calls.update(calls)
    symbolizer.sources.quoted.update(quoted)
