"""Reads a SLURM job (its state, its nodes, its remaining time), and builds the command of a job step."""

import datetime
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scalestudy.errors import UserError
from scalestudy.launch.slurm.ask import ASK_S, ask, ask_patiently, words
from scalestudy.record.observation import Outcome
from scalestudy.record.say import say
from scalestudy.study.config.conditions import CORES_OF_A_GPU
from scalestudy.study.spec import RunSpec

CONTROLLER_S = 900
"""Seconds that a run waits, before it starts, for a controller that does not answer."""
BACK_S = 30
"""Seconds that a run waits after the controller has returned: it refuses steps until its nodes have reported their
resources (SLURM 22.05: "Memory required by task is not available")."""
ALIVE = {
    "PENDING",
    "CONFIGURING",
    "RUNNING",
    "SUSPENDED",
    "STOPPED",
    "REQUEUED",
    "REQUEUE_HOLD",
    "SIGNALING",
    "STAGE_OUT",
    "COMPLETING",
}
COMPLETING_S = 90
"""Seconds to wait for a completing job: longer than SLURM's time between SIGTERM and SIGKILL."""
COMPLETING_FOR = {"TimeLimit": "TIMEOUT", "OutOfMemory": "OUT_OF_MEMORY", "NodeFail": "NODE_FAIL"}
"""SLURM's reason -> final state. While a job is COMPLETING, only its reason can show how it ended."""


class NoControllerError(UserError):
    """SLURM's controller does not answer; the text quotes the message of SLURM's command."""


@dataclass(frozen=True)
class Job:
    """A job, as the controller reports it now."""

    id: str
    state: str
    """RUNNING, CANCELLED, TIMEOUT, ...; UNKNOWN where SLURM has forgotten it."""
    nodes: tuple[str, ...] = ()
    ends_at: datetime.datetime | None = None
    """When its time limit ends, in local time; None without a limit."""
    has_gpus: bool = False
    log: str = ""
    """The file with the output of its script."""
    reason: str = ""
    """Why it waits, or why it ended, as SLURM's code."""
    gpus: int = 0
    """Number of GPUs on all of its nodes together."""
    cores: int = 0
    """Number of CPUs, as SLURM counts them, on all of its nodes together; 0 if unknown."""

    @property
    def alive(self) -> bool:
        """Whether it is running, or will run (again)."""
        return self.state in ALIVE

    def left_s(self, now: datetime.datetime) -> float | None:
        """Remaining seconds of its time limit; None without a limit."""
        return None if self.ends_at is None else (self.ends_at - now).total_seconds()

    def held_devices(self, spec: RunSpec) -> int | None:
        """Devices that the job has allocated for a run, including those that the run leaves idle; None if unknown.

        A device is a GPU; for ranks on CPUs it is the group of cores of a rank.
        """
        on_gpus = self.has_gpus and spec.host.device != "cpu"
        held = self.gpus if on_gpus else self.cores
        groups = held if on_gpus else held // spec.host.cores_asked
        return max(groups, spec.world_size) if held else None


def job_id(environment: Mapping[str, str]) -> str | None:
    """Id of the job that this process is part of; None outside of a job."""
    return environment.get("SLURM_JOB_ID")


def read_job(job: str, *, wait_s: float = 0.0, limit_s: float = ASK_S) -> Job:
    """Read a job from SLURM. Raises NoControllerError where the controller does not answer.

    wait_s: seconds to wait for a controller that does not answer; a message reports this once. limit_s: time limit
    of each query.
    """

    away = False

    def waiting(said: str) -> None:
        nonlocal away
        away = True
        if wait_s:
            say(f"waiting up to {wait_s / 60:g} min for SLURM's controller, which does not answer: {said}")

    question = ("scontrol", "--details", "--oneliner", "show", "job", job)
    done = ask_patiently(*question, wait_s=wait_s, limit_s=limit_s, waiting=waiting)
    if away and wait_s and done.returncode == 0:
        time.sleep(BACK_S)
    if done.returncode == 0:
        return parse_job(job, done.stdout, hosts=_expand)
    if "Invalid job id" in done.stderr:
        return Job(job, _state_of_the_past(job))
    waited = f" within {wait_s / 60:g} min" if wait_s else ""
    raise NoControllerError(f"SLURM did not report{waited} the allocation of job {job}: {words(done.stderr)}")


def read_ended_job(job: str) -> Job:
    """Read a job from SLURM once its processes have ended, or after COMPLETING_S seconds."""
    give_up = time.monotonic() + COMPLETING_S
    while (found := read_job(job)).state == "COMPLETING" and time.monotonic() < give_up:
        time.sleep(1)
    return found


