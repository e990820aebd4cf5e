# SPDX-License-Identifier: MIT
"""Campaigns on a Slurm cluster: `hasp study run CAMPAIGN --on slurm`.

batch.py contains the command, queue.py calls Slurm's own commands, submission.py
submits the job array, task.py does the work on a node, files.py defines the shared
files, state.py reads the progress, naming.py finds the machine of a node.
"""
