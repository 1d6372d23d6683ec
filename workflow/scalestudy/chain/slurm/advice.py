"""What SLURM's codes and messages mean for the user, and which key to change."""

import re

from scalestudy.launch.slurm.ask import AWAY

PROFILE = "profiles/slurm/config.yaml"
MEMORY = f"mem_mb under set-resources in {PROFILE} (default: 8000 MB per rank of a node), or use smaller scales"
TIME = "allocation_limit_min of the study (limit of a job with several runs) or time_limit_min (limit of a run)"
NODES = "scales of the study, which set the number of nodes"
CORES = "host.cores_per_rank of the study (default: 8 per GPU), or use smaller scales"
GPUS = f"gpu_type under default-resources in {PROFILE}, or use smaller scales"
ACCOUNT = f"slurm_account under default-resources in {PROFILE}; `sacctmgr show assoc user=$USER` lists yours"
PARTITION = f"slurm_partition under default-resources in {PROFILE}; `sinfo` lists partitions"
QOS = f"qos under default-resources in {PROFILE}"
LIMITS = f"jobs in {PROFILE}, for fewer jobs at a time; or use smaller scales, or another account or qos"

ADVICE = (
    (r"job submit limit|MaxSubmit|MaxJobs|policy", LIMITS),
    (r"account", ACCOUNT),
    (r"invalid partition|PartitionConfig|partition .*not available", PARTITION),
    (r"\bqos specification|InvalidQOS|QOSNotAllowed", QOS),
    (r"\bTIMEOUT|DEADLINE", "time_limit_min of the study; a job requests this time for each of its runs"),
    (r"time ?limit|WallDuration|missing or exceeds", TIME),
    (r"memory|OUT_OF_MEMORY|OutOfMemory|MaxMem|GrpMem|QOS.*Mem", MEMORY),
    (r"PartitionNodeLimit|node count|too many nodes|MaxNode|GrpNode", NODES),
    (r"feature|constraint", f"constraint under default-resources in {PROFILE}"),
    (r"generic resource|gres", GPUS),
    (r"processors|cpu count|MaxCpu|GrpCpu|tasks", CORES),
    (r"node configuration is not available", f"{MEMORY}; {CORES}; {NODES}; {GPUS}"),
    (r"reservation", f"slurm-reservation in {PROFILE}"),
    (r"^waiting.*(?:Assoc|QOS)", LIMITS),
)
"""(pattern of SLURM's message, what to change). The first match is used."""

NO_ROOM = re.compile(r"temporarily unable to accept job|Max\w*Submit", re.IGNORECASE)
"""Messages of sbatch when a limit on submitted jobs is reached: MaxJobCount of the controller, or MaxSubmitJobs of
an association or of a quality of service. Jobs that end make room."""
FOR_EVER = re.compile(
    r"PartitionTimeLimit|PartitionNodeLimit|PartitionConfig|BadConstraints|InvalidAccount|InvalidQOS"
    r"|AccountNotAllowed|QOSNotAllowed|PerJob|DependencyNeverSatisfied|QOSGrpWall|WallDuration"
    r"|can't use this partition"
)
"""Reasons of jobs that never start unless a setting or a limit is changed."""
BY_HAND = {
    "JobHeldUser": "scontrol release {job}",
    "JobHeldAdmin": "ask the administrators, who held it",
    "launch failed requeued held": "scontrol release {job}",
    "job requeued in held state": "scontrol release {job}",
}
"""Reasons of held jobs -> what to do."""
ORDINARY = ("", "Resources", "Priority", "None", "BeginTime", "Prolog", "Cleaning", "Licenses", "Nodes required")
"""Reasons of jobs that wait in the queue as usual."""


def key_for(said: str) -> str:
    """The key to change for this message of SLURM; empty if unknown."""
    return next((keys for pattern, keys in ADVICE if re.search(pattern, said, re.IGNORECASE)), "")


def with_key(said: str) -> str:
    """The message, and the key to change."""
    keys = "" if AWAY.search(said) else key_for(said)
    return f"{said}. What to change: {keys}" if keys else said


def why_it_waits(job: str, reason: str) -> str:
    """Why a job waits, and what to do."""
    if reason in ORDINARY:
        return f"waiting in the queue{reason and f' ({reason})'}"
    if reason in BY_HAND:
        return f"held ({reason}). To continue: {BY_HAND[reason].format(job=job)}"
    never = "waiting, and cannot start unless this is changed" if FOR_EVER.search(reason) else "waiting"
    return with_key(f"{never} ({reason})")
