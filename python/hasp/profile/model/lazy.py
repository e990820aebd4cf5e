# SPDX-License-Identifier: MIT
"""A sequence that creates its members on access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class Lazy(Sequence[T_co], Generic[T_co]):
    """A sequence of `length` members; `make(i)` creates member i.

    Slices are lazy too.
    """

    def __init__(self, length: int, make: Callable[[int], T_co]) -> None:
        self._places: Sequence[int] = range(length)
        self._make = make

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> T_co: ...

    @overload
    def __getitem__(self, place: slice) -> Lazy[T_co]: ...

    def __getitem__(self, place: int | slice) -> T_co | Lazy[T_co]:
        if isinstance(place, slice):
            part = Lazy(0, self._make)
            part._places = self._places[place]
            return part
        return self._make(self._places[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} of {self[0]!r}>" if self._places else "<none>"
