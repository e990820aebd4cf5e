# SPDX-License-Identifier: MIT
"""libclang: finding it, its compiler headers, and calls that its binding lacks."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.extras import missing_extra

DETAILED_PREPROCESSING = 1  # CXTranslationUnit_DetailedPreprocessingRecord
# Values of enum CXBinaryOperatorKind and enum CXUnaryOperatorKind.
ASSIGN = 22
AND, OR = 20, 21
COMMA = 33
NOT = 10
INCREMENTS = (1, 2, 3, 4)
ADDRESS_OF = 5
DEREFERENCE = 6
FOR_GCC = Path(__file__).resolve().parent / "headers"
RESOURCE_HEADERS = (
    "/usr/lib/llvm-{}/lib/clang/*/include",
    "/usr/lib/clang/{}*/include",
    "/usr/lib64/clang/{}*/include",
)


@cache
def cindex() -> Any:
    """Return the module clang.cindex. Raises HaspError if it cannot be used."""
    try:
        from clang import cindex as module
    except ImportError:
        raise missing_extra("delegate", "libclang") from None
    try:
        library = module.conf.lib
    except module.LibclangError as problem:
        raise HaspError(
            f"libclang cannot be loaded: {problem}",
            "install the package that has the library: pip install 'hasp[delegate]'",
        ) from None
    try:
        _declare_functions(module, library)
    except AttributeError:
        raise HaspError(
            "this libclang is older than version 17",
            "install a newer one: pip install 'hasp[delegate]'",
        ) from None
    return module


class _Ranges(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.c_void_p))


def _declare_functions(module: Any, library: Any) -> None:
    """Set the types of the functions that the binding does not declare."""
    for name in (
        "clang_getCursorBinaryOperatorKind",
        "clang_getCursorUnaryOperatorKind",
    ):
        function = getattr(library, name)
        function.argtypes = [module.Cursor]
        function.restype = ctypes.c_int
    library.clang_getFileLocation.argtypes = [
        module.SourceLocation,
        ctypes.POINTER(ctypes.c_void_p),
        *[ctypes.POINTER(ctypes.c_uint)] * 3,
    ]
    library.clang_getExpansionLocation.argtypes = [
        module.SourceLocation,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    library.clang_getClangVersion.argtypes = []
    library.clang_getClangVersion.restype = module._CXString
    library.clang_getAllSkippedRanges.argtypes = [module.TranslationUnit]
    library.clang_getAllSkippedRanges.restype = ctypes.POINTER(_Ranges)
    library.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(_Ranges)]
    library.clang_Cursor_Evaluate.argtypes = [module.Cursor]
    library.clang_Cursor_Evaluate.restype = ctypes.c_void_p
    for name in ("getKind", "getAsInt", "dispose"):
        getattr(library, f"clang_EvalResult_{name}").argtypes = [ctypes.c_void_p]


def binary_operator(cursor: Any) -> int:
    """Return the operator of a BINARY_OPERATOR, a value of CXBinaryOperatorKind."""
    return int(cindex().conf.lib.clang_getCursorBinaryOperatorKind(cursor))


def unary_operator(cursor: Any) -> int:
    """Return the operator of a UNARY_OPERATOR, a value of CXUnaryOperatorKind."""
    return int(cindex().conf.lib.clang_getCursorUnaryOperatorKind(cursor))


def file_offset(location: Any) -> int:
    """Return the offset where a token stands in the file.

    For the argument of a macro that is the argument; for a token of a macro's body it
    is the use of the macro.
    """
    offset = ctypes.c_uint()
    unused = [ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()]
    references = [ctypes.byref(each) for each in unused]
    cindex().conf.lib.clang_getFileLocation(location, *references, ctypes.byref(offset))
    return int(offset.value)


def extent(cursor: Any) -> tuple[int, int]:
    """Return the offsets where a cursor begins and ends.

    The same as `cursor.extent.start.offset`, which also counts lines and columns: that
    takes ten times as long.
    """
    module = cindex()
    library = module.conf.lib
    whole = library.clang_getCursorExtent(cursor)
    offset = ctypes.c_uint()
    reference = ctypes.byref(offset)
    expand = library.clang_getExpansionLocation
    expand(library.clang_getRangeStart(whole), None, None, None, reference)
    start = offset.value
    expand(library.clang_getRangeEnd(whole), None, None, None, reference)
    return start, offset.value


@cache
def _visitor() -> Any:
    """Return the callback that puts a child into the list that it is given."""
    module = cindex()

    def visit(child: Any, parent: Any, found: list[Any]) -> int:
        found.append(child)
        return 1  # CXChildVisit_Continue

    return module.callbacks["cursor_visit"](visit)


def children(cursor: Any) -> list[Any]:
    """Return the cursors below one, as `get_children()` in half its time."""
    found: list[Any] = []
    cindex().conf.lib.clang_visitChildren(cursor, _visitor(), found)
    for child in found:
        child._tu = cursor._tu
    return found


def file_handle(cursor: Any) -> int | None:
    """Return what identifies a cursor's file in its translation unit."""
    library = cindex().conf.lib
    handle = ctypes.c_void_p()
    location = library.clang_getCursorLocation(cursor)
    library.clang_getExpansionLocation(location, ctypes.byref(handle), None, None, None)
    return handle.value


