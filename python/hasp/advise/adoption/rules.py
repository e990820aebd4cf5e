# SPDX-License-Identifier: MIT
"""How pthread's types and functions are written with Hasp's headers."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.advise.adoption.source_text import Call
from hasp.locks.native import WRAPPER

NULLS = ("NULL", "0", "nullptr")
CONDITION_CALLS = {
    "signal": "hasp_condition_signal",
    "broadcast": "hasp_condition_broadcast",
}


@dataclass(frozen=True)
class Rules:
    """The replacements for one kind of object under one algorithm."""

    kind: str  # mutex, rwlock, barrier
    lock: str

    @property
    def identifier(self) -> str:
        """Return the algorithm's name in C, or "" if it has a name at run time only."""
        if self.kind != "mutex" or self.lock.startswith(WRAPPER):
            return ""
        return "auto_" if self.lock == "auto" else self.lock.replace("-", "_")

    @property
    def prefix(self) -> str:
        """Return what the functions of the object begin with."""
        end = f"_{self.identifier}" if self.identifier else ""
        return f"hasp_{self.kind}{end}"

    @property
    def type(self) -> str:
        return f"struct {self.prefix}"

    @property
    def cxx_type(self) -> str:
        if not self.identifier:
            return "hasp::any_mutex"
        return f"hasp::mutex<hasp::{self.identifier}>"

    @property
    def header(self) -> str:
        return f"hasp/{self.kind}.h"

    @property
    def initialiser(self) -> str:
        return f"HASP_{self.kind.upper()}_INITIALIZER"

    @property
    def needs_init(self) -> bool:
        """Return whether only an init function can choose the algorithm."""
        return not self.identifier

    def call(self, call: Call) -> tuple[str, str]:
        """Return a pthread call as a call of Hasp's, and a remark; "" for none.

        The first is "" if Hasp has nothing for it.
        """
        operation = call.name.removeprefix(f"pthread_{self.kind}_")
        if call.name.startswith("pthread_cond_"):
            return self._wait(call)
        if operation == "init":
            return self._init(call)
        known = {
            "mutex": ("lock", "trylock", "timedlock", "clocklock", "unlock", "destroy"),
            "rwlock": ("destroy", "unlock"),
            "barrier": ("wait", "destroy"),
        }[self.kind]
        renamed = {
            "rdlock": "read_lock",
            "wrlock": "write_lock",
            "tryrdlock": "read_trylock",
            "trywrlock": "write_trylock",
            "clockrdlock": "read_clocklock",
            "clockwrlock": "write_clocklock",
        }
        arguments = list(call.arguments)
        if operation in ("timedrdlock", "timedwrlock"):
            operation = operation.replace("timed", "clock")
            arguments.insert(1, "CLOCK_REALTIME")
        name = operation if operation in known else renamed.get(operation, "")
        if not name or (self.kind == "mutex" and operation in renamed):
            return "", f"{call.name}() has no counterpart"
        remark = ""
        if self.kind == "barrier" and operation == "wait":
            remark = "hasp_barrier_wait() returns true where pthread's returns"
            remark += " PTHREAD_BARRIER_SERIAL_THREAD"
        return f"{self.prefix}_{name}({', '.join(arguments)})", remark

    def _init(self, call: Call) -> tuple[str, str]:
        target, attributes = call.arguments[0], (*call.arguments, "NULL")[1]
        remark = ""
        if attributes not in NULLS:
            remark = f"{attributes}: only plain {self.kind}es have a counterpart"
            remark += ", no recursive, robust or process-shared ones"
            if self.kind != "mutex":
                remark = (
                    f"{attributes}: process-shared {self.kind}s have no counterpart"
                )
        if self.kind == "barrier":
            count = (*call.arguments, "", "")[2]
            return f'hasp_barrier_init({target}, "{self.lock}", {count})', remark
        if self.identifier:
            place = target[1:] if target.startswith("&") else f"*({target})"
            return f"{place} = ({self.type}){self.initialiser}", remark
        return f'{self.prefix}_init({target}, "{self.lock}")', remark

    def _wait(self, call: Call) -> tuple[str, str]:
        """Return a wait on a condition variable with the mutex."""
        condition, mutex, *rest = call.arguments
        operation = call.name.removeprefix("pthread_cond_")
        order = (mutex, condition) if self.identifier else (condition, mutex)
        prefix = self.prefix if self.identifier else "hasp_condition"
        if operation == "wait":
            return f"{prefix}_wait({', '.join(order)})", ""
        if operation == "clockwait":
            return f"{prefix}_clockwait({', '.join((*order, *rest))})", ""
        if operation != "timedwait":
            return "", f"{call.name}() has no counterpart"
        text = ", ".join((*order, "CLOCK_REALTIME", *rest))
        remark = "CLOCK_MONOTONIC if the condition variable was initialised so"
        return f"{prefix}_clockwait({text})", remark


def condition_call(call: Call) -> tuple[str, str]:
    """Return a call on a condition variable that does not name the mutex."""
    operation = call.name.removeprefix("pthread_cond_")
    target = call.arguments[0]
    if operation in CONDITION_CALLS:
        return f"{CONDITION_CALLS[operation]}({target})", ""
    if operation == "init":
        remark = ""
        if (*call.arguments, "NULL")[1] not in NULLS:
            remark = "CLOCK_MONOTONIC if the attributes say so"
        return f"hasp_condition_init({target}, CLOCK_REALTIME)", remark
    if operation == "destroy":
        return "(void)0", "condition variables of Hasp need no destroy"
    return "", ""