def parse_job(job: str, line: str, *, hosts: Callable[[str], tuple[str, ...]]) -> Job:
    """A job from the line of `scontrol --details --oneliner show job`. hosts: from a node list to their names."""
    said = dict(re.findall(r"(?:^|\s)([A-Za-z_/]+)=(\S*)", line))
    end, listed = said.get("EndTime", ""), said.get("NodeList", "")
    gpus = _gpus(said)
    return Job(
        id=job,
        state=said["JobState"],
        nodes=hosts(listed) if listed not in ("", "(null)") else (),
        ends_at=datetime.datetime.fromisoformat(end) if re.match(r"\d{4}-", end) else None,
        has_gpus=gpus > 0,
        gpus=gpus,
        cores=int(said["NumCPUs"]) if said.get("NumCPUs", "").isdigit() else 0,
        log=said.get("StdOut", ""),
        reason=said.get("Reason", ""),
    )


def node_address(node: str) -> str:
    """The address of a node for other nodes. SLURM has it even where no name service resolves the node's name."""
    done = ask("scontrol", "--oneliner", "show", "node", node)
    found = re.search(r"NodeAddr=(\S+)", done.stdout)
    return found[1] if found else node


def step_command(spec: RunSpec, job: Job, nodes: tuple[str, ...]) -> list[str]:
    """The srun command of a run: exactly one task per node, each with the cores and devices of its ranks."""
    cores = spec.devices_per_node * cores_granted(spec, job)
    gpus = job.has_gpus and spec.host.device != "cpu"
    return [
        "srun",
        f"--jobid={job.id}",
        f"--job-name={spec.run_id}",
        f"--nodes={len(nodes)}",
        f"--nodelist={','.join(nodes)}",
        f"--ntasks={len(nodes)}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={cores}",
        *([f"--gpus-per-node={spec.devices_per_node}"] if gpus else []),
        "--kill-on-bad-exit=1",
        "--export=ALL",
        "--input=none",
    ]


def cores_granted(spec: RunSpec, job: Job) -> int:
    """CPUs of a step per rank: the study's number; else 8 per GPU, or the job's CPUs per GPU if that is less."""
    if spec.host.cores_per_rank is None and job.gpus and job.cores:
        return max(1, min(CORES_OF_A_GPU, job.cores // job.gpus))
    return spec.host.cores_asked


def end_step(job: str, step: str, signal: str) -> None:
    """Send a signal to the processes of a step, on all of its nodes. A step that has ended is not an error."""
    ask("scancel", f"--signal={signal}", f"{job}.{step}")


def what_became(job: Job, steps: int) -> tuple[Outcome, str]:
    """Return (outcome, reason) of a run that ended after this number of steps because its job ended."""
    after = f" after {steps} steps"
    name = f"SLURM job {job.id}"
    said: dict[str, tuple[Outcome, str]] = {
        "TIMEOUT": ("timeout", f"{name} reached its time limit{after}"),
        "DEADLINE": ("timeout", f"{name} reached its deadline{after}"),
        "PREEMPTED": ("preempted", f"{name} was preempted{after}"),
        "CANCELLED": ("preempted", f"{name} was cancelled{after}"),
        "NODE_FAIL": ("failed", f"a node of {name} failed{after}"),
        "BOOT_FAIL": ("failed", f"a node of {name} did not boot"),
        "OUT_OF_MEMORY": ("oom", f"{name} used more memory than it was allocated{after}"),
        "UNKNOWN": ("failed", f"{name} has ended, and SLURM has no record of how it ended"),
    }
    state = COMPLETING_FOR.get(job.reason, job.state) if job.state == "COMPLETING" else job.state
    if state in ALIVE:
        again = "received SIGTERM" if state in ("RUNNING", "COMPLETING") else "was requeued"
        return "preempted", f"{name} {again}{after}"
    return said.get(state, ("failed", f"{name} ended as {state}{after}"))


def _gpus(said: Mapping[str, str]) -> int:
    """Number of GPUs of a job, on all of its nodes.

    The details of a job list them at every site: `JOB_GRES=gpu:a100:8`. The trackable resources list them only
    where a site tracks GPUs: `AllocTRES=cpu=4,gres/gpu=8,gres/gpu:a100=8`, where the types are part of the total.
    """
    if detailed := re.findall(r"\bgpu(?::[^:,()]*[^:,()\d][^:,()]*)?:(\d+)", said.get("JOB_GRES", "")):
        return sum(map(int, detailed))
    tracked = said.get("AllocTRES") or said.get("TRES", "")
    total = re.search(r"gres/gpu=(\d+)", tracked)
    return int(total[1]) if total else sum(map(int, re.findall(r"gres/gpu:[^=,]+=(\d+)", tracked)))


def _expand(listed: str) -> tuple[str, ...]:
    """'node[1-2]' -> ('node1', 'node2')."""
    return tuple(ask("scontrol", "show", "hostnames", listed).stdout.split())


def _state_of_the_past(job: str) -> str:
    """Final state, from the accounting, of a job that the controller no longer lists; UNKNOWN without a record."""
    done = ask("sacct", "--noheader", "--allocations", "--parsable2", f"--jobs={job}", "--format=State")
    words = done.stdout.split()
    return words[0] if done.returncode == 0 and words else "UNKNOWN"
