"""Twins: every base case launched a second time in each repeat, exactly alike (`measure.floor`).

Nothing but chance and the host makes the two differ. So their difference says what the study can show at all.
"""

from collections.abc import Iterable, Mapping

from scalestudy.study.config.entry import Entry
from scalestudy.study.spec import RunSpec


class Twin(Entry):
    """A base case, and the same launches once more. Run ids, one a repeat, the reserve last."""

    workload: str
    variant: str
    """Of the base case."""
    batch_per_rank: int
    base: tuple[str, ...]
    runs: tuple[str, ...]
    """The second launches; their seeds are those of `base`."""


def twin_name(variant: str) -> str:
    """Variant in the spec of a twin: it is all that tells the ids of the two apart."""
    return f"{variant}-again"


def twin_spec(spec: RunSpec) -> RunSpec:
    """The same launch once more. It is not traced a second time; a trace is taken after all that is measured."""
    return spec.model_copy(update={"variant": twin_name(spec.variant), "profile_steps": 0})


def make_twins(bases: Iterable[tuple[str, ...]], runs: Mapping[str, RunSpec]) -> tuple[Twin, ...]:
    """A twin of each base case, which may be listed several times. runs: the specs of the base cases, by id."""
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
