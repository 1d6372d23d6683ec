"""The plan: the runs and points of a study. It reads and writes no files, and it defines what a run id means.

A *run* is one execution of a workload, variant, scale and repeat. A *point* is a row of the results: the runs of
one variant at one scale and scaling, with the runs that they are compared with. A run can belong to several
points: the plain process at the workload's batch is the baseline of both strong and weak scaling.
"""

import re
from collections.abc import Iterable
from random import Random
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import model_validator

from scalestudy.errors import UserError
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.entry import Entry
from scalestudy.study.config.refusals import NAME
from scalestudy.study.config.scales import nodes_and_devices, world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Variant
from scalestudy.study.config.workloads import Workload
from scalestudy.study.spec import AnySpec, RunSpec
from scalestudy.study.specs import make_spec
from scalestudy.study.twins import Twin, make_twins, twin_spec

SCHEMA_VERSION: Final = 1
EntryOfRuns = TypeVar("EntryOfRuns", "Point", Twin)
Scaling = Literal["strong", "weak", "reference"]


class Point(Entry):
    """One row of the results. `runs`, `base` and `equal_batch` are run ids, one per repeat, with the further
    repeats last."""

    workload: str
    variant: str
    scaling: Scaling
    """`reference` points are single processes at the batch per rank of strong scaling."""
    nodes: int
    devices_per_node: int
    batch_per_rank: int
    global_batch: int
    runs: tuple[str, ...]
    base: tuple[str, ...]
    """The baseline: the plain model in one process at the workload's own batch."""
    equal_batch: tuple[str, ...]
    """One process at the batch per rank of this point; empty if the study does not run it."""

    @property
    def world_size(self) -> int:
        return self.nodes * self.devices_per_node

    @property
    def is_compared(self) -> bool:
        """Whether it has a speedup: baselines and references do not."""
        return self.scaling != "reference" and set(self.runs) != set(self.base)

    @property
    def work(self) -> tuple[str, str, int, int, int]:
        """Key that is equal for points that differ only in their variant."""
        return self.workload, self.scaling, self.nodes, self.devices_per_node, self.global_batch


class Plan(Entry):
    """All runs of a study, in the order in which they start, and the points that they belong to."""

    schema_version: Literal[1] = SCHEMA_VERSION
    study: Study
    runs: dict[str, AnySpec]
    points: tuple[Point, ...]
    twins: tuple[Twin, ...] = ()
    """Baselines that are run twice, with `measure.floor`. No point has these second runs."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_earlier_release(cls, content: Any) -> Any:
        """The content with version 1 of the defaults if it has none, as in a plan of release 0.1."""
        if isinstance(content, dict) and isinstance(content.get("study"), dict):
            return content | {"study": {"defaults": 1, **content["study"]}}
        return content

    @model_validator(mode="after")
    def _ids(self) -> Self:
        """A run's id is the name of its directory, so it must not point to another one."""
        if wrong := [run for run in self.runs if not re.fullmatch(NAME, run)]:
            raise ValueError(f"runs: {wrong[0]!r} is not the id of a run")
        return self

    def reserve_of(self, run_id: str) -> tuple[str, ...]:
        """The runs whose spread determines whether this one is needed; empty for runs that are always needed.

        This applies to `until: precise`; otherwise a look determines it (`decided_after`).
        """
        if self.study.until_decided or self.runs[run_id].repeat <= self.study.repeats:
            return ()
        # A twin has as many runs as its baseline.
        deciding = [(point.runs, point.runs) for point in self.points] + [(t.runs, t.base) for t in self.twins]
        mine = next(deciding_runs for runs, deciding_runs in deciding if run_id in runs)
        return mine[: self.study.repeats]

    def decided_after(self, run_id: str) -> int:
        """Number of repeats after which it is decided whether a run is needed; 0 if it always is."""
        repeat = self.runs[run_id].repeat
        return max((after for after in self.study.decisions if after < repeat), default=0)

    def is_reserve(self, run_id: str) -> bool:
        """Whether a run depends on the results of others."""
        return bool(self.reserve_of(run_id)) or self.decided_after(run_id) > 0

    def serving(self, points: Iterable[Point]) -> set[str]:
        """The runs that the speedups of these points, and their explanations, are computed from.

        Only the runs of a point itself if each has a speedup of its own and the study is judged by it. A twin has
        as many runs as its baseline.
        """
        within = self.study.measure.speedup_within == "launches"
        found: set[str] = set()
        for point in points:
            own = within and self.runs[point.runs[0]].alternation is not None
            found.update(point.runs if own else (*point.runs, *point.base, *point.equal_batch))
        return found.union(*(twin.runs for twin in self.twins if found.issuperset(twin.base)))

    def compares(self, *strategies: str) -> bool:
        """Whether all of these strategies have the same work at the same scale somewhere in the study."""
        found: dict[tuple[object, ...], set[str]] = {}
        for point in self.points:
            if point.world_size > 1 and point.scaling != "reference":
                found.setdefault(point.work, set()).add(self.runs[point.runs[0]].strategy)
        return any(here.issuperset(strategies) for here in found.values())

    def first_beside(self, point: Point) -> Point | None:
        """The point of the study's first variant with the same work at the same scale; None if it is this one.

        None, too, for points of one process, which have their baseline, and for references.
        """
        if point.world_size == 1 or point.scaling == "reference":
            return None
        first = next(other for other in self.points if other.work == point.work)
        return None if first.variant == point.variant else first

    def point_at(self, **place: object) -> Point | None:
        """The first point with these values of its fields; None if there is no such point."""
        return next((one for one in self.points if all(getattr(one, k) == v for k, v in place.items())), None)

    def launch_order(self, run_id: str) -> int:
        """Position of a run in the order of starts, from 0."""
        return list(self.runs).index(run_id)


