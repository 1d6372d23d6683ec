"""A real SLURM on this host during a test session: a controller and two nodes with four simulated GPUs each.

The daemons run in the foreground, in sessions of their own, and are stopped by their process ids. The nodes share
the processors of this host: they test how runs are launched, not their speed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "squeue", "sinfo", "scancel")
CLIENTS = ("srun", "sbatch", "salloc", "scancel", "scontrol", "squeue", "sinfo")
NODES = ("node1", "node2")
GPUS = 4

CONFIG = """\
ClusterName=scalestudy
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={base}/munge.sock
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmctldPidFile={base}/slurmctld.pid
SlurmdPidFile={base}/slurmd-%n.pid
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool-%n
SlurmctldLogFile={base}/slurmctld.log
SlurmdLogFile={base}/slurmd-%n.log
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=2,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
MinJobAge=600
KillWait=20
OverTimeLimit=0
JobRequeue=1
GresTypes=gpu
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} {hardware}
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} {hardware}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=main Nodes=node[1-2] Default=YES MaxTime=600 PriorityTier=1 State=UP
PartitionName=urgent Nodes=node[1-2] MaxTime=10 PriorityTier=10 State=UP
PartitionName=single Nodes=node1 MaxTime=600 State=UP
PartitionName=members Nodes=node[1-2] MaxTime=600 AllowAccounts=science State=UP
"""
HARDWARE = "CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=100000 Gres=gpu:4"


def missing_programs() -> list[str]:
    """Return the programs that must be installed for a cluster; munged and the daemons are in sbin."""
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


class Cluster:
    """Controller and nodes. `path` has wrappers with the configuration, since the executor drops SLURM_CONF."""

    def __init__(self) -> None:
        # Not below pytest's own folder: munged rejects a socket in a folder that others cannot access.
        self.base = Path(tempfile.mkdtemp(prefix="scalestudy-slurm-"))
        self.base.chmod(0o755)
        self.path = self.base / "bin"
        self._daemons: dict[str, subprocess.Popen] = {}

    def start(self) -> None:
        """Start everything; this takes a few seconds."""
        self._configure()
        socket_ = f"--socket={self.base}/munge.sock"
        files = [f"--{name}-file={self.base}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        self._start("munged", "munged", "--foreground", socket_, *files)
        self._wait("munged", lambda: self._works("munge", "-n", "-S", f"{self.base}/munge.sock"))
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        self._wait("both nodes", lambda: self.states() == ["idle", "idle"])

    def stop(self) -> None:
        """Cancel remaining jobs, and stop the daemons that were started, the last one first."""
        with contextlib.suppress(Exception):
            self.run("scancel", "--user", str(os.getuid()))
            self._wait("an empty queue", lambda: not self.jobs(), seconds=20)
        for name in reversed(list(self._daemons)):
            self.stop_daemon(name)
        shutil.rmtree(self.base, ignore_errors=True)

    def start_controller(self) -> None:
        """Start the controller, and wait until it answers. It has the jobs of the previous controller."""
        self._start("slurmctld", "slurmctld", "-D")
        self._wait("slurmctld", lambda: self._works("squeue"))

    def stop_controller(self, signum: int = signal.SIGTERM) -> None:
        """Stop the controller; jobs continue without it."""
        self.stop_daemon("slurmctld", signum)

    def forget(self) -> None:
        """Let the next controller have no jobs, as if it had forgotten them after MinJobAge."""
        for file in (self.base / "state").glob("job_state*"):
            file.unlink()

    @property
    def controlled(self) -> bool:
        """Whether the controller was started and not stopped."""
        return "slurmctld" in self._daemons

    def start_node(self, node: str) -> None:
        """Start the daemon of a node."""
        self._start(node, "slurmd", "-D", "-N", node)

    def stop_daemon(self, name: str, signum: int = signal.SIGTERM) -> None:
        """Stop one daemon."""
        process = self._daemons.pop(name)
        process.send_signal(signum)
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def run(self, *command: str, check: bool = True) -> str:
        """Return the output of a SLURM command."""
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 or not check, f"{' '.join(command)}: {done.stderr}"
        return done.stdout

    def jobs(self) -> list[str]:
        """Return the jobs that are waiting, running or being cleaned up."""
        return self.run("squeue", "--noheader", "--format=%i %T").splitlines()

    def processes_of(self, job: str) -> list[int]:
        """Everything that runs for a job, SLURM's own supervisors included.

        Other clusters have a job of that number too.
        """
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words, environment = ((path / name).read_bytes() for name in ("cmdline", "environ"))
            except OSError:
                continue
            of_job = f"SLURM_JOB_ID={job}".encode() in environment.split(b"\0")
            if str(self.base).encode() in environment and (
                of_job or words.startswith(f"slurmstepd: [{job}.".encode())
            ):
                found.append(int(path.name))
        return found

    def states(self) -> list[str]:
        """Return the states of the nodes."""
        return self.run("sinfo", "--noheader", "--Node", "--partition=main", "--format=%T", check=False).split()

    def environment(self) -> dict[str, str]:
        """The environment variables with which SLURM's commands reach this cluster."""
        path = os.pathsep.join([str(self.path), os.environ["PATH"], "/usr/sbin", "/sbin"])
        return os.environ | {"PATH": path, "SLURM_CONF": str(self.base / "slurm.conf")}

    def _configure(self) -> None:
        with contextlib.ExitStack() as stack:
            sockets = [stack.enter_context(socket.socket()) for _ in range(3)]
            for listener in sockets:
                listener.bind(("127.0.0.1", 0))
            ports = [listener.getsockname()[1] for listener in sockets]
        host, user = socket.gethostname().split(".")[0], _user()
        text = CONFIG.format(base=self.base, host=host, user=user, ports=ports, hardware=HARDWARE)
        (self.base / "slurm.conf").write_text(text)
        key = self.base / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (self.base / name).mkdir()
        for number in range(GPUS):  # any character device will do: its content is not used
            os.mknod(self.base / f"gpu{number}", 0o666 | 0o020000, os.makedev(1, 3))
        gres = f"AutoDetect=off\nNodeName=node[1-2] Name=gpu File={self.base}/gpu[0-{GPUS - 1}]\n"
        (self.base / "gres.conf").write_text(gres)
        self.path.mkdir()
        for name in CLIENTS:
            wrapper = self.path / name
            wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={self.base}/slurm.conf exec {shutil.which(name)} "$@"\n')
            wrapper.chmod(0o755)

    def _start(self, name: str, *command: str) -> None:
        with (self.base / f"{name}.out").open("ab") as output:
            self._daemons[name] = subprocess.Popen(
                command,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _works(self, *command: str) -> bool:
        done = subprocess.run(command, env=self.environment(), capture_output=True, timeout=60)
        return done.returncode == 0

    def _wait(self, what: str, condition: Callable[[], bool], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not condition():
            said = "".join(path.read_text(errors="replace")[-800:] for path in self.base.glob("*.out"))
            assert time.monotonic() < end, f"waited {seconds} s for {what} in vain: {said}"
            time.sleep(0.1)


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name
