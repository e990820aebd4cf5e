# SPDX-License-Identifier: MIT
"""Submitting the tasks of a study as one job array, by the library submitit.

Why submitit: it is kept up, MIT, needs one other small package, writes the batch script
for a whole array, starts the same Python on the node, and keeps scripts and logs in one
folder. The others looked at: simple-slurm is under the AGPL; PSI/J submits no arrays;
dask-jobqueue and executorlib bring a scheduler with workers that outlive jobs, which a
study on exclusive nodes has no use for; pyslurm must be compiled against each version
of Slurm. States of jobs are asked of `squeue` (queue.py): submitit asks `sacct`, which
needs an accounting database.
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
        with contextlib.redirect_stderr(said):  # the error below has the same words
            jobs = executor.map_array(task.carry_out, [order] * count)
    except (RuntimeError, OSError) as problem:
        raise HaspError(
            f"sbatch takes no such job: {last_line(str(problem))}",
            "correct the options for the cluster, here or in the plan's [slurm]; "
            "`sinfo` lists partitions and nodes",
        ) from None
    return str(jobs[0].job_id).split("_")[0]


def parameters(name: str, settings: SlurmSettings) -> dict[str, object]:
    """What submitit is told: a whole node for each task, and the user's wishes."""
    result: dict[str, object] = {
        "job_name": name,
        "time": math.ceil(settings.time_s / 60),
        "nodes": 1,
        "ntasks_per_node": 1,
        "exclusive": True,
        "mem": "0",  # all of the node's
        "setup": list(settings.setup),
        # All CPUs of the node, wherever the cluster's default would bind a task.
        "srun_args": ["--cpu-bind=none"],
        "additional_parameters": {
            # A job that Slurm starts anew would write a second time into its files.
            "no_requeue": True,
            # submitit asks for a signal; this one does nothing (task.time_limit).
            "signal": "CONT@1",
            **parse_sbatch(settings.sbatch),
        },
    }
    for key in ("partition", "account", "constraint"):
        if getattr(settings, key):
            result[key] = getattr(settings, key)
    return result
