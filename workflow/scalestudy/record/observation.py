"""The observation: the contract between those who measure and those who analyse.

    runs/<run>/run.json             schema version, spec, outcome, environment, totals, memory, why it stopped
    runs/<run>/steps.parquet        a row per rank and step, of training and of the probes after it
    runs/<run>/blocks.parquet       a row per rank and block of steps: memory, clocks and power at its end
    runs/<run>/buckets.parquet      a row per rank, step and gradient bucket: when it was ready, when it was summed
    runs/<run>/collectives.parquet  a row per rank and call of the collectives' micro-benchmark
    runs/<run>/epochs.csv, log.txt  a row per epoch; what the processes printed
    runs/<run>/run.sha256           checksum of run.json, which vouches for the rest: the run is measured
    runs/<run>/*.pt.trace.json.gz   traces, where the study asked for them

A run directory appears whole, by one rename, or not at all. A reader takes records since release 0.1 (schema 4).
Other releases, files cut short and the run.json of another run are refused by name.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from scalestudy.errors import UserError
from scalestudy.record.files import read_file
from scalestudy.record.protocol import CURRENT
from scalestudy.record.voucher import AGAIN, doubt
from scalestudy.study.spec import AnySpec

SCHEMA_VERSION: Literal[5] = 5
OF_RELEASE_0_1 = 4
Outcome = Literal["ok", "oom", "diverged", "timeout", "failed", "preempted", "unneeded"]
"""`unneeded`: a launch that was held in reserve, and those before it were enough."""

# A step from its first mark to its last, in order; what a run does not do takes no time. The remainder is what the
# loop itself takes: the difference between what is named and what passed is shown.
STEP_PARTS = ("data", "h2d", "forward", "backward", "optimizer", "logging", "checkpoint", "remainder")
PART_COLUMNS = tuple(f"{part}_time_s" for part in STEP_PARTS)

# What DistributedDataParallel says of a step of itself, in probes; empty elsewhere.
DDP_COLUMNS = ("backward_compute_time_s", "communication_span_s", "communication_overlap_s")

# warmup, measured and tail are the training itself; the probes come after it and are never mixed with it. A tail
# is the last, short batch of an epoch: it is trained on, and no part of the step time.
TRAINING_PHASES = ("warmup", "measured", "tail")
PROBE_PHASES = ("probe-sync", "probe-no-sync", "probe-logger", "probe-arrival", "probe-arrival-no-sync")

ALTERNATING, ALTERNATING_BASE = "alternating", "alternating-base"
"""Steps of all ranks, and of the base case on rank 0 alone, in blocks that take turns after the training."""
LEAD_IN = "alternating-lead-in"
"""The first steps after a change of turns, on whichever ranks: those that slept find their caches empty."""

STEP_COLUMNS = (
    *("rank", "epoch", "block", "step", "phase"),
    *(*PART_COLUMNS, "step_time_s", *DDP_COLUMNS, "samples", "loss"),
)
BLOCK_COLUMNS = (
    "rank",
    "block",
    "phase",
    "first_step",
    "steps",
    "resident_gib",
    "allocated_gib",
    "peak_allocated_gib",
    "reserved_gib",
    "allocation_retries",
    "core_wait_share",
    "enqueue_time_s",
    "gpu_power_w",
    "gpu_sm_clock_mhz",
    "gpu_temperature_c",
    "cpu_clock_mhz",
    "gpu_slowdown_reasons",
    "gpu_energy_j",
    "cpu_energy_j",
)
BUCKET_COLUMNS = ("rank", "block", "step", "bucket", "bytes", "ready_s", "done_s")
COLLECTIVE_COLUMNS = ("rank", "collective", "bytes", "call", "time_s", "enqueue_s")
HELD_DEVICES = "held_devices"  # environment: those of the job that a launch was part of, idle ones included
SEEN = "seen"  # environment: of a script, what was seen of its model, its loaders and the time between its steps
NCCL_TRANSPORT = "nccl_transport"  # environment: the slowest that NCCL says it took (launch/nccl_log.py)
NCCL_INTERFACES = "nccl_interfaces"  # environment: names of the interfaces that NCCL has for it, if a network
PROBES_LEFT_OUT = "probes_left_out"  # environment: true where the plan has probes and the launch made none
NO_SYNC_LEFT_OUT = "no_sync_left_out"  # environment: which rank lacked memory for steps that do not synchronise
TABLES = {
    "steps": STEP_COLUMNS,
    "blocks": BLOCK_COLUMNS,
    "buckets": BUCKET_COLUMNS,
    "collectives": COLLECTIVE_COLUMNS,
}
TEXTS = ("phase", "collective")
"""Columns of words in these tables."""
EPOCH_COLUMNS = (
    *("epoch", "epoch_time_s", "elapsed_s", "samples"),
    *("train_loss", "validation_loss", "validation_accuracy"),
)


class Part(BaseModel):
    """A part of run.json: unknown keys are refused, so that a schema change is never silent."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class FileDigest(Part):
    """What a data file must look like: its size in bytes and SHA-256."""

    bytes: int
    sha256: str


