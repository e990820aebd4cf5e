# SPDX-License-Identifier: MIT
"""A Slurm cluster on a single host, for tests and experiments.

    python tests/study/slurm_cluster.py [COMMAND...]   # without one: a shell

It runs Debian's munged, slurmctld and one slurmd for each node (`slurmd -N`) as the
current user, on unused ports and with all files in one folder, until the command ends.
There are no control groups and no accounting, so that it works in a container without
systemd.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "squeue", "scancel", "srun", "sinfo", "scontrol")
NODES = ("n1", "n2")
BLIND = "n3"  # a node that starts on request, and sees nothing in the folder `hidden`
PATIENCE = 30.0  # seconds to wait for idle nodes
ADMIN_PATH = "/usr/sbin:/sbin"

CONFIGURATION = """\
ClusterName=hasp-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_min_interval=0
ReturnToService=2
KillWait=5
CompleteWait=0
{nodes}
PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP
PartitionName=blind Nodes=n3 MaxTime=INFINITE State=UP
PartitionName=one Nodes=n1 MaxTime=INFINITE State=UP
"""


def lacking() -> str:
    """Return what this host lacks for a cluster, or ""."""
    path = f"{os.environ.get('PATH', '')}:{ADMIN_PATH}"
    missing = [
        name for name in (*DAEMONS, *CLIENTS) if not shutil.which(name, path=path)
    ]
    return (
        f"no {', '.join(missing)} (tools/install-packages test-all)" if missing else ""
    )


def free_ports(count: int) -> list[int]:
    """Return unused ports."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Cluster:
    """Running daemons; `environment` connects Slurm's commands to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{os.environ.get('PATH', '')}:{ADMIN_PATH}",
        }
        self._daemons: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start the daemons, and wait until the nodes are idle."""
        self.folder.chmod(0o755)  # munged refuses folders that others can write to
        (self.folder / "state").mkdir()
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o600)
        control, *ports = free_ports(2 + len(NODES))
        nodes = [
            f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} "
            f"CPUs={os.cpu_count()} State=UNKNOWN"
            for name, port in zip((*NODES, BLIND), ports, strict=True)
        ]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=socket.gethostname(),
                control=control,
                user=getpass.getuser(),
                folder=self.folder,
                nodes="\n".join(nodes),
                names=",".join(NODES),
            )
        )
        at = [
            f"--{name}={self.folder}/munge.{name}" for name in ("socket", "seed-file")
        ]
        at += [f"--key-file={self.folder}/munge.key", f"--pid-file={self.folder}/m.pid"]
        self._start("munged", "--foreground", *at)
        self._wait(lambda: (self.folder / "munge.socket").exists())
        self._start("slurmctld", "-D", "-i")
        for name in (*NODES, BLIND):
            (self.folder / f"spool.{name}").mkdir()
        for name in NODES:
            self._start("slurmd", "-D", "-N", name)
        self._wait(lambda: self._idle(*NODES))

    def start_blind_node(self) -> None:
        """Start a node on which the folder `hidden` is empty."""
        (self.folder / "hidden").mkdir()
        script = (
            f"mount -t tmpfs none {self.folder}/hidden && exec slurmd -D -N {BLIND}"
        )
        self._start("unshare", "-m", "sh", "-c", script)
        self._wait(lambda: self._idle(BLIND))

    def _idle(self, *nodes: str) -> bool:
        states = self.run("sinfo", "-h", "-N", f"-n{','.join(nodes)}", "-o%N %T")
        lines = {*states.splitlines()}
        return lines == {f"{node} idle" for node in nodes}

    def run(self, *words: str) -> str:
        """Return the output of one of Slurm's commands."""
        answer = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=30
        )
        return answer.stdout

    def stop(self) -> None:
        """Kill all jobs and daemons."""
        self.run("scancel", f"--user={os.getuid()}", "--signal=KILL", "--full")
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for pid in self._family():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _family(self) -> Iterator[int]:
        """Return the processes that the daemons detached: steps and their programs."""
        ours = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if ours in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)

    def _start(self, *words: str) -> None:
        path = shutil.which(words[0], path=self.environment["PATH"])
        assert path
        with (self.folder / f"{words[0]}.out").open("ab") as output:
            self._daemons.append(
                subprocess.Popen(
                    [path, *words[1:]],
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            )

    def _wait(self, ready: object) -> None:
        limit = time.monotonic() + PATIENCE
        while not ready():  # type: ignore[operator]
            dead = [daemon for daemon in self._daemons if daemon.poll() is not None]
            if dead or time.monotonic() > limit:
                said = "".join(
                    f"\n{path.name}: {path.read_text(errors='replace')[-1500:]}"
                    for path in sorted(self.folder.glob("*.out"))
                )
                self.stop()
                raise RuntimeError(f"the cluster did not start:{said}")
            time.sleep(0.05)


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """Yield a running cluster, which ends with the block."""
    with tempfile.TemporaryDirectory(prefix="hasp-slurm-") as name:
        made = Cluster(Path(name))
        made.start()
        try:
            yield made
        finally:
            made.stop()


def main() -> int:
    """Run a command or a shell with a cluster."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    words = sys.argv[1:] or [os.environ.get("SHELL", "/bin/sh")]
    if lacking():
        print(f"slurm_cluster: {lacking()}", file=sys.stderr)
        return 2
    with cluster() as made:
        return subprocess.run(words, env=made.environment).returncode


if __name__ == "__main__":
    sys.exit(main())
