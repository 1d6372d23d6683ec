"""Twins: every baseline is run a second time in each repeat, in exactly the same way (`measure.floor`).

Only chance and the host make the two differ, so their difference is the smallest that the study can show.
"""

from collections.abc import Iterable, Mapping

from scalestudy.study.config.entry import Entry
from scalestudy.study.spec import RunSpec


class Twin(Entry):
    """A baseline and its second runs, as run ids, one per repeat, with the further repeats last."""

    workload: str
    variant: str
    """Variant of the baseline."""
    batch_per_rank: int
    base: tuple[str, ...]
    runs: tuple[str, ...]
    """The second runs; they have the seeds of `base`."""


def twin_name(variant: str) -> str:
    """Variant in the spec of a twin; only this makes the ids of the two differ."""
    return f"{variant}-again"


def twin_spec(spec: RunSpec) -> RunSpec:
    """The spec of the second run. It is not traced again: a trace is made after everything was measured."""
    return spec.model_copy(update={"variant": twin_name(spec.variant), "profile_steps": 0})


def make_twins(bases: Iterable[tuple[str, ...]], runs: Mapping[str, RunSpec]) -> tuple[Twin, ...]:
    """A twin of each baseline; a baseline may be listed several times. runs: the specs of the baselines, by id."""
    return tuple(
        Twin(
            workload=(first := runs[base[0]]).workload,
            variant=first.variant,
            batch_per_rank=first.batch_per_rank,
            base=base,
            runs=tuple(twin_spec(runs[run]).run_id for run in base),
        )
        for base in dict.fromkeys(bases)
    )