def refuse_imported(study: Study) -> None:
    """Raise UserError for an imported study, of which nothing can be run."""
    if study.imported:
        raise UserError(
            f"study {study.name}: was imported from logs, so there is nothing to run; import further logs with"
            " `scalestudy import`"
        )


def make_plan(study: Study) -> Plan:
    """The runs and points of a study. Raises UserError for an imported one, whose plan has the runs of its logs.

    Each repeat is a block: it has every point once, in a random order that the next repeat reverses.
    """
    refuse_imported(study)
    runs: dict[str, RunSpec] = {}
    points: list[Point] = []

    def launches(name: str, variant: str, scale: str, batch_per_rank: int) -> tuple[str, ...]:
        specs = [
            make_spec(study, name, variant, scale, batch_per_rank, repeat)
            for repeat in range(1, study.most_repeats + 1)
        ]
        runs.update({spec.run_id: spec for spec in specs})
        return tuple(spec.run_id for spec in specs)

    for name, workload in study.workloads.items():
        for variant_name, variant in study.variants.items():
            base_name = study.base_of(variant_name)
            for scaling, scale, batch in _configurations(study, workload, variant):
                nodes, devices = nodes_and_devices(scale)
                base = launches(name, base_name, "1x1", workload.batch_size)
                alone = scaling == "weak" or variant.strategy == "single" or study.report.overhead_reference
                points.append(
                    Point(
                        workload=name,
                        variant=variant_name,
                        scaling=scaling,
                        nodes=nodes,
                        devices_per_node=devices,
                        batch_per_rank=batch,
                        global_batch=batch * world_size(scale),
                        runs=launches(name, variant_name, scale, batch),
                        base=base,
                        equal_batch=launches(name, base_name, "1x1", batch) if alone else (),
                    )
                )
    twins = make_twins((point.base for point in points), runs) if study.measure.floor else ()
    again = [twin_spec(runs[run]) for twin in twins for run in twin.base]
    runs.update({spec.run_id: spec for spec in again})
    return _planned(Plan(study=study, runs=_in_order(runs, study.seed), points=tuple(points), twins=twins))


def _planned(plan: Plan) -> Plan:
    """The plan without runs that no decision can need: runs of baselines that take turns in the processes of the
    others, so that no verdict is computed from them."""
    study = plan.study
    if not study.until_decided or study.measure.speedup_within != "launches":
        return plan
    serving = plan.serving(point for point in plan.points if point.is_compared)
    runs = {run: spec for run, spec in plan.runs.items() if spec.repeat <= study.repeats or run in serving}

    def without(entry: EntryOfRuns) -> EntryOfRuns:
        lists = {name: value for name, value in dict(entry).items() if name in ("runs", "base", "equal_batch")}
        return entry.model_copy(
            update={name: tuple(run for run in value if run in runs) for name, value in lists.items()}
        )

    return plan.model_copy(
        update={
            "runs": runs,
            "points": tuple(map(without, plan.points)),
            "twins": tuple(map(without, plan.twins)),
        }
    )


def _configurations(
    study: Study, workload: Workload | CommandWorkload, variant: Variant
) -> list[tuple[Scaling, str, int]]:
    """(scaling, scale, batch per rank) of one variant of a workload."""
    batch = workload.batch_size
    if variant.strategy == "single":
        base: list[tuple[Scaling, str, int]] = [(scaling, "1x1", batch) for scaling in workload.scaling]
        shares = {batch // world_size(scale) for scale in study.scales} - {batch}
        strong = "strong" in workload.scaling and study.report.overhead_reference
        distributed = any(v.strategy != "single" for v in study.variants.values())
        references = sorted(shares, reverse=True) if strong and distributed else []
        return base + [("reference", "1x1", share) for share in references]
    return [
        (scaling, scale, batch // world_size(scale) if scaling == "strong" else batch)
        for scaling in workload.scaling
        for scale in study.scales
    ]


def _in_order(runs: dict[str, RunSpec], seed: int) -> dict[str, RunSpec]:
    """The runs in the order of their starts: repeat after repeat, with each even repeat in the reverse order of
    the one before it.

    A drift of the host within a repeat then has the opposite sign in the next one, and cancels over the two. The
    order of an odd repeat is random. Workloads follow each other; within each, the single processes, which the
    others are compared with, run between the first and the second half of the others.
    """
    random = Random(seed)
    by_repeat: dict[int, dict[str, list[str]]] = {}
    for run_id, spec in runs.items():
        by_repeat.setdefault(spec.repeat, {}).setdefault(spec.workload, []).append(run_id)
    order: list[str] = []
    drawn: list[tuple[str, list[int]]] = []
    for repeat, workloads in sorted(by_repeat.items()):
        if repeat % 2:
            drawn = _drawn(runs, workloads, random)
        here = [workloads[name][place] for name, places in drawn for place in places]
        order += here if repeat % 2 else here[::-1]
    return {run_id: runs[run_id] for run_id in order}


def _drawn(
    runs: dict[str, RunSpec], workloads: dict[str, list[str]], random: Random
) -> list[tuple[str, list[int]]]:
    """Workloads in random order, each with the places of its runs: half of the distributed ones, the single ones,
    the rest."""
    found = []
    for name in random.sample(list(workloads), len(workloads)):
        places = random.sample(range(len(workloads[name])), len(workloads[name]))
        single = [place for place in places if runs[workloads[name][place]].strategy == "single"]
        others = [place for place in places if place not in single]
        half = len(others) // 2
        found.append((name, others[:half] + single + others[half:]))
    return found
