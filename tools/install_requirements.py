#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Install requirements into the environment of the Python that runs this.

    requirements.py | install_requirements.py

uv needs a quarter of pip's time. pip installs them where uv cannot be installed or
fails, or where pip has a setting that uv lacks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PIP = (sys.executable, "-m", "pip")
INSTALLER = "uv>=0.5"

# The variables of uv for pip's settings. None: does not change what is installed.
SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
    "cache-dir": None,
    "default-timeout": None,
    "disable-pip-version-check": None,
    "no-input": None,
    "progress-bar": None,
    "retries": None,
    "root-user-action": None,
    "timeout": None,
}


def uv_environment(listed: str) -> dict[str, str] | None:
    """Return uv's settings for those that `pip config list` prints.

    None if there is one that uv lacks: it might install other packages.
    """
    environment = {}
    for line in listed.splitlines():
        key, _, quoted = line.partition("=")
        section, _, name = key.rpartition(".")
        value = quoted.strip("'\"")
        if section not in ("global", "install", ":env:"):
            continue
        if name not in SETTINGS or "\\n" in value:
            return None
        variable = SETTINGS[name]
        if name == "find-links":  # pip ignores a folder that does not exist
            value = ",".join(p for p in value.split() if "://" in p or Path(p).is_dir())
        if variable and value:
            environment[variable] = value
    return environment


def install_by_uv(requirements: str) -> bool:
    """Return whether uv installed them."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True)
    environment = uv_environment(listed.stdout)
    if listed.returncode or environment is None:
        return False
    if subprocess.call([*PIP, "install", "-q", "--no-compile", INSTALLER]):
        return False
    uv = (sys.executable, "-m", "uv", "pip", "install", "-q", "-r", "-")
    done = subprocess.run(
        [*uv, "--python", sys.executable],
        input=requirements,
        text=True,
        env=os.environ | environment,
    )
    return done.returncode == 0


def main() -> int:
    requirements = sys.stdin.read()
    if install_by_uv(requirements):
        return 0
    print("install_requirements: installing with pip, not uv", file=sys.stderr)
    pip = [*PIP, "install", "-q", "--no-compile", "-r", "/dev/stdin"]
    return subprocess.run(pip, input=requirements, text=True).returncode


if __name__ == "__main__":
    sys.exit(main())
