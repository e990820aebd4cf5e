# SPDX-License-Identifier: MIT
"""The machine that a node belongs to: only identical nodes form one machine.

Locks behave differently on different processors, so runs on different kinds of nodes
must not be mixed in one machine of a store, whatever name the user gives it.
"""

from __future__ import annotations

import re

from hasp.base.host import Host

# Parts of a model name that do not distinguish it from others.
NOISE = re.compile(r"\((R|TM|C)\)|\bCPU\b|\bProcessor\b|\d+-Core|@.*$", re.IGNORECASE)


def kind_of(facts: Host) -> str:
    """Return a description that is equal for nodes of the same machine."""
    return (
        f"{facts.architecture}, {facts.cpu_model}, {facts.cpus_allowed} of "
        f"{facts.cpus_online} CPUs, {facts.numa_nodes} NUMA nodes"
    )


def name_of_kind(facts: Host) -> str:
    """A name such as `AMD-EPYC-7742-2x64` for nodes with 2 NUMA nodes of 64 CPUs."""
    model = NOISE.sub(" ", facts.cpu_model)
    words = "-".join(re.findall(r"[A-Za-z0-9.+]+", model)) or facts.architecture
    nodes, cpus = facts.numa_nodes, facts.cpus_allowed
    size = f"{nodes}x{cpus // nodes}" if cpus % nodes == 0 else f"{cpus}"
    return f"{words}-{size}"
