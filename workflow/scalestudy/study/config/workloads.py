"""The built-in workloads: model, data, optimizer and batch. `train/` builds them.

The classes hold numbers only, so that a study can be planned or refused without importing torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import lcm
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.imported import ImportedWorkload
from scalestudy.study.config.models import HuggingFaceModel, Model
from scalestudy.study.config.optimizers import Optimizer
from scalestudy.study.config.scales import world_size
from scalestudy.study.config.variants import Variant


class Workload(Entry):
    """A training: model, data, optimizer, batch, and how it scales."""

    model: Model
    """Network; `type` names it."""
    data: Data
    """Training and validation data; `type` names it."""
    optimizer: Optimizer
    """Optimizer; `type` names it."""
    batch_size: int = Field(ge=1)
    """Samples per optimizer step of the baseline, that is, of one process. Strong scaling keeps it as the global
    batch and divides it among the ranks; weak scaling keeps it as the batch of every rank."""
    epochs: int = Field(ge=0)
    """Passes over the training data, each followed by a validation. 0 measures step times only: nothing is
    validated, and a run ends when it has measured enough (`measure`)."""
    target_accuracy: float | None = Field(None, gt=0, le=1)
    """Target validation accuracy: the report gives the training time to reach it, and the speedup of that time."""
    scaling: tuple[Literal["strong", "weak"], ...] = Field(("strong",), min_length=1)
    """`strong` (global batch fixed), `weak` (batch per rank fixed), or both."""

    @property
    def known_train_samples(self) -> int | None:
        """Number of training samples; None if it is unknown before the data are read."""
        return self.data.known_train_samples

    @model_validator(mode="after")
    def _fit_together(self) -> Workload:
        refuse(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        if not self.model.takes & self.data.gives:
            chosen = f" with task: {self.model.task}" if isinstance(self.model, HuggingFaceModel) else ""
            yield (
                f"data.type: {self.model.type}{chosen} takes {_listed(self.model.takes)}; {self.data.type} gives"
                f" {_listed(self.data.gives)}"
            )
        if self.optimizer.decay != "none" and not self.epochs:
            yield "optimizer.decay: a run with epochs: 0 has no end to decay towards; set decay: none"
        if self.target_accuracy is not None and not self.epochs:
            yield "target_accuracy: nothing is validated with epochs: 0; set epochs, or leave it out"
        if self.epochs and (samples := self.known_train_samples) is not None and samples >= self.batch_size:
            steps, warmup = self.epochs * (samples // self.batch_size), self.optimizer.warmup_steps
            if warmup > steps:
                yield f"optimizer.warmup_steps: {warmup} is more than the {steps} steps of all epochs"


def _listed(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(kinds))


def _is_command(content: Any) -> str:
    """The kind of workload of an entry, by whether it has a command or was imported."""
    if isinstance(content, Mapping):
        return "imported" if "imported" in content else "command" if "command" in content else "built-in"
    if isinstance(content, ImportedWorkload):
        return "imported"
    return "command" if isinstance(content, CommandWorkload) else "built-in"


AnyWorkload = Annotated[
    Annotated[Workload, Tag("built-in")]
    | Annotated[CommandWorkload, Tag("command")]
    | Annotated[ImportedWorkload, Tag("imported")],
    Discriminator(_is_command),
]


def count_points(
    workloads: Iterable[Workload | CommandWorkload], variants: Iterable[Variant], scales: Sequence[str]
) -> int:
    """Number of points of a study, without those that are only references for the overhead."""
    alone = [variant.strategy == "single" for variant in variants]
    of_a_workload = sum(1 if single else len(scales) for single in alone)
    return sum(of_a_workload * len(workload.scaling) for workload in workloads)


def wrong_batch(
    workload: Workload | CommandWorkload,
    variants: Mapping[str, Variant],
    scales: Sequence[str],
    *,
    references: bool,
) -> str | None:
    """What is wrong with the batch and what would be right at every scale; None where nothing is.

    references: whether a single process also runs at the batch per rank of every scale.
    """
    batch, samples = workload.batch_size, workload.known_train_samples
    if samples is not None and batch > samples:
        return f"{batch} is more than the {samples} training samples"
    strong = "strong" in workload.scaling
    places = list(_places(workload, variants, scales, references=references))
    near = _near(batch, lcm(*(ranks * parts if strong else parts for _, _, ranks, parts in places)))
    for name, scale, ranks, parts in places:
        if strong and ranks > 1 and batch % (ranks * parts):
            parts_text = f", each {parts} micro-batches (variant {name})" if parts > 1 else ""
            return (
                f"{batch} does not divide among the {ranks} ranks of scale {scale}{parts_text}; {near} would"
                f"{' at every scale' if len(scales) > 1 else ''}"
            )
        if batch % parts:
            return f"{batch} does not make {parts} micro-batches (variant {name}); {near} would"
    _, scale, ranks, _ = max(places, key=lambda place: place[2])
    if "weak" in workload.scaling and samples is not None and batch * ranks > samples:
        most = samples // ranks
        advice = f"at most {most} would do" if most else "use more samples, or a smaller scale"
        return (
            f"weak scaling at {scale} needs a global batch of {batch * ranks}, more than the {samples} training"
            f" samples; {advice}"
        )
    return None


def _places(
    workload: Workload | CommandWorkload,
    variants: Mapping[str, Variant],
    scales: Sequence[str],
    *,
    references: bool,
) -> Iterator[tuple[str, str, int, int]]:
    """(variant, scale, ranks that share a batch there, micro-batches)."""
    distributed = any(variant.strategy != "single" for variant in variants.values())
    accumulated = workload.batches_per_step if isinstance(workload, CommandWorkload) else 1
    for name, variant in variants.items():
        alone = ("1x1", *(scales if distributed and references else ()))
        for scale in alone if variant.strategy == "single" else scales:
            yield name, scale, world_size(scale), variant.accumulation_steps * accumulated


def _near(batch: int, unit: int) -> str:
    """'30 or 32': the multiples of a unit around a batch."""
    lower = batch // unit * unit
    return " or ".join(str(near) for near in (lower, lower + unit) if near > 0)
