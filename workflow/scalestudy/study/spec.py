"""The spec of a run: all settings that it needs, resolved. The run id has a hash of its canonical form."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, TypeAdapter, model_validator

from scalestudy.errors import UserError
from scalestudy.study.config.conditions import Host, Measure
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.entry import Entry
from scalestudy.study.config.imported import NOT_RUN
from scalestudy.study.config.models import Model
from scalestudy.study.config.optimizers import Optimizer
from scalestudy.study.config.variants import DdpOptions, FsdpOptions, InputOptions, Knobs
from scalestudy.study.identity import from_canonical, to_canonical

WORKER = "SCALESTUDY_WORKER"
"""Variable of a study's environment: a module that is run as a rank instead of scalestudy.train."""


class Alternation(Entry):
    """The baseline that is also trained in the processes of a run, in blocks that alternate with the run's own."""

    rounds: int
    """Rounds of baseline, distributed, distributed, baseline."""
    base: Knobs
    batch_per_rank: int


class RunSpec(Knobs):
    """One run of one variant at one scale, with one seed: the common part of both kinds of runs."""

    workload: str
    variant: str
    epochs: int = Field(ge=0)
    nodes: int = Field(ge=1)
    devices_per_node: int = Field(ge=1)
    batch_per_rank: int = Field(ge=1)
    repeat: int = Field(ge=1)
    seed: int = Field(ge=0)
    host: Host
    measure: Measure
    profile_steps: int = Field(ge=0)
    alternation: Alternation | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_any_release(cls, content: Any) -> Any:
        """The content with today's names, from specs of earlier releases and from canonical ones."""
        return from_canonical(_copied(content)) if isinstance(content, dict) else content

    @property
    def prepared_data(self) -> Data | None:
        """Data that must be prepared before the run."""
        return None

    @property
    def without_probes(self) -> Self:
        """The spec of the same training and turns without probes of communication."""
        return self.model_copy(update={"measure": self.measure.model_copy(update={"probe_rounds": 0})})

    @property
    def world_size(self) -> int:
        """Number of ranks of the run."""
        return self.nodes * self.devices_per_node

    @property
    def global_batch(self) -> int:
        """Samples per optimizer step over all ranks."""
        return self.batch_per_rank * self.world_size

    @property
    def micro_batch(self) -> int:
        """Samples of a rank's micro-batch; the batch per rank without accumulation."""
        return self.batch_per_rank // self.accumulation_steps

    @property
    def run_id(self) -> str:
        """Readable and unique id, such as `digits-mlp-ddp-b16-n1g2-r1-3fa9c1`."""
        digest = hashlib.sha256(self.to_json().encode()).hexdigest()[:6]
        return (
            f"{self.workload}-{self.variant}-b{self.batch_per_rank}"
            f"-n{self.nodes}g{self.devices_per_node}-r{self.repeat}-{digest}"
        )

    def to_json(self) -> str:
        """The spec in its canonical form (study/identity.py) as one line of JSON, for a job."""
        return json.dumps(to_canonical(self.model_dump(mode="json")), sort_keys=True, separators=(",", ":"))


class TrainSpec(RunSpec):
    """A run of the built-in training (train/)."""

    model: Model
    data: Data
    optimizer: Optimizer
    learning_rate_factor: float = Field(gt=0)
    """Factor of the optimizer's learning rate at this global batch."""

    @property
    def prepared_data(self) -> Data | None:
        return self.data if self.data.prepared else None

    @property
    def of_the_base(self) -> TrainSpec:
        """The baseline that alternates with this run, as rank 0 trains it. The run must have one."""
        assert self.alternation is not None
        alone = {"nodes": 1, "devices_per_node": 1, "learning_rate_factor": 1.0, "profile_steps": 0}
        of_base = dict(self.alternation.base) | {"batch_per_rank": self.alternation.batch_per_rank}
        return self.model_copy(update={**of_base, **alone, "alternation": None})


class CommandSpec(RunSpec):
    """A run of a user's own training script (attach/)."""

    command: tuple[str, ...]
    """The script and its arguments, with all values filled in except `{out}`."""
    directory: str
    environment: dict[str, str]
    """Variables of the script, in addition to the host's."""
    starts_ranks: bool
    """Whether the script is started once, by plain python: it starts its ranks itself, or is a single process."""
    run_to_end: bool
    follows_batch: bool
    """Whether the command has a word for its batch."""
    allow_equal_batches: bool


class ImportedSpec(CommandSpec):
    """An imported run (importers/logs/). A setting that neither its log nor the user says is None."""

    # Unlike a run of ours, whose settings are all known.
    precision: Literal["fp32", "tf32", "bf16", "fp16"] | None = None  # type: ignore[assignment]
    compile: bool | None = None  # type: ignore[assignment]
    activation_checkpointing: bool | None = None  # type: ignore[assignment]
    accumulation_steps: int | None = Field(None, ge=1)  # type: ignore[assignment]
    accumulation_sync: bool | None = None  # type: ignore[assignment]
    ddp: DdpOptions | None = None  # type: ignore[assignment]
    fsdp: FsdpOptions | None = None  # type: ignore[assignment]
    input: InputOptions | None = None  # type: ignore[assignment]
    checkpoints_kept: int | None = None  # type: ignore[assignment]
    checkpoint_async: bool | None = None  # type: ignore[assignment]

    @property
    def micro_batch(self) -> int | None:  # type: ignore[override]
        """Samples of a rank's micro-batch; None if the accumulation is not known."""
        return self.batch_per_rank // self.accumulation_steps if self.accumulation_steps else None

    def _of_others(self) -> Iterator[str]:
        """Nothing: other tools combine what we do not."""
        return iter(())

    def _together(self) -> Iterator[str]:
        """Nothing: other tools combine what we do not."""
        return iter(())


def _kind(content: Any) -> str:
    """The kind of a spec or of its content."""
    command = content.get("command") if isinstance(content, dict) else getattr(content, "command", None)
    if command is None:
        return "train"
    return "imported" if tuple(command[:1]) == NOT_RUN else "command"


AnySpec = Annotated[
    Annotated[TrainSpec, Tag("train")]
    | Annotated[CommandSpec, Tag("command")]
    | Annotated[ImportedSpec, Tag("imported")],
    Discriminator(_kind),
]
"""A spec of any kind, for plans and records."""


def _copied(content: dict[str, Any]) -> dict[str, Any]:
    """A copy with new mappings and the same values: reading a spec changes mappings only."""
    return {name: _copied(value) if isinstance(value, dict) else value for name, value in content.items()}


def parse_spec(text: str) -> TrainSpec | CommandSpec:
    """Spec from its line of JSON. Raises UserError if the text is not a spec."""
    try:
        spec: TrainSpec | CommandSpec = _adapter().validate_json(text)
        return spec
    except ValueError as error:
        raise UserError(f"--spec: not the JSON of a run's spec: {error}") from None


@functools.cache
def _adapter() -> TypeAdapter[TrainSpec | CommandSpec]:
    return TypeAdapter(AnySpec)
