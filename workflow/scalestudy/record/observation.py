"""The observation: the contract between the code that measures and the code that analyses.

    runs/<run>/run.json             schema version, spec, outcome, environment, totals, memory, why it stopped
    runs/<run>/steps.parquet        a row per rank and step, for training and for the probes after it
    runs/<run>/blocks.parquet       a row per rank and block of steps: memory, clocks and power at its end
    runs/<run>/buckets.parquet      a row per rank, step and gradient bucket: when it was ready and when reduced
    runs/<run>/collectives.parquet  a row per rank and call of the micro-benchmark of collectives
    runs/<run>/epochs.csv, log.txt  a row per epoch; what the processes printed
    runs/<run>/run.sha256           checksum of run.json, which vouches for the rest: the run is measured
    runs/<run>/*.pt.trace.json.gz   traces, if the study requested them

A run directory appears complete, by one rename, or not at all. Records since release 0.1 (schema 4) can be read.
Other releases, truncated files and the run.json of another run are rejected with an error that names the file.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from scalestudy.errors import UserError
from scalestudy.record.entries import wrong_entry
from scalestudy.record.files import MOST_TEXT, read_file
from scalestudy.record.protocol import CURRENT
from scalestudy.record.voucher import AGAIN, doubt, was_replaced
from scalestudy.study.spec import AnySpec

SCHEMA_VERSION: Literal[5] = 5
OF_RELEASE_0_1 = 4
Outcome = Literal["ok", "oom", "diverged", "timeout", "failed", "preempted", "unneeded"]
"""`unneeded`: a reserve run that was not made, since the runs before it were enough."""

# The parts of a step from its first mark to its last, in order; a part that a run does not have takes no time. The
# remainder is the time of the loop itself: the step's time that no other part accounts for.
STEP_PARTS = ("data", "h2d", "forward", "backward", "optimizer", "logging", "checkpoint", "remainder")
PART_COLUMNS = tuple(f"{part}_time_s" for part in STEP_PARTS)

# What DistributedDataParallel reports about its own step, in probes; empty elsewhere.
DDP_COLUMNS = ("backward_compute_time_s", "communication_span_s", "communication_overlap_s")

# warmup, measured and tail are the training itself; the probes come after it and are never mixed with it. A tail
# is the last, short batch of an epoch: the model is trained on it, but it does not count for the step time.
TRAINING_PHASES = ("warmup", "measured", "tail")
PROBE_PHASES = ("probe-sync", "probe-no-sync", "probe-logger", "probe-arrival", "probe-arrival-no-sync")

ALTERNATING, ALTERNATING_BASE = "alternating", "alternating-base"
"""Steps of all ranks, and of the baseline on rank 0 alone, in blocks that alternate after the training."""
LEAD_IN = "alternating-lead-in"
"""The first steps after each change between the two, on any rank: ranks that slept find their caches empty."""

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
    "enqueue_first_step_s",
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
HELD_DEVICES = "held_devices"  # environment: devices of the job that the run was part of, idle ones included
SEEN = "seen"  # environment: what was observed of a script: its model, its loaders, the time between its steps
IMPORTED = "imported"  # environment: format, file and limits of a run that was imported from a log
NCCL_TRANSPORT = "nccl_transport"  # environment: the slowest transport in NCCL's log (launch/nccl_log.py)
NCCL_INTERFACES = "nccl_interfaces"  # environment: the interfaces that NCCL lists for it, if it is a network
PROBES_LEFT_OUT = "probes_left_out"  # environment: true if the plan has probes and the run made none
NO_SYNC_LEFT_OUT = "no_sync_left_out"  # environment: which rank lacked memory for steps without synchronisation
TABLES = {
    "steps": STEP_COLUMNS,
    "blocks": BLOCK_COLUMNS,
    "buckets": BUCKET_COLUMNS,
    "collectives": COLLECTIVE_COLUMNS,
}
TEXTS = ("phase", "collective")
"""The text columns of these tables."""
NUMBERING = (*("rank", "epoch", "block", "step", "first_step", "steps"), *("bucket", "call", "bytes", "samples"))
"""Columns that always have a value. Others are unknown where something was not observed."""
LATER_COLUMNS = (
    *("core_wait_share", "enqueue_first_step_s", "enqueue_s"),
    *("gpu_slowdown_reasons", "gpu_energy_j", "cpu_energy_j"),
)
"""Columns that records of release 0.1 lack."""
EPOCH_COLUMNS = (
    *("epoch", "epoch_time_s", "elapsed_s", "samples"),
    *("train_loss", "validation_loss", "validation_accuracy"),
)


class Part(BaseModel):
    """A part of run.json. Unknown keys are rejected, so that a schema change is never silent."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class FileDigest(Part):
    """The expected size in bytes and SHA-256 of a data file."""

    bytes: int
    sha256: str


