"""What `scalestudy import` prints: how each log was read, its points, and the further runs that would decide
them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from scalestudy.analyse.published.runs import KIND
from scalestudy.analyse.study.further import MOST, FurtherRuns
from scalestudy.measure.batch_means import mser5
from scalestudy.publish.words.labels import counted
from scalestudy.registry.words.percent import percent

if TYPE_CHECKING:
    from scalestudy.importers.logs.steps.derive import ImportedRun


def names_of(files: Iterable[Path]) -> dict[Path, str]:
    """The names of files, each with as many of its folders as tell it from the others: `n8/trainer_state.json`."""
    paths = list(files)
    longest = max((len(path.parts) for path in paths), default=0)
    found: dict[Path, str] = {}
    for count in range(1, longest + 1):
        ends = {path: Path(*path.parts[-count:]) for path in paths if path not in found}
        often = Counter(Path(*path.parts[-count:]) for path in paths)
        found |= {path: str(end) for path, end in ends.items() if often[end] == 1 or count == longest}
    return {path: found[path] for path in paths}


def run_lines(run: ImportedRun, file: str = "") -> list[str]:
    """The interpretation of a log: what it was taken for, and every number that follows from it.

    file: its name with folders, where another file has the same name.
    """
    name = (file or Path(run.log.path).name) + (f" ({run.log.label})" if run.log.label else "")
    where = counted(run.devices, "device") + (f" on {run.nodes} nodes" if run.nodes > 1 else "")
    counted_s = run.step_time_s[run.counts]
    warm_up = mser5(counted_s)  # as the tables leave it out
    step_s = float(counted_s[warm_up:].mean())
    windows = len(counted_s) - warm_up
    steps = (
        f"from {counted(windows, 'window')} of {run.steps_per_row} steps"
        if run.steps_per_row > 1
        else f"from {counted(windows, 'step')}"
    ) + (f" after {warm_up} of warm-up" if warm_up else "")
    if run.log.whole_run:
        steps = "as printed" if run.log.kind == KIND else "the mean of the whole run"
    head = [
        f"{name}: {run.log.kind}",
        f"  {where}, {run.global_batch} {run.unit} per step" + (f", variant {run.variant}" if run.variant else ""),
        f"  {_four(step_s * 1e3)} ms per step, {_four(run.global_batch / step_s)} {run.unit}/s on all devices,"
        f" {steps}",
    ]
    return [*head, *(f"  - {remark}" for remark in run.remarks)]


def point_lines(summary: pd.DataFrame, unit: str) -> list[str]:
    """The points as a short table. unit: what a throughput counts. A point that is compared with no other one has
    neither a kind of scaling nor a speedup."""
    lines = ["", "variant, scaling, devices: throughput, speedup, efficiency"]
    rows = summary[summary["scaling"] != "reference"].to_dict("records")
    compared = {row["variant"] for row in rows if not row["is_base"]}
    for row in rows:
        devices, rate = int(row["world_size"]), f"{_four(row['throughput_samples_per_s'])} {unit}/s"
        if row["is_base"] and row["variant"] not in compared and (devices > 1 or not compared):
            lines.append(f"  {row['variant']} {devices}: {rate} (the only number of devices, so no speedup)")
            continue
        limits = "" if isnan(row["speedup_low"]) else f" [{row['speedup_low']:.3g}, {row['speedup_high']:.3g}]"
        base = " (baseline)" if row["is_base"] else ""
        lines.append(
            f"  {row['variant']} {row['scaling']} {devices}: {rate}, {row['speedup']:.3g}{limits},"
            f" {percent(row['efficiency'], 1)}{base}"
        )
    return lines


def further_lines(further: FurtherRuns) -> list[str]:
    """The fewest further runs that would decide the verdicts, with their device-hours."""
    if not further.places:
        return ["", "No speedup: import runs on at least two numbers of devices."]
    how = (
        f"no point has two runs, so a spread of {percent(further.spread)} between runs is assumed"
        if further.assumed
        else f"runs of a point differ by {percent(further.spread, 1)}"
    )
    lines = [""]
    if further.more:
        runs = counted(further.more, "further run")
        hours = "their length is not known" if isnan(further.device_hours) else _hours(further.device_hours)
        lines.append(f"{runs} would decide the verdicts ({hours}); {how}:")
        for place in further.places:
            if place.more:
                point = place.point
                what = "baseline" if place.is_base else point.variant
                lines.append(
                    f"  {place.more} more on {counted(point.world_size, 'device')} ({what}, {place.known}"
                    " imported)" + ("" if isnan(place.device_hours) else f": {_hours(place.device_hours)}")
                )
    elif all(place.reachable for place in further.places):
        lines.append("Every verdict is decided; no further run is needed.")
    for place in further.places:
        if not place.reachable:
            lines.append(
                f"  {counted(place.point.world_size, 'device')}: the efficiency is so close to its target that"
                f" {MOST} runs would not decide"
            )
    return lines


def _four(number: float) -> str:
    """A number with at least four digits, and without an exponent if it is large."""
    return f"{number:.4g}" if number < 9999.5 else f"{number:.0f}"


def _hours(hours: float) -> str:
    return f"{hours:.3g} device-hours"
