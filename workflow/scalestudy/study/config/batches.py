"""Whether a workload's batch can be cut as a study asks: among ranks, into micro-batches, out of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scalestudy.study.config.scales import world_size
from scalestudy.study.config.variants import Variant
from scalestudy.study.config.workloads import Workload


def refuse_batches(
    workload: Workload, variants: Mapping[str, Variant], scales: Sequence[str], *, references: bool
) -> str | None:
    """What is wrong with the batch and what would be right; None where nothing is.

    references: whether a single process also runs at the batch per rank of every scale.
    """
    batch, samples = workload.batch_size, workload.data.known_train_samples
    if samples is not None and batch > samples:
        return f"{batch} is more than the {samples} training samples"
    distributed = any(variant.strategy != "single" for variant in variants.values())
    for name, variant in variants.items():
        alone = ("1x1", *(scales if distributed and references else ()))
        for scale in alone if variant.strategy == "single" else scales:
            ranks, parts = world_size(scale), variant.accumulation_steps
            if "strong" in workload.scaling and ranks > 1 and batch % (ranks * parts):
                parts_text = f", each {parts} micro-batches (variant {name})" if parts > 1 else ""
                return (
                    f"{batch} does not divide among the {ranks} ranks of scale {scale}{parts_text};"
                    f" {_near(batch, ranks * parts)} would"
                )
            if batch % parts:
                return f"{batch} does not make {parts} micro-batches (variant {name}); {_near(batch, parts)} would"
            if "weak" in workload.scaling and samples is not None and batch * ranks > samples:
                return (
                    f"weak scaling at {scale} needs a global batch of {batch * ranks}, more than the {samples}"
                    f" training samples; at most {samples // ranks} would do"
                )
    return None


def _near(batch: int, unit: int) -> str:
    """'30 or 32': the multiples of a unit around a batch."""
    lower = batch // unit * unit
    return " or ".join(str(near) for near in (lower, lower + unit) if near > 0)
