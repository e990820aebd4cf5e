# SPDX-License-Identifier: MIT
"""`python -m hasp` is the `hasp` command."""

from __future__ import annotations

import sys

from hasp.cli.main import main

sys.exit(main())
