"""The measurement protocol: its version says what was measured and how, whatever code did it.

A change of what is measured raises the version here. A change of the code that measures the same is entered in
`tests/unit/record/measuring_code.json`, with evidence; docs/protocol.md says how.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

EVERYTHING = "*"


@dataclass(frozen=True)
class Protocol:
    """A version of the measurement protocol, and what it has in common with the one before."""

    version: int
    date: str
    changes: str
    """What changed in what is measured, as a sentence."""
    not_comparable: tuple[str, ...] = ()
    """Columns of runs.csv that are not comparable with those of the version before; EVERYTHING for all of them."""


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
)
CURRENT = PROTOCOLS[-1].version


def comparable(first: float, second: float, column: str) -> bool:
    """Whether a column of runs.csv means the same in runs of two protocols."""
    return not {EVERYTHING, column}.intersection(not_comparable(first, second))


def not_comparable(first: float, second: float) -> set[str]:
    """Columns of runs.csv that are not comparable between two protocols, or EVERYTHING."""
    low, high = sorted((first, second))
    return {column for one in PROTOCOLS if low < one.version <= high for column in one.not_comparable}


def older_runs(protocols: Iterable[int]) -> list[str]:
    """How many runs have which protocol, and what changed since the oldest; nothing where all are current."""
    runs = Counter(map(int, protocols))
    if set(runs) <= {CURRENT}:
        return []
    counts = ", ".join(f"{runs[version]} by protocol {version}" for version in sorted(runs))
    lines = [f"Measured {counts}; the current protocol is {CURRENT}. Runs of older protocols are kept and used."]
    for one in PROTOCOLS:
        if one.version > min(runs):
            columns = ", ".join("every column" if name == EVERYTHING else name for name in one.not_comparable)
            not_comparable = f"Not comparable with the one before: {columns or 'no column'}."
            lines.append(f"Protocol {one.version} ({one.date}): {one.changes} {not_comparable}")
    return lines
