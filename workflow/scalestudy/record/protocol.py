"""The measurement protocol: its version says what was measured and how, whatever code did it.

A change of what is measured raises the version here. A change of the code that measures the same is entered in
`tests/unit/record/measuring_code.json`, with evidence; docs/protocol.md says how.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

EVERYTHING = "*"


class Measured(NamedTuple):
    """What says how a run was measured."""

    protocol: float
    strategy: str


@dataclass(frozen=True)
class Protocol:
    """A version of the measurement protocol, and what it has in common with the one before."""

    version: int
    date: str
    changes: str
    """What changed in what is measured, as a sentence."""
    not_comparable: tuple[str, ...] = ()
    """Columns of runs.csv that are not comparable with those of the version before; EVERYTHING for all of them."""
    strategies: tuple[str, ...] = ()
    """Strategies whose runs it changed; empty where it changed those of all."""

    def changed(self, run: Measured) -> bool:
        """Whether a run of this strategy would be measured otherwise since this version."""
        return self.version > run.protocol and self.concerns(run)

    def concerns(self, run: Measured) -> bool:
        """Whether this version changed runs of this strategy."""
        return not self.strategies or run.strategy in self.strategies

    @property
    def said_columns(self) -> str:
        """The columns that are not comparable, for a reader."""
        columns = ", ".join("every column" if name == EVERYTHING else name for name in self.not_comparable)
        return columns + (f" of {' and '.join(self.strategies)}" if columns and self.strategies else "")


PROTOCOLS = (
    Protocol(1, "2026-11-22", "The measurements of scalestudy 0.1."),
    Protocol(
        2,
        "2026-11-25",
        "Validation runs under the autocast of the training, with a training pass's samples at a time. Its results"
        " differ in bf16 and fp16, and in fp32 and tf32 by the rounding of another batch. Peak memory is that of"
        " the blocks of training, without the start of the model and without validation.",
        (
            "validation_accuracy",
            "trial_noise_scale_samples",
            "time_to_accuracy_s",
            "peak_resident_gib",
            "peak_allocated_gib",
            "peak_reserved_gib",
        ),
    ),
    Protocol(
        3,
        "2026-11-25",
        "FSDP with `wrap: block` keeps the parameters outside the blocks between forward and backward pass,"
        " as torch does by default, and its outputs are fp32 in bf16, as those of autocast are. Runs of other"
        " strategies are measured as before.",
        (EVERYTHING,),
        ("fsdp",),
    ),
)
CURRENT = PROTOCOLS[-1].version


def comparable(first: Measured, second: Measured, column: str) -> bool:
    """Whether a column of runs.csv means the same in two runs."""
    return not {EVERYTHING, column}.intersection(not_comparable(first, second))


def not_comparable(first: Measured, second: Measured) -> set[str]:
    """Columns of runs.csv that are not comparable between two runs, or EVERYTHING.

    A version that changed runs of one strategy alone holds only its own runs apart: its older and its newer ones
    have a ratio to the same base case.
    """
    low, high = sorted((first.protocol, second.protocol))
    between = [one for one in PROTOCOLS if low < one.version <= high]
    return {
        column for one in between if one.concerns(first) and one.concerns(second) for column in one.not_comparable
    }


def is_older(run: Measured) -> bool:
    """Whether a run would be measured otherwise today."""
    return any(one.changed(run) for one in PROTOCOLS)


def older_runs(runs: Iterable[Measured]) -> list[str]:
    """How many runs have which protocol, and what changed since the older ones; nothing where none is older."""
    found = list(runs)
    older = {run for run in found if is_older(run)}
    if not older:
        return []
    measured = Counter(int(run.protocol) for run in found)
    counts = ", ".join(f"{measured[version]} by protocol {version}" for version in sorted(measured))
    lines = [f"Measured {counts}; the current protocol is {CURRENT}. Runs of older protocols are kept and used."]
    for one in PROTOCOLS:
        if any(one.changed(run) for run in older):
            not_comparable = f"Not comparable with the one before: {one.said_columns or 'no column'}."
            lines.append(f"Protocol {one.version} ({one.date}): {one.changes} {not_comparable}")
    return lines
