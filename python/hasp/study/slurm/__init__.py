# SPDX-License-Identifier: MIT
"""Campaigns on a Slurm cluster: `hasp study run CAMPAIGN --on slurm`.

batch.py has the command, queue.py Slurm's own commands, submission.py the job array,
task.py the work on a node, files.py the files that they share, state.py the progress,
and naming.py the machine that a node belongs to.
"""
