# SPDX-License-Identifier: MIT
"""Stacks in pprof's format: a gzipped protocol buffer, perftools.profiles.Profile.

The sample types are those of Go's mutex and block profiles, contentions/count and
delay/nanoseconds. A delay is the sum over all waiters: 100 threads waiting 10 ms each
make one second. Go's mutex profile charges the thread that unlocks; this one, like Go's
block profile, charges the thread that waits. Further types are holds/count and
hold/nanoseconds.

MESSAGES lists the fields that are written, with the numbers in pprof's public
profile.proto.
"""

from __future__ import annotations

import gzip
from functools import cache
from typing import Any

from hasp.profile.model.profile import Profile
from hasp.profile.report.findings import Names
from hasp.profile.report.stacks import label
from hasp.profile.symbols.frame import Frame, Stack

SAMPLE_TYPES = (
    ("contentions", "count"),
    ("delay", "nanoseconds"),
    ("holds", "count"),
    ("hold", "nanoseconds"),
)
DEFAULT_TYPE = "delay"
LARGEST = 2**63 - 1  # the maximum of int64
PACKAGE = "perftools.profiles"
# message -> (field, number, type); `*` before the type means repeated.
MESSAGES: dict[str, tuple[tuple[str, int, str], ...]] = {
    "Profile": (
        ("sample_type", 1, "*ValueType"),
        ("sample", 2, "*Sample"),
        ("mapping", 3, "*Mapping"),
        ("location", 4, "*Location"),
        ("function", 5, "*Function"),
        ("string_table", 6, "*string"),
        ("time_nanos", 9, "int64"),
        ("duration_nanos", 10, "int64"),
        ("period_type", 11, "ValueType"),
        ("period", 12, "int64"),
        ("comment", 13, "*int64"),
        ("default_sample_type", 14, "int64"),
    ),
    "ValueType": (("type", 1, "int64"), ("unit", 2, "int64")),
    "Sample": (
        ("location_id", 1, "*uint64"),
        ("value", 2, "*int64"),
        ("label", 3, "*Label"),
    ),
    "Label": (("key", 1, "int64"), ("str", 2, "int64")),
    "Mapping": (
        ("id", 1, "uint64"),
        ("filename", 5, "int64"),
        ("has_functions", 7, "bool"),
        ("has_filenames", 8, "bool"),
        ("has_line_numbers", 9, "bool"),
        ("has_inline_frames", 10, "bool"),
    ),
    "Location": (
        ("id", 1, "uint64"),
        ("mapping_id", 2, "uint64"),
        ("address", 3, "uint64"),
        ("line", 4, "*Line"),
    ),
    "Line": (("function_id", 1, "uint64"), ("line", 2, "int64")),
    "Function": (
        ("id", 1, "uint64"),
        ("name", 2, "int64"),
        ("system_name", 3, "int64"),
        ("filename", 4, "int64"),
    ),
}


@cache
def message_class() -> Any:
    """Return the class of perftools.profiles.Profile, built from MESSAGES."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field_type = descriptor_pb2.FieldDescriptorProto
    plain = {
        "int64": field_type.TYPE_INT64,
        "uint64": field_type.TYPE_UINT64,
        "bool": field_type.TYPE_BOOL,
        "string": field_type.TYPE_STRING,
    }
    file = descriptor_pb2.FileDescriptorProto(
        name="hasp/pprof.proto", package=PACKAGE, syntax="proto3"
    )
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            word = kind.lstrip("*")
            entry = message.field.add(name=field, number=number)
            entry.label = (
                field_type.LABEL_REPEATED
                if kind.startswith("*")
                else field_type.LABEL_OPTIONAL
            )
            entry.type = plain.get(word, field_type.TYPE_MESSAGE)
            if word not in plain:
                entry.type_name = f".{PACKAGE}.{word}"
    # Use a separate pool, because another package may have registered the same
    # messages.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"{PACKAGE}.Profile")
    )


class _Builder:
    """Numbers strings, modules, functions and addresses in order of appearance."""

    def __init__(self) -> None:
        self.profile = message_class()()
        self._strings: dict[str, int] = {}
        self._functions: dict[tuple[str, str], int] = {}
        self._modules: dict[str, int] = {}
        self._locations: dict[object, int] = {}
        self.string("")

    def string(self, text: str) -> int:
        """Return the index in the string table."""
        index = self._strings.setdefault(text, len(self._strings))
        if index == len(self.profile.string_table):
            self.profile.string_table.append(
                text.encode(errors="replace").decode(errors="replace")
            )
        return index

    def _function(self, name: str, file: str) -> int:
        key = (name, file)
        if key not in self._functions:
            self._functions[key] = len(self._functions) + 1
            number = self.string(name)
            self.profile.function.add(
                id=self._functions[key],
                name=number,
                system_name=number,
                filename=self.string(file),
            )
        return self._functions[key]

    def _module(self, name: str) -> int:
        if name not in self._modules:
            self._modules[name] = len(self._modules) + 1
            # Already resolved: pprof must not search for the file.
            self.profile.mapping.add(
                id=self._modules[name],
                filename=self.string(name),
                has_functions=True,
                has_filenames=True,
                has_line_numbers=True,
                has_inline_frames=True,
            )
        return self._modules[name]

    def location(self, frames: tuple[Frame, ...]) -> int:
        """Return the location of an address: inlined calls first, then the function."""
        if frames not in self._locations:
            self._locations[frames] = len(self._locations) + 1
            entry = self.profile.location.add(
                id=self._locations[frames],
                mapping_id=self._module(frames[-1].module),
                address=frames[-1].address,
            )
            for frame in frames:
                function = self._function(label(frame), frame.file or "")
                entry.line.add(function_id=function, line=frame.line or 0)
        return self._locations[frames]


def by_address(stack: Stack) -> list[tuple[Frame, ...]]:
    """Return the frames of each address: inlined calls first, then the function."""
    groups: list[tuple[Frame, ...]] = []
    pending: list[Frame] = []
    for frame in stack:
        pending.append(frame)
        if not frame.inlined:
            groups.append(tuple(pending))
            pending = []
    if pending:
        groups.append(tuple(pending))
    return groups


def _bounded(value: int) -> int:
    """Limit a value to int64; a damaged trace may contain anything."""
    return max(0, min(value, LARGEST))


def message(profile: Profile) -> Any:
    """Return the profile as pprof's message."""
    build = _Builder()
    target = build.profile
    for kind, unit in SAMPLE_TYPES:
        target.sample_type.add(type=build.string(kind), unit=build.string(unit))
    names = Names(profile)
    for weight in profile.weights:
        sample = target.sample.add()
        sample.location_id.extend(map(build.location, by_address(weight.stack)))
        values = (weight.waits, weight.wait_ns, weight.holds, weight.hold_ns)
        sample.value.extend(map(_bounded, values))
        site = names.site(weight.lock)
        if site:
            sample.label.add(key=build.string("lock"), str=build.string(site.name))
    target.default_sample_type = build.string(DEFAULT_TYPE)
    target.time_nanos = _bounded(int(profile.began * 1e9))
    target.duration_nanos = _bounded(profile.duration_ns)
    target.period = 1
    target.period_type.type = build.string("contentions")
    target.period_type.unit = build.string("count")
    return target


def pprof(profile: Profile) -> bytes:
    """Return the file's content; equal profiles give byte-identical files."""
    return gzip.compress(
        message(profile).SerializeToString(deterministic=True), mtime=0
    )
