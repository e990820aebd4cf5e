# SPDX-License-Identifier: MIT
"""A study on a Slurm cluster: `hasp study run PLAN --on slurm`.

settings.py what is asked of the cluster, queue.py Slurm's own commands, submission.py
the job array, task.py what runs on a node, files.py what they all write, naming.py
which machine a node is, rounds.py one array after the other, session.py the command.
"""
