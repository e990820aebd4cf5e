# SPDX-License-Identifier: MIT
"""Which machine a node is: nodes that are alike are one machine, others never.

Locks behave differently on other processors, so runs of different kinds of nodes must
not meet in one machine of a store, whatever the user calls it.
"""

from __future__ import annotations

import re

from hasp.base.host import Host

# What a model's name says that does not tell it from others.
NOISE = re.compile(r"\((R|TM|C)\)|\bCPU\b|\bProcessor\b|\d+-Core|@.*$", re.IGNORECASE)


def kind_of(facts: Host) -> str:
    """What two nodes must have in common to be the same machine."""
    return (
        f"{facts.architecture}, {facts.cpu_model}, {facts.cpus_allowed} of "
        f"{facts.cpus_online} CPUs, {facts.numa_nodes} NUMA nodes"
    )


def name_of_kind(facts: Host) -> str:
    """A name for such nodes: `AMD-EPYC-7742-2x64`, 2 NUMA nodes of 64 CPUs."""
    model = NOISE.sub(" ", facts.cpu_model)
    words = "-".join(re.findall(r"[A-Za-z0-9.+]+", model)) or facts.architecture
    nodes, cpus = facts.numa_nodes, facts.cpus_allowed
    size = f"{nodes}x{cpus // nodes}" if cpus % nodes == 0 else f"{cpus}"
    return f"{words}-{size}"