class Memory(Part):
    """Memory of one rank; None where it does not apply to the device. Means are over the ends of blocks."""

    peak_resident_gib: float
    mean_resident_gib: float | None
    peak_allocated_gib: float | None
    mean_allocated_gib: float | None
    peak_reserved_gib: float | None
    mean_reserved_gib: float | None
    allocation_retries: int | None
    """Number of times that torch's CUDA allocator freed cached memory and tried again."""


class Stopping(Part):
    """Why the run stopped after this number of steps, as determined while it ran."""

    steps: int
    """Training steps, warm-up included, probes excluded."""
    warmup_steps: int
    half_width: float | None
    """Relative half-width of the run's own mean step time, by batch means; None if it could not be estimated."""
    reason: str


class RankReport(Part):
    """The report that a rank writes when it ends."""

    rank: int
    host: str
    node: str
    """The scheduler's name of the host, if there is a scheduler."""
    device: str
    """'cpu' or the device's name, such as 'NVIDIA H100 80GB HBM3'."""
    cores: tuple[int, ...]
    """The CPU cores this rank could run on."""
    threads: int
    """Threads of torch's intra-op pool."""
    outcome: Outcome
    reason: str
    waited: bool
    """Whether a failed rank failed only because it waited in vain for another rank."""
    steps: int
    memory: Memory
    begun: int | None = None
    """Steps that the host had queued on its device when the rank gave up, including unrecorded ones. None on a
    CPU, for a rank that did not give up, and in older records."""
    stalled_s: float | None = None
    """Seconds without progress after which the rank gave up; None if it did not, and in older records."""


class Totals(Part):
    """Totals of a run. The statistics are computed by the analysis."""

    steps: int
    samples: int
    train_time_s: float
    """Seconds inside timed blocks (maximum over ranks)."""
    wall_time_s: float
    """Seconds from the start of the processes to their end, imports and validation included."""
    training_wall_time_s: float | None = None
    """The part of `wall_time_s` for training, with validation and other work between blocks; None in older
    records."""
    probe_wall_time_s: float | None = None
    """The part of `wall_time_s` for probes and traces; None in older records."""
    parameters: int | None
    gradient_bytes: int | None
    """Bytes of gradients synchronised per step; None for a single process."""
    bytes_sent_per_step: float | None
    """Bytes that each rank sends per step under its strategy (study/traffic.py); None if unknown."""
    unused_parameter_bytes: int | None = None
    """Bytes of parameters without a gradient, as DDP counts them; None if not checked, and in older records."""
    buffer_bytes: int | None = None
    """Bytes of the model's buffers (running statistics, masks); None in older records, as are the two below."""
    synchronised_norms: int | None = None
    """Number of normalisation layers that compute their statistics over all ranks."""
    alternation_failed: str | None = None
    """Why the baseline was not trained in the processes of this run although the study requests it."""
    flops_per_sample: int | None
    """FLOPs of the forward and backward pass of one sample (train/flops.py); None if not counted."""


