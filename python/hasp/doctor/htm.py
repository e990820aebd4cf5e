# SPDX-License-Identifier: MIT
"""Whether this machine can elide locks: `hasp doctor --htm`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hasp.base.host import read_text
from hasp.doctor import FINE, LACK, NOTE, Finding
from hasp.launch.transactions import probed
from hasp.locks import native

TOPIC = "hardware transactions"
TAA = Path("/sys/devices/system/cpu/vulnerabilities/tsx_async_abort")
COMMAND_LINE = Path("/proc/cmdline")
REMEDIES = {
    "absent": "a processor with RTM, such as a Xeon since Ice Lake-SP, may need tsx=on "
    "on the kernel's command line; virtual machines often hide it",
    "disabled": "microcode has disabled RTM on this processor for good",
    "fails": "the hypervisor or emulator aborts each transaction: run on the hardware",
}
STATUS_BITS = {
    1: "explicit",
    2: "retry",
    4: "conflict",
    8: "capacity",
    16: "debug",
    32: "nested",
}


def findings() -> list[Finding]:
    """Return what the processor, the kernel and the library say about transactions."""
    probe = probed()
    if probe is None:
        words = "hasp-locks does not run: install Hasp again for this machine"
        return [Finding(TOPIC, "RTM", "unknown", LACK, words)]
    works = probe["hardware"] == "works"
    words = REMEDIES.get(probe["hardware"], "")
    found = [Finding(TOPIC, "RTM", probe["text"], FINE if works else NOTE, words)]
    if probe["probes"]:
        found.append(_commits(probe))
    found.append(_kernel())
    text = read_text(TAA)
    if text is not None:
        found.append(Finding(TOPIC, "TSX async. abort", text.strip()))
    effect = "runs sections as transactions" if works else "runs LOCK alone"
    advice = "" if works else "`hasp simulate --machine i7-4770` simulates transactions"
    found.append(
        Finding(TOPIC, f"{native.ELISION}LOCK", effect, FINE if works else NOTE, advice)
    )
    return found


def _commits(probe: dict[str, Any]) -> Finding:
    value = f"{probe['commits']:,} of {probe['probes']:,} committed"
    if probe["commits"] == probe["probes"]:
        return Finding(TOPIC, "empty transactions", value)
    status = int(probe["last_abort"])
    bits = [name for bit, name in STATUS_BITS.items() if status & bit]
    words = f"the last abort had the status {status:#x} ({', '.join(bits) or 'no bit'})"
    return Finding(TOPIC, "empty transactions", value, NOTE, words)


def _kernel() -> Finding:
    line = read_text(COMMAND_LINE) or ""
    options = [word for word in line.split() if word.startswith(("tsx=", "tsx_"))]
    return Finding(TOPIC, "kernel options", " ".join(options) or "none about TSX")
