# SPDX-License-Identifier: MIT
"""`hasp simulate --list`: machines, workloads and their knobs."""

from __future__ import annotations

from dataclasses import asdict

from hasp.base import output
from hasp.lab.simulate.job import workloads
from hasp.lab.simulate.machines import machine

SCHEMA = "hasp.simulate.list/1"


def print_listing(destination: str | None) -> int:
    """Print machines and workloads, or write them as JSON. Returns the exit status."""
    machines = [machine.load(name) for name in machine.names()]
    if destination:
        records = [
            {
                "schema": SCHEMA,
                "kind": "machine",
                "name": known.name,
                "title": known.title,
                "cpus": known.topology.cpus,
                "estimated": known.estimated,
                "file": str(known.path),
            }
            for known in machines
        ]
        records += [
            {"schema": SCHEMA, "kind": "workload", **asdict(workload)}
            for workload in workloads()
        ]
        output.write_json(records, destination)
        return 0
    console = output.console()
    table = output.table(caption="* with estimated latencies")
    for heading in ("MACHINE", "CPUS", "DESCRIPTION"):
        table.add_column(heading, justify="right" if heading == "CPUS" else "left")
    for known in machines:
        name = f"{known.name} *" if known.estimated else known.name
        table.add_row(name, str(known.topology.cpus), known.title)
    console.print(table)
    table = output.table(caption="NAME:N sets the first knob in brackets")
    for heading in ("WORKLOAD", "DESCRIPTION", "KNOBS"):
        table.add_column(heading)
    for workload in workloads():
        knobs = [
            f"[{knob}]" if knob == workload.shorthand else knob
            for knob in workload.knobs
        ]
        table.add_row(workload.name, workload.summary, " ".join(knobs))
    console.print()
    console.print(table)
    return 0