class RunRecord(Part):
    """The content of run.json."""

    schema_version: Literal[5] = SCHEMA_VERSION
    run_id: str
    protocol: int = Field(ge=1, le=CURRENT)
    """Version of the measurement protocol (record/protocol.py)."""
    fingerprint: str
    """Fingerprint of the code that measured (record/fingerprint.py)."""
    spec: AnySpec
    outcome: Outcome
    reason: str
    """One sentence if the outcome is not ok; else empty."""
    log_tail: tuple[str, ...]
    """The last lines of the log if the outcome is not ok."""
    started_at: str
    environment: dict[str, Any]
    stopping: Stopping | None
    """None if the run did not complete as planned."""
    ranks: tuple[RankReport, ...]
    totals: Totals
    files: dict[str, FileDigest]
    checksum: str = ""
    """SHA-256 of the rest of the record (record/voucher.py); empty in records of release 0.2 and before."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_earlier_release(cls, content: Any) -> Any:
        """Turn a record of release 0.1 into one of protocol 1."""
        if isinstance(content, dict) and content.get("schema_version") == OF_RELEASE_0_1:
            return content | {"schema_version": SCHEMA_VERSION, "protocol": 1}
        return content


def read_record(directory: str | Path) -> RunRecord:
    """Read run.json of a run directory and check it against the name of the directory.

    Raises UserError, naming the file, if it is missing or truncated, has another schema, belongs to another run,
    or does not match its checksums.
    """
    path = Path(directory) / "run.json"
    try:
        content = read_file(path, most=MOST_TEXT)
        record = RunRecord.model_validate_json(content)
    except FileNotFoundError:
        if path.is_symlink():
            raise UserError(f"{path}: is a link to {path.readlink()}, which does not exist. {AGAIN}") from None
        raise UserError(f"{path}: missing; the run was not measured") from None
    except UserError as error:
        raise UserError(f"{error}. {AGAIN}") from None
    except ValidationError as error:
        raise UserError(f"{path}: {_refusal(content, error)}") from None
    if doubted := doubt(path.parent, content):
        if was_replaced(path.parent, content):
            return read_record(directory)
        raise UserError(doubted)
    if wrong := wrong_entry(record.environment):
        raise UserError(f"{path}: {wrong}. {AGAIN}")
    if record.run_id != Path(directory).name:
        raise UserError(f"{path}: belongs to run {record.run_id}; a run directory must not be renamed or copied")
    return record


def _refusal(written: bytes, error: ValidationError) -> str:
    """Return why a run.json cannot be read, and what to do: a newer release wrote it, or it is damaged."""
    try:
        content = json.loads(written)
        for key, known in (("schema_version", SCHEMA_VERSION), ("protocol", CURRENT)):
            if content[key] > known:
                newer = f"{key} {content[key]}; this version reads up to {known}"
                return f"written by a newer scalestudy, with {newer}. Read it with the release that wrote it"
    except (ValueError, TypeError, LookupError, RecursionError):
        pass  # truncated, or not a record
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    whole = f"a complete run.json of schema version {SCHEMA_VERSION} or {OF_RELEASE_0_1}"
    return f"not {whole} ({where}: {first['msg']}). Move the directory away and run the study again"


def digests(directory: str | Path, names: tuple[str, ...]) -> dict[str, FileDigest]:
    """Return size and checksum of the data files of a run directory."""
    return {name: digest_of(content_of(Path(directory) / name)) for name in names}


def content_of(path: Path) -> bytes:
    """Return the content of a file of a run directory. Raises UserError if it cannot be read."""
    try:
        return read_file(path)
    except FileNotFoundError:
        raise UserError(f"{path}: missing; move the run's directory away and run again") from None
    except UserError as error:
        raise UserError(f"{error}; or move the run's directory away and run again") from None


def digest_of(content: bytes) -> FileDigest:
    return FileDigest(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