class Memory(Part):
    """Memory of one rank; None where the device does not have the notion. Means are over the ends of blocks."""

    peak_resident_gib: float
    mean_resident_gib: float | None
    peak_allocated_gib: float | None
    mean_allocated_gib: float | None
    peak_reserved_gib: float | None
    mean_reserved_gib: float | None
    allocation_retries: int | None
    """Times that torch's CUDA allocator had to give memory back and ask again."""


class Stopping(Part):
    """Why a launch has as many steps as it has, as it was judged while it ran."""

    steps: int
    """Steps of training, warm-up included; probes are not."""
    warmup_steps: int
    half_width: float | None
    """Relative half-width of the launch's own mean step time, by batch means; None where it could not be told."""
    reason: str


class RankReport(Part):
    """What one rank says of itself at its end."""

    rank: int
    host: str
    node: str
    """The scheduler's name of the host, where there is a scheduler."""
    device: str
    """'cpu' or the device's name, such as 'NVIDIA H100 80GB HBM3'."""
    cores: tuple[int, ...]
    """The CPU cores this rank could run on."""
    threads: int
    """Threads of torch's intra-op pool."""
    outcome: Outcome
    reason: str
    waited: bool
    """Whether a failed rank failed only because it waited for another in vain."""
    steps: int
    memory: Memory
    begun: int | None = None
    """Steps that the host had given to its device when the rank gave up, including those that are not recorded.
    None on a CPU, for a rank that did not give up, and in older records."""
    stalled_s: float | None = None
    """Seconds that the rank had stood still when it gave up; None for one that did not, and in older records."""


def most_steps(reports: Sequence[RankReport]) -> int:
    """Steps of the rank that made most of them; 0 where none has reported."""
    return max((report.steps for report in reports), default=0)


class Totals(Part):
    """What was done, summed; the statistics are made by the analysis."""

    steps: int
    samples: int
    train_time_s: float
    """Seconds inside timed blocks, the largest over ranks."""
    wall_time_s: float
    """Seconds from the start of the processes to their end, imports and validation included."""
    training_wall_time_s: float | None = None
    """Of it training, with validation and what else lies between blocks; None in older records."""
    probe_wall_time_s: float | None = None
    """Of it probes and traces; None in older records."""
    parameters: int | None
    gradient_bytes: int | None
    """Bytes of gradients synchronised each step; None for a single process."""
    bytes_sent_per_step: float | None
    """Bytes that every rank sends each step by its strategy (study/traffic.py); None if not known."""
    unused_parameter_bytes: int | None = None
    """Of parameters that got no gradient, as DDP counts them; None where not looked for, and in older records."""
    buffer_bytes: int | None = None
    """Of the model's buffers (running statistics, masks); None in older records, as with what follows."""
    synchronised_norms: int | None = None
    """Layers that take their statistics over all ranks."""
    alternation_failed: str | None = None
    """Why the base case was not trained in the processes of this launch, where it was asked for."""
    flops_per_sample: int | None
    """Floating-point operations of forward and backward pass of a sample (train/flops.py); None if not counted."""


