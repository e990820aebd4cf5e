# SPDX-License-Identifier: MIT
"""Keeps NumPy and SciPy from starting threads."""

from __future__ import annotations

import importlib
import os

SETTINGS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def use_one_thread() -> None:
    """Import the linear algebra with one thread, unless the user has set a number.

    Its threads spin while they wait for each other, which disturbs what is measured,
    and solving the small systems of Hasp takes many times as long when the CPUs are
    busy. The settings are removed again, because programs inherit the environment.
    """
    added = [name for name in SETTINGS if name not in os.environ]
    for name in added:
        os.environ[name] = "1"
    try:
        for module in ("numpy.linalg", "scipy.linalg"):
            importlib.import_module(module)
    finally:
        for name in added:
            del os.environ[name]
