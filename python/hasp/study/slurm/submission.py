# SPDX-License-Identifier: MIT
"""Submission of the tasks of a campaign as one job array, with the library submitit.

submitit is maintained, under the MIT licence, and has one small dependency. It writes
the batch script for a whole array, starts the same Python on the node, and keeps
scripts and logs in one folder. Alternatives: simple-slurm is under the AGPL; PSI/J
cannot submit arrays; dask-jobqueue and executorlib add a scheduler with long-lived
workers, which exclusive nodes do not need; pyslurm must be compiled for each version of
Slurm. The states of jobs come from `squeue` (queue.py), because submitit uses `sacct`,
which needs an accounting database.
"""

from __future__ import annotations

import contextlib
import io
import math

from hasp.base.errors import HaspError
from hasp.study.slurm import task
from hasp.study.slurm.files import Files
from hasp.study.slurm.queue import last_line
from hasp.study.slurm_settings import SlurmSettings, parse_sbatch


def submit(
    order: task.TaskOrder, count: int, name: str, settings: SlurmSettings, files: Files
) -> str:
    """Submit `count` tasks; returns the id of the job."""
    import submitit

    executor = submitit.SlurmExecutor(folder=files.folder)
    said = io.StringIO()
    try:
        executor.update_parameters(**parameters(name, settings))
        with contextlib.redirect_stderr(said):  # the error below repeats the message
            jobs = executor.map_array(task.carry_out, [order] * count)
    except (RuntimeError, OSError) as problem:
        raise HaspError(
            f"sbatch refuses the job: {last_line(str(problem))}",
            "correct the options for the cluster, here or in the campaign's [slurm]; "
            "`sinfo` lists partitions and nodes",
        ) from None
    return str(jobs[0].job_id).split("_")[0]


def parameters(name: str, settings: SlurmSettings) -> dict[str, object]:
    """Return submitit's parameters: a whole node per task, plus the user's options."""
    result: dict[str, object] = {
        "job_name": name,
        "time": math.ceil(settings.time_s / 60),
        "nodes": 1,
        "ntasks_per_node": 1,
        "exclusive": True,
        "mem": "0",  # all of the node's memory
        "setup": list(settings.setup),
        # All CPUs of the node, whatever binding the cluster has by default.
        "srun_args": ["--cpu-bind=none"],
        "additional_parameters": {
            # A requeued job would write to its files a second time.
            "no_requeue": True,
            # submitit requires a signal; SIGCONT has no effect (see task.time_limit).
            "signal": "CONT@1",
            **parse_sbatch(settings.sbatch),
        },
    }
    for key in ("partition", "account", "constraint"):
        if getattr(settings, key):
            result[key] = getattr(settings, key)
    return result
