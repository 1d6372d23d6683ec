"""The runs of a guard: both sides alternate until the question is decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any

from scalestudy import __version__
from scalestudy.analyse.guard.decide import Check, decide, overall
from scalestudy.analyse.guard.limits import QUANTITIES, Limit
from scalestudy.analyse.guard.pairs import (
    CheckOfGuard,
    GuardFile,
    Pair,
    after_first,
    change_in,
    is_disturbed,
    looks_at,
    pairs_that_count,
    spoiled_in,
    worsening,
)
from scalestudy.cli.guard.sides import Side
from scalestudy.cli.lines import wrapped
from scalestudy.errors import UserError
from scalestudy.registry.codes import Guarded
from scalestudy.registry.words.points import spoiled_by

FILE = "guard.json"


@dataclass
class LiveGuard:
    """Measures pairs of runs, one of each side, and tests them against the limits. All files are in `folder`."""

    before: Side
    after: Side
    limits: Sequence[Limit]
    most: int
    """Largest number of pairs per point."""
    folder: Path
    data: Path
    despite_load: bool = False
    """Whether pairs decide although most of them were disturbed."""
    pairs: list[Pair] = field(default_factory=list)

    def run(self) -> list[Check]:
        """Return the checks of the last look. Raises UserError if a run fails, and Interrupted.

        The runs end at a look at which any check is worse or all are within the limits. A point that is within all
        limits is not run again. The error probability is shared evenly among the looks.
        """
        looks = looks_at(self.most)
        settled: dict[int, Guarded] = {}
        checks = self._checks()
        for pair in range(1, self.most + 1):
            for point in self._open(checks, settled):
                self._launch(point, pair)
            self._write(looks, checks=())
            if pair not in looks:
                continue
            checks = decide(self._checks(), looks=len(looks), before=settled)
            settled = {at: check.word for at, check in enumerate(checks) if check.word is Guarded.WITHIN}
            words = {check.word for check in checks}
            if Guarded.WORSE in words or words == {Guarded.WITHIN}:
                break
        self._write(looks, checks)
        for point in self.after.points:
            self._say_spoiled(point)
        return checks

    def _say_spoiled(self, point: str) -> None:
        of_point = [pair for pair in self.pairs if pair.point == point]
        if spoiled := [pair for pair in of_point if pair.spoiled]:
            left_out = len(pairs_that_count(self.pairs, point)) < len(of_point)
            counts = "left out" if left_out else "included, because too few others are left"
            said = f"{point}: {len(spoiled)} of {len(of_point)} pairs were disturbed; they are {counts}"
            print(wrapped(said), flush=True)

    def _checks(self) -> list[Check]:
        return [
            Check(
                point,
                limit,
                change_in(self.pairs, point, limit.quantity),
                disturbed=limit.of.timed and not self.despite_load and is_disturbed(self.pairs, point),
            )
            for point in self.after.points
            for limit in self.limits
        ]

    def _open(self, checks: Sequence[Check], settled: dict[int, Guarded]) -> Iterator[str]:
        for point in self.after.points:
            if not all(at in settled for at, check in enumerate(checks) if check.point == point):
                yield point

    def _launch(self, point: str, number: int) -> None:
        """Measure one pair of a point and print its change."""
        order = (self.after, self.before) if after_first(number) else (self.before, self.after)
        rows = {side.name: self._measure(side, point, number) for side in order}
        found = {limit.quantity: worsening(limit.quantity, rows["before"], rows["after"]) for limit in self.limits}
        self._refuse_what_is_missing(found, number)
        self.pairs.append(
            Pair(
                point=point,
                pair=number,
                first="after" if after_first(number) else "before",
                before=rows["before"]["run_id"],
                after=rows["after"]["run_id"],
                worsening=found,
                spoiled=spoiled_in([rows[side.name] for side in order]),
            )
        )
        said = ", ".join(_change_text(quantity, worse) for quantity, worse in found.items())
        codes = self.pairs[-1].spoiled
        beside = f" (measured {spoiled_by(' '.join(codes))})" if codes else ""
        print(wrapped(f"pair {number} of at most {self.most}, {point}: {said}{beside}"), flush=True)

    def _refuse_what_is_missing(self, found: dict[str, float], number: int) -> None:
        for quantity, value in found.items():
            if number == 1 and isnan(value):
                raise UserError(
                    f"--fail-if: the runs have no {quantity.replace('_', ' ')}; see {self.folder}."
                    f" {_advice(quantity)}"
                )

    def _measure(self, side: Side, point: str, number: int) -> dict[str, Any]:
        """Measure a run and return its row of runs.csv, with `epoch_time_s`."""
        from scalestudy.analyse.run.reduce import reduce_run
        from scalestudy.launch.process import raise_on_signals
        from scalestudy.launch.run import measure_run
        from scalestudy.record.tables import read_observation

        spec = side.spec(point, number)
        record, _ = measure_run(spec, self.folder, limits=side.study.limits, data=self.data)
        raise_on_signals()
        place = self.folder / "runs" / record.run_id
        if record.outcome != "ok":
            raise UserError(
                f"{side.said} ({side.name} the change): run {record.run_id} ended as {record.outcome}:"
                f" {record.reason}; see its output in {place / 'log.txt'}"
            )
        observation = read_observation(place)
        epochs = observation.epochs
        row = reduce_run(side.study, observation).row
        row["epoch_time_s"] = float(epochs["epoch_time_s"].mean()) if len(epochs) else nan
        return row

    def _write(self, looks: tuple[int, ...], checks: Sequence[Check]) -> None:
        from scalestudy.compare.guard import closing
        from scalestudy.record.document import write_document

        answer, decided = overall(checks) if checks else (None, None)
        write_document(
            self.folder / FILE,
            GuardFile(
                scalestudy=__version__,
                before=self.before.said,
                after=self.after.said,
                looks=looks,
                answer=answer,
                sentence=closing(answer, decided, checks) if answer and decided else "",
                checks=tuple(map(_kept, checks)),
                pairs=tuple(self.pairs),
            ),
        )


def _kept(check: Check) -> CheckOfGuard:
    shown = check.shown
    return CheckOfGuard(
        point=check.point,
        quantity=check.limit.quantity,
        limit=check.limit.change,
        change=shown.value,
        change_low=shown.low,
        change_high=shown.high,
        pairs=check.change.runs,
        answer=check.word,
        more_runs=check.more if isfinite(check.more) else nan,
    )


def _change_text(quantity: str, worse: float) -> str:
    limit, of = Limit(quantity=quantity, change=0), QUANTITIES[quantity]
    name = quantity.replace("_", " ")
    if isnan(worse):
        return f"{name} not measured"
    return f"{name} {100 * limit.change_of(worse):+.1f} {'%' if of.relative else 'points'}"


def _advice(quantity: str) -> str:
    if quantity in ("epoch_time", "accuracy"):
        return "A script has one if it reports its epochs and runs to its own end (--run-to-end)."
    return "They had too few steady steps; let them train longer."
