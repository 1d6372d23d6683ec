"""Types of the entries of a record's `environment` that the analysis computes with, checked when a record is read.

A record from somebody else can hold anything, with checksums that match. Entries that are not listed here are only
printed.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scalestudy.record.gradient_noise import GradientNoise

Number = Annotated[float, Field(allow_inf_nan=False)]
Cpus = Annotated[str, Field(pattern=r"^\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*$", max_length=100_000)]
"""A list of CPUs as the kernel prints it: '0-2,8'. Numbers are short: '0-99999999999' would fill the memory."""
Text = str | None
Fact = str | bool | int | float | None
"""A value that is printed."""


class Entry(BaseModel):
    """An entry, or a part of one. Keys that are not listed are not checked. Numbers in quotes are not numbers."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)


class Load(Entry):
    """Other load of a node (launch/beside)."""

    span_s: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    cpus: Number
    others_cores: Number
    stolen_share: Number
    swapped_mib: Number
    memory_stall_share: Number
    throttled_share: Number
    clock_jump_s: Number
    gpu_others: Number


class Warned(Entry):
    """A warning before or after the run."""

    kind: str
    text: str


class Node(Entry):
    """A node of a run on several."""

    name: str


class Cpu(Entry):
    """The processors of a host."""

    numa_nodes: dict[str, Cpus] | None = None
    cpus_of_sockets: dict[str, Cpus] | None = None


class Gpu(Entry):
    """The GPUs of a host."""

    devices: list[dict[str, Fact]] = []
    links: dict[str, str] = {}


class Hardware(Entry):
    """The hardware of a host."""

    cpu: Cpu | None = None
    gpu: Gpu | None = None
    memory: dict[str, Fact] = {}


class Loader(Entry):
    """A DataLoader of a script."""

    workers: int | None = None
    pin_memory: bool | None = None
    persistent_workers: bool | None = None
    prefetch_factor: int | None = None


class Seen(Entry):
    """What was observed of a script."""

    strategies: dict[str, Any] | list[str] = []
    loaders: dict[str, Loader] = {}
    training_loaders: list[str] = []
    ddp: dict[str, Fact] | None = None
    passes: Number | None = None
    synchronised_passes: Number | None = None
    buckets: Number | None = None


class Imported(Entry):
    """What an imported log shows."""

    limits: str
    steps_per_row: Annotated[int, Field(ge=1)]


class Environment(Entry):
    """All of them."""

    commit: Text = None
    device: Text = None
    device_type: Text = None
    slurm_job_id: Text = None
    backend: Text = None
    nccl_transport: Text = None
    dirty: bool | None = None
    held_devices: Annotated[int, Field(ge=1)] | None = None
    packages: dict[str, Fact] | None = None
    variables: dict[str, Fact] | None = None
    warnings: list[Warned] = []
    nodes: list[Node] = []
    hardware: Hardware | None = None
    host_load: dict[str, list[Load]] | None = None
    gradient_noise: GradientNoise | None = None
    seen: Seen | None = None
    imported: Imported | None = None


def wrong_entry(environment: dict[str, Any]) -> str:
    """Return what is wrong with the first entry that no run of ours has; '' if there is none."""
    try:
        Environment.model_validate(environment)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return f"environment.{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return ""
