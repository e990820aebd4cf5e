# SPDX-License-Identifier: MIT
"""Facts about the host on which measurements are made."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CGROUP = Path("/sys/fs/cgroup")
NODES = Path("/sys/devices/system/node")


@dataclass(frozen=True)
class Host:
    """The facts that are needed to interpret measurements on a machine."""

    hostname: str
    architecture: str
    cpu_model: str
    cpus_online: int
    cpus_allowed: int  # by the affinity mask
    cpu_quota: float | None  # of the cgroups, in CPUs; None: no quota
    numa_nodes: int
    memory_bytes: int
    kernel: str
    libc: str
    load_average: float

    @property
    def cpus(self) -> float:
        """The number of CPUs that this process can use at once, quota included."""
        return min(self.cpus_allowed, self.cpu_quota or self.cpus_allowed)

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a file of results."""
        return asdict(self)


def read_text(path: str | Path) -> str | None:
    """Return the text of a file in /proc or /sys; None if it cannot be read."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def facts() -> Host:
    """Return the current facts of this host."""
    return Host(
        hostname=platform.node(),
        architecture=platform.machine(),
        cpu_model=cpu_field("model name") or cpu_field("CPU part") or "unknown",
        cpus_online=os.sysconf("SC_NPROCESSORS_ONLN"),
        cpus_allowed=len(os.sched_getaffinity(0)),
        cpu_quota=cpu_quota(),
        numa_nodes=len(list(NODES.glob("node[0-9]*"))) or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=platform.release(),
        libc=os.confstr("CS_GNU_LIBC_VERSION") or "unknown",
        load_average=os.getloadavg()[0],
    )


def processor() -> str:
    """Return the processor's name, maker, family and model, as far as they are known.

    That is "AMD EPYC, AuthenticAMD family 25 model 1" on x86, where the name may say
    little in a virtual machine, and "implementer 0x41 part 0xd0c" on Arm. Empty if
    nothing is known.
    """
    fields = _cpu_fields()
    name = fields.get("model name", "")
    vendor, family, model = map(fields.get, ("vendor_id", "cpu family", "model"))
    if name and vendor and family and model:
        return f"{name}, {vendor} family {family} model {model}"
    implementer, part = map(fields.get, ("CPU implementer", "CPU part"))
    if implementer and part:
        return f"implementer {implementer} part {part}"
    return name


def cpu_field(name: str) -> str | None:
    """Return a field of the first CPU in /proc/cpuinfo; None if there is none."""
    return _cpu_fields().get(name)


def _cpu_fields() -> dict[str, str]:
    """Return the first value of each field in /proc/cpuinfo, which takes long to read.

    The kernel writes it for each CPU when it is read.
    """
    fields: dict[str, str] = {}
    for line in (read_text("/proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    return fields


def cpu_list(text: str) -> list[int]:
    """Parse a list such as `0,2-5`. Raises ValueError if it is malformed."""
    numbers: list[int] = []
    for word in text.split(","):
        first, dash, last = word.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"{text!r} is not a list such as 0,2-5")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def node_cpus(root: Path = NODES) -> list[list[int]]:
    """Return the usable CPUs of each NUMA node; one list without NUMA information."""
    allowed = os.sched_getaffinity(0)
    folders = sorted(root.glob("node[0-9]*"), key=lambda one: int(one.name[4:]))
    lists = [read_text(folder / "cpulist") for folder in folders]
    ours = [sorted(allowed & {*cpu_list(text)}) for text in lists if text]
    return [cpus for cpus in ours if cpus] or [sorted(allowed)]


def cgroup_folders() -> list[tuple[int, Path]]:
    """Return version (1 or 2) and folder of this process's CPU cgroup and ancestors.

    In a container, /proc/self/cgroup may have the path on the host while the mounted
    hierarchy begins at the container's group. Then only the mount point exists.
    """
    found = []
    for line in (read_text("/proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        names = controllers.split(",")
        if not controllers:
            version, roots = 2, [CGROUP, CGROUP / "unified"]
        elif "cpu" in names:
            version, roots = 1, [CGROUP / "cpu", CGROUP / controllers]
        else:
            continue
        for root in roots:
            folder = root / path.lstrip("/")
            found += [
                (version, each)
                for each in (folder, *folder.parents)
                if each == root or root in each.parents
            ]
    return [(version, folder) for version, folder in found if folder.is_dir()]


def cpu_quota() -> float | None:
    """Return the tightest CPU quota of our cgroups, in CPUs; None without one."""
    quotas = []
    for version, folder in cgroup_folders():
        if version == 2:
            words = (read_text(folder / "cpu.max") or "max").split()
        else:
            words = [
                read_text(folder / "cpu.cfs_quota_us") or "-1",
                read_text(folder / "cpu.cfs_period_us") or "100000",
            ]
        if len(words) == 2 and words[0].isdecimal() and int(words[1]) > 0:
            quotas.append(int(words[0]) / int(words[1]))
    return min(quotas, default=None)
