# SPDX-License-Identifier: MIT
"""Recording a program: starting it, following it, and what to say about its end."""
