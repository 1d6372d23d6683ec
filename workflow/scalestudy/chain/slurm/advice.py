"""What a word of SLURM's means for whoever submitted the job, and which key would change it."""

import re

from scalestudy.launch.slurm.ask import AWAY

PROFILE = "profiles/slurm/config.yaml"
MEMORY = (
    f"mem_mb under set-resources in {PROFILE} (8000 MB for each rank of a node unless set), or use smaller scales"
)
TIME = "allocation_limit_min of the study, the limit of a job of several runs, or time_limit_min, that of a run"
NODES = "scales of the study, which say how many nodes"
CORES = "host.cores_per_rank of the study (8 for a GPU unless set), or use smaller scales"
GPUS = f"gpu_type under default-resources in {PROFILE}, or use smaller scales"
ACCOUNT = f"slurm_account under default-resources in {PROFILE}; `sacctmgr show assoc user=$USER` lists yours"
PARTITION = f"slurm_partition under default-resources in {PROFILE}; `sinfo` lists partitions"
QOS = f"qos under default-resources in {PROFILE}"
LIMITS = f"jobs in {PROFILE} for fewer jobs at a time; else use smaller scales, or another account or qos"

ADVICE = (
    (r"job submit limit|MaxSubmit|MaxJobs|policy", LIMITS),
    (r"account", ACCOUNT),
    (r"invalid partition|PartitionConfig|partition .*not available", PARTITION),
    (r"\bqos specification|InvalidQOS|QOSNotAllowed", QOS),
    (r"\bTIMEOUT|DEADLINE", "time_limit_min of the study: a job holds it for each of its runs"),
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
"""(pattern of SLURM's words, what to change), the first that fits."""

FOR_EVER = re.compile(
    r"PartitionTimeLimit|PartitionNodeLimit|PartitionConfig|BadConstraints|InvalidAccount|InvalidQOS"
    r"|AccountNotAllowed|QOSNotAllowed|PerJob|DependencyNeverSatisfied|QOSGrpWall|WallDuration"
    r"|can't use this partition"
)
"""Reasons of jobs that never start unless a limit is changed."""
BY_HAND = {
    "JobHeldUser": "scontrol release {job}",
    "JobHeldAdmin": "ask the administrators, who held it",
    "launch failed requeued held": "scontrol release {job}",
    "job requeued in held state": "scontrol release {job}",
}
"""Reasons of jobs that wait until somebody acts, and what to do."""
ORDINARY = ("", "Resources", "Priority", "None", "BeginTime", "Prolog", "Cleaning", "Licenses", "Nodes required")
"""Reasons of jobs whose turn has not come yet."""


def key_for(said: str) -> str:
    """What to change, by its key, for these words of SLURM's; empty where that is not known."""
    return next((keys for pattern, keys in ADVICE if re.search(pattern, said, re.IGNORECASE)), "")


def with_key(said: str) -> str:
    """The words and what to change."""
    keys = "" if AWAY.search(said) else key_for(said)
    return f"{said}. To change it: {keys}" if keys else said


def why_it_waits(job: str, reason: str) -> str:
    """Why a job waits, and what would start it."""
    if reason in ORDINARY:
        return f"waiting for a turn{reason and f' ({reason})'}"
    if reason in BY_HAND:
        return f"held ({reason}). To go on: {BY_HAND[reason].format(job=job)}"
    never = "waiting, and never started as things are" if FOR_EVER.search(reason) else "waiting"
    return with_key(f"{never} ({reason})")
