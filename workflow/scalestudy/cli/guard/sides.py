"""The two sides of a guard: the training before a change and after it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalestudy.cli.guard.revisions import Place
from scalestudy.cli.own.script import MODULE, Asked, cores_or_unset, name_of, quoted, without_launcher
from scalestudy.cli.own.tried import (
    LOOK_LIMIT_S,
    NO_DATALOADER,
    follows_batch,
    needs_torchrun,
    refuse_equal_batches,
    refuse_failed_trial,
)
from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.study.config.study import Study
    from scalestudy.study.plan import Point
    from scalestudy.study.spec import RunSpec

PYTHONPATH = "PYTHONPATH"


@dataclass(frozen=True)
class Wanted:
    """Options for a command; None where an option was not given."""

    scale: str | None
    batch_size: int | None
    device: str
    cores_per_rank: int | None
    epochs: int
    run_to_end: bool
    allow_equal_batches: bool


@dataclass(frozen=True)
class Side:
    """The training of one side."""

    name: str
    """`before` or `after`."""
    said: str
    """Description for messages."""
    study: Study
    points: Mapping[str, Point]
    """Points by the name that both sides share."""

    def spec(self, point: str, repeat: int) -> RunSpec:
        """Return the spec of a run of a point, without probes, alternation and trace. Its id names the side."""
        from scalestudy.study.specs import make_spec

        at = self.points[point]
        scale = f"{at.nodes}x{at.devices_per_node}"
        spec = make_spec(self.study, at.workload, at.variant, scale, at.batch_per_rank, repeat).without_probes
        changes = {"variant": f"{spec.variant}-{self.name}", "alternation": None, "profile_steps": 0}
        return spec.model_copy(update=changes)


def place_study(study: Study, place: Place | None, here: Path | None) -> Study:
    """Return the study with its commands run in `place`. here: root of the working tree. Raises UserError."""
    from scalestudy.study.config.commands import CommandWorkload

    if place is None or here is None:
        return study
    workloads: dict[str, Any] = {}
    for name, workload in study.workloads.items():
        if not isinstance(workload, CommandWorkload):
            raise UserError(
                f"--against: workload {name} has no `command`, so a revision of this repository does not change"
                " it; use --against-study with another study"
            )
        for key, word in (("directory", workload.directory), ("command", workload.command[0])):
            if Path(word).is_absolute():
                raise UserError(
                    f"{name}: {key} is the absolute path {word}, so both sides would run the same files; make it"
                    " relative to the working directory"
                )
        own = workload.environment.get(PYTHONPATH, os.environ.get(PYTHONPATH, ""))
        changes = {
            "directory": str(place.folder / workload.directory),
            "environment": workload.environment | {PYTHONPATH: place.python_path(here, own)},
        }
        workloads[name] = workload.model_copy(update=changes)
    return study.model_copy(update={"workloads": workloads})


def sides_of_studies(before: tuple[str, Study], after: tuple[str, Study]) -> tuple[Side, Side, list[str]]:
    """Return (before, after, points of only one side) for two studies, each given with its description.

    Sides have the points that are in both studies, with the same workload, variant, scaling, scale and batches.
    Raises UserError if there is no such point.
    """
    found = [_points(study) for _, study in (before, after)]
    common = [name for name in found[0] if name in found[1]]
    if not common:
        raise UserError(
            f"the studies have no point in common: before has {'; '.join(found[0])}; after has"
            f" {'; '.join(found[1])}"
        )
    sides = [
        Side(name, said, study, {key: points[key] for key in common})
        for name, (said, study), points in zip(("before", "after"), (before, after), found, strict=True)
    ]
    lone = [
        f"only {side.name}: {name}"
        for side, points in zip(sides, found, strict=True)
        for name in points
        if name not in common
    ]
    return sides[0], sides[1], lone


def _points(study: Study) -> dict[str, Point]:
    from scalestudy.publish.words import labels
    from scalestudy.study.plan import make_plan

    points = [point for point in make_plan(study).points if point.scaling != "reference"]
    return {f"{point.workload}, {labels.series(point)}": point for point in points}


def side_of_command(
    name: str, point: str, words: Sequence[str], wanted: Wanted, place: Place | None, here: Path | None
) -> Side:
    """Return the side of a command line at one scale. Without a batch size the command is tried first.

    point: name of its only point, the same on both sides. Raises UserError.
    """
    asked = without_launcher(words)
    scale = wanted.scale or asked.scale or "1x1"
    facts: dict[str, Any] = {"torchrun": "torchrun" in asked.launcher or "distributed" in asked.launcher}
    facts["batch_size"] = wanted.batch_size or 1
    study = place_study(_study(asked, scale, wanted, facts), place, here)
    if wanted.batch_size is None:
        facts |= _seen(name, study, asked, wanted, facts)
        study = place_study(_study(asked, scale, wanted, facts), place, here)
    where = f" in {place.name}" if place else ""
    return Side(name, f"{quoted(asked.command)}{where}", study, {point: _point(study)})


def script_of(words: Sequence[str]) -> str:
    """Return the script of a command line: 'train.py', '-m package.train'."""
    command = without_launcher(words).command
    return " ".join(command[: 2 if command[0] == MODULE else 1])


def _point(study: Study) -> Point:
    """Return the point that is guarded: the one with the most ranks."""
    from scalestudy.study.plan import make_plan

    return max(make_plan(study).points, key=lambda point: point.world_size)


def _study(asked: Asked, scale: str, wanted: Wanted, facts: Mapping[str, Any]) -> Study:
    """Return a study of the command at one scale, with the same batch per rank as on one process."""
    from scalestudy.study.config.load import parse_study
    from scalestudy.study.config.scales import world_size

    name, alone = name_of(asked.command), scale == "1x1"
    follows_batch(asked.command, wanted.batch_size)
    if alone and wanted.allow_equal_batches:
        raise UserError("--allow-equal-batches: only for several ranks; give their --scale, such as 1x2")
    single = {"strategy": "single"} | ({"launcher": "torchrun"} if facts["torchrun"] else {})
    content = {
        "study": f"guard-{name}",
        "repeats": 1,
        "scales": [scale],
        "variants": {"single": single} | ({} if alone else {"distributed": {"strategy": "other"}}),
        "workloads": {
            name: {
                "command": list(asked.command),
                "environment": dict(asked.environment),
                "batch_size": facts["batch_size"],
                "batches_per_step": facts.get("batches_per_step", 1),
                "epochs": wanted.epochs,
                "run_to_end": wanted.run_to_end,
                "allow_equal_batches": wanted.allow_equal_batches,
                "scaling": ["weak"],
            }
        },
        "host": {
            "device": wanted.device,
            "cores_per_rank": wanted.cores_per_rank or cores_or_unset(world_size(scale), device=wanted.device),
        },
    }
    return parse_study(content, source="scalestudy guard")


def _seen(name: str, study: Study, asked: Asked, wanted: Wanted, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts on the command's batch that a first try finds. Raises UserError."""
    from scalestudy.launch.foreign.look import Seen, look
    from scalestudy.study.spec import CommandSpec

    def at_first(study: Study) -> Seen:
        spec = Side(name, "", study, {"": _point(study)}).spec("", 1)
        assert isinstance(spec, CommandSpec)
        return look(spec, time_limit_s=LOOK_LIMIT_S)

    found: dict[str, Any] = {}
    seen = at_first(study)
    if needs_torchrun(seen) and not facts["torchrun"]:
        found["torchrun"] = True
        variants = {
            key: one.model_copy(update={"launcher": "torchrun"}) if one.strategy == "single" else one
            for key, one in study.variants.items()
        }
        seen = at_first(study.model_copy(update={"variants": variants}))
    where = f"{name} the change"
    refuse_failed_trial(seen, where, asked.command)
    refuse_equal_batches(seen, where, allowed=wanted.allow_equal_batches)
    if not seen.samples:
        raise UserError(NO_DATALOADER)
    return found | {"batch_size": seen.samples, "batches_per_step": seen.batches}