class RunRecord(Part):
    """run.json."""

    schema_version: Literal[5] = SCHEMA_VERSION
    run_id: str
    protocol: int = Field(ge=1, le=CURRENT)
    """What was measured, and how (record/protocol.py)."""
    fingerprint: str
    """Of the code that measured (record/fingerprint.py)."""
    spec: AnySpec
    outcome: Outcome
    reason: str
    """One sentence where the outcome is not ok; empty where it is."""
    log_tail: tuple[str, ...]
    """The last lines of the log where the outcome is not ok."""
    started_at: str
    environment: dict[str, Any]
    stopping: Stopping | None
    """None where a launch did not come to its planned end."""
    ranks: tuple[RankReport, ...]
    totals: Totals
    files: dict[str, FileDigest]
    checksum: str = ""
    """SHA-256 of the rest of the record (record/voucher.py); empty in records of release 0.2 and before."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_earlier_release(cls, content: Any) -> Any:
        """A record of release 0.1 is one of protocol 1."""
        if isinstance(content, dict) and content.get("schema_version") == OF_RELEASE_0_1:
            return content | {"schema_version": SCHEMA_VERSION, "protocol": 1}
        return content


def read_record(directory: str | Path) -> RunRecord:
    """run.json of a run directory, checked against the name of the directory.

    Raises UserError naming the file where it is missing, cut short, of another schema, of another run, or not what
    its checksums say.
    """
    path = Path(directory) / "run.json"
    try:
        content = read_file(path)
        record = RunRecord.model_validate_json(content)
    except FileNotFoundError:
        if path.is_symlink():
            raise UserError(f"{path}: is a link to {path.readlink()}, which is not there. {AGAIN}") from None
        raise UserError(f"{path}: missing; the run was not measured") from None
    except UserError as error:
        raise UserError(f"{error}. {AGAIN}") from None
    except ValidationError as error:
        raise UserError(f"{path}: {_refusal(content, error)}") from None
    if doubted := doubt(path.parent, content):
        raise UserError(doubted)
    if record.run_id != Path(directory).name:
        raise UserError(f"{path}: belongs to run {record.run_id}; a run directory must not be renamed or copied")
    return record


def _refusal(written: bytes, error: ValidationError) -> str:
    """Why a run.json cannot be read, and what to do: a newer release wrote it, or it is damaged."""
    try:
        content = json.loads(written)
        for key, known in (("schema_version", SCHEMA_VERSION), ("protocol", CURRENT)):
            if content[key] > known:
                newer = f"{key} {content[key]}; this one reads up to {known}"
                return f"written by a newer scalestudy, with {newer}. Read it with the release that wrote it"
    except (ValueError, TypeError, LookupError, RecursionError):
        pass  # cut short, or no record at all
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    whole = f"a whole run.json of schema version {SCHEMA_VERSION}, or {OF_RELEASE_0_1}"
    return f"not {whole} ({where}: {first['msg']}). Move the directory away and run snakemake again"


def digests(directory: str | Path, names: tuple[str, ...]) -> dict[str, FileDigest]:
    """Size and checksum of the data files of a run directory."""
    return {name: digest_of(content_of(Path(directory) / name)) for name in names}


def content_of(path: Path) -> bytes:
    """Of a file of a run directory. Raises UserError where it cannot be read."""
    try:
        return read_file(path)
    except FileNotFoundError:
        raise UserError(f"{path}: missing; move the run's directory away and run again") from None
    except UserError as error:
        raise UserError(f"{error}; or move the run's directory away and run again") from None


def digest_of(content: bytes) -> FileDigest:
    return FileDigest(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