@cache
def header_options(headers: Path) -> tuple[str, ...]:
    """Return the options with which libclang reads the headers of header_folder()."""
    own = () if headers in _clang_folders("") else ("-isystem", str(FOR_GCC))
    return ("-nobuiltininc", *own, "-isystem", str(headers))


@cache
def header_folder(compiler: str) -> Path | None:
    """Return the folder with headers of the compiler itself, such as stddef.h.

    That of clang in libclang's own version, or else of another clang, or that of the
    program's compiler; their headers of vector instructions do not suit libclang.
    """
    module = cindex()
    words = module._CXString.from_result(module.conf.lib.clang_getClangVersion())
    version = re.search(r"version (\d+)", words)
    folders = list(_clang_folders(version[1])) if version else []
    folders += _clang_folders("")
    for command in (compiler, "cc", "gcc"):
        try:
            result = subprocess.run(
                [command, "-print-file-name=include"], capture_output=True, text=True
            )
        except OSError:
            continue
        folders.append(Path(result.stdout.strip()))
    return next((each for each in folders if (each / "stddef.h").is_file()), None)


def _clang_folders(version: str) -> Iterator[Path]:
    for pattern in RESOURCE_HEADERS:
        yield from sorted(Path("/").glob(pattern.format(version or "*")[1:]))


def parse(path: Path, options: Sequence[str], directory: Path) -> Any:
    """Return the translation unit of a source file.

    Raises HaspError if libclang cannot read it at all; errors in the source are left to
    the caller, in `diagnostics`.
    """
    module = cindex()
    try:
        return module.Index.create().parse(
            str(path),
            args=["-working-directory", str(directory), *options],
            options=DETAILED_PREPROCESSING,
        )
    except module.TranslationUnitLoadError:
        raise HaspError(
            f"libclang cannot read {path}", "check that its compile command works"
        ) from None


def skipped_ranges(translation_unit: Any, path: Path) -> list[tuple[int, int]]:
    """Return the offsets of a file's code that the preprocessor leaves out."""
    module = cindex()
    library = module.conf.lib
    found = library.clang_getAllSkippedRanges(translation_unit)
    result = []
    if found.contents.count:
        kind = module.SourceRange * found.contents.count
        for one in kind.from_address(found.contents.ranges):
            start, end = one.start, one.end
            if start.file and Path(start.file.name).name == path.name:
                result.append((start.offset, end.offset))
    library.clang_disposeSourceRangeList(found)
    return result


def value_of(cursor: Any) -> int | None:
    """Return the value of a constant integer expression, None for any other."""
    library = cindex().conf.lib
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    is_integer = library.clang_EvalResult_getKind(result) == 1
    value = library.clang_EvalResult_getAsInt(result) if is_integer else None
    library.clang_EvalResult_dispose(result)
    return value
