"""The measurement protocol. Its version identifies what was measured and how, independently of the code.

A change of what is measured raises the version here. A code change that measures the same is entered in
`tests/unit/record/measuring_code.json`, with evidence; docs/protocol.md describes how.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

EVERYTHING = "*"


class Measured(NamedTuple):
    """The protocol and the strategy of a run, which together determine how it was measured."""

    protocol: float
    strategy: str


@dataclass(frozen=True)
class Protocol:
    """A version of the measurement protocol, and which of its results are comparable with the version before."""

    version: int
    date: str
    changes: str
    """What changed in what is measured, as a sentence."""
    not_comparable: tuple[str, ...] = ()
    """Columns of runs.csv that are not comparable with the version before; EVERYTHING for all columns."""
    strategies: tuple[str, ...] = ()
    """Strategies whose runs changed; empty if the runs of all strategies did."""

    def changed(self, run: Measured) -> bool:
        """Return whether a run is measured differently since this version."""
        return self.version > run.protocol and self.concerns(run)

    def concerns(self, run: Measured) -> bool:
        """Return whether this version changed the runs of this run's strategy."""
        return not self.strategies or run.strategy in self.strategies

    @property
    def said_columns(self) -> str:
        """Return the columns that are not comparable, as a text."""
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
    """Return whether a column of runs.csv means the same in two runs."""
    return not {EVERYTHING, column}.intersection(not_comparable(first, second))


def not_comparable(first: Measured, second: Measured) -> set[str]:
    """Return the columns of runs.csv that are not comparable between two runs, or EVERYTHING.

    A version that changed the runs of one strategy only separates the older and newer runs of that strategy.
    Both can still be compared with the same baseline.
    """
    low, high = sorted((first.protocol, second.protocol))
    between = [one for one in PROTOCOLS if low < one.version <= high]
    return {
        column for one in between if one.concerns(first) and one.concerns(second) for column in one.not_comparable
    }


def is_older(run: Measured) -> bool:
    """Return whether the current protocol would measure a run differently."""
    return any(one.changed(run) for one in PROTOCOLS)


def older_runs(runs: Iterable[Measured]) -> list[str]:
    """Return lines: how many runs have which protocol, and what changed since; empty if no run is older."""
    found = list(runs)
    older = {run for run in found if is_older(run)}
    if not older:
        return []
    measured = Counter(int(run.protocol) for run in found)
    counts = ", ".join(f"{measured[version]} by protocol {version}" for version in sorted(measured))
    lines = [f"Measured {counts}; the current protocol is {CURRENT}. Runs of older protocols are kept and used."]
    for one in PROTOCOLS:
        if any(one.changed(run) for run in older):
            not_comparable = f"Not comparable with its predecessor: {one.said_columns or 'no column'}."
            lines.append(f"Protocol {one.version} ({one.date}): {one.changes} {not_comparable}")
    return lines
