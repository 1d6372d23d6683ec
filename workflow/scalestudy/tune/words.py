"""Texts of a search: the space and its possible cost, then what was tried, spent and found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan
from typing import Any

from scalestudy.publish.numbers.rounding import show
from scalestudy.publish.words.labels import counted
from scalestudy.registry.codes import AccuracyKept
from scalestudy.registry.words.lines import filled
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import spoiled_by
from scalestudy.tune.final import level
from scalestudy.tune.model import Finalist, Launched, TuneFile
from scalestudy.tune.race import LEAST_BLOCKS
from scalestudy.tune.space import Space

WIDTH = 100
GOALS = {"goodput": "goodput", "epoch_time": "speed of an epoch"}


def space_lines(space: Space, *, hopeless: int, weighed: str) -> list[str]:
    """The keys that are searched and those that are held. weighed: how a batch is weighed, '' if it is held."""
    target = space.target
    lines = _wrapped(
        f"{target.workload}, {target.variant} at {target.scale}, {target.scaling} scaling:"
        f" {counted(len(space.knobs), 'key')}, {counted(len(space.settings), 'setting')}"
    )
    width = max(len(knob.key) for knob in space.knobs)
    for knob in space.knobs:
        values = ", ".join(f"{_value(one)}{' (now)' if one == knob.present else ''}" for one in knob.levels)
        lines += _wrapped(f"  {knob.key:<{width}}  {values}")
    lines += [line for key, why in space.held.items() for line in _wrapped(f"  {key} is held: {why}")]
    if space.refused:
        count = counted(len(space.refused), "setting")
        lines += _wrapped(f"  {count} cannot be run, the first because of {space.refused[0][1]}")
    if hopeless:
        lines += _wrapped(
            f"  {counted(hopeless, 'setting')} predicted at less than half of the best setting: not run"
        )
    return lines + (_wrapped(f"  {weighed}") if weighed else [])


def cost_lines(space: Space, budget_device_hours: float, launch_device_s: float) -> list[str]:
    """The possible cost of the search. launch_device_s: mean over runs of the study, nan if unknown."""
    budget_s = budget_device_hours * 3600
    wall_s = budget_s / space.target.ranks
    lines = _wrapped(
        f"at most {budget_device_hours:.3g} device-hours: {_duration(wall_s)} on"
        f" {counted(space.target.ranks, 'device')}; every run ends within"
        f" {space.target.study.time_limit_min:g} min"
    )
    if isnan(launch_device_s):
        return lines
    return lines + _wrapped(
        f"a run of this study took {launch_device_s:.3g} device-seconds on average, so the budget is enough for"
        f" about {budget_s / launch_device_s:.0f} such runs; short runs take less"
    )


def launch_line(space: Space, one: Launched, per_s: float) -> str:
    """A run in one line, as the search prints it. per_s: samples per second, weighted by the goal."""
    what = {"look": "look ", "short": f"rung {one.rung}", "whole": "final"}[one.kind]
    kept = "" if one.measured_now else " (recorded before)"
    setting = (
        ", ".join(f"{key}: {_value(of)}" for key, of in space.changes(one.setting).items()) or "present setting"
    )
    if one.cut_off:
        return f"  {what}  stopped at the end of the budget: {setting}"
    if one.outcome != "ok":
        return f"  {what}  {one.outcome.upper()}: {setting}: {one.reason}{kept}"
    worth = "no steady steps" if isnan(per_s) else f"{per_s:9.4g} samples/s"
    beside = f" (measured {spoiled_by(' '.join(one.spoiled))})" if one.spoiled else ""
    return f"  {what}  {worth}  {setting}{kept}{beside}"


def sentence_of(space: Space, goal: str, won: Finalist | None, ended: str) -> str:
    """The answer in a sentence."""
    if won is None:
        if ended:
            return f"There is no answer: {ended}."
        return "No setting is shown to be better than the present one."
    changes = ", ".join(f"{key}: {_value(one)}" for key, one in space.changes(won.setting).items())
    dropped = [key for key in space.present if key not in won.setting]
    without = f" (without {', '.join(dropped)})" if dropped else ""
    return (
        f"{changes}{without}: {show(*vars(won.gain).values())} times the {GOALS[goal]} of the present setting"
        f" ({percent(level(space), 1)} interval, {won.blocks} blocks)."
    )


def answer_lines(found: TuneFile, space: Space, *, never_tried: int, recorded_s: float) -> list[str]:
    """What was tried, spent and found. never_tried: number of settings without a run."""
    tried = len(space.settings) - never_tried
    kinds: Counter[str] = Counter(one.kind for one in found.launches)
    said = ", ".join(f"{kinds[kind]} {name}" for kind, name in _KINDS.items() if kinds[kind])
    budget_s = found.budget_device_hours * 3600
    lines = _wrapped(f"answer: {found.sentence}")
    lines += [""]
    lines += _wrapped(
        f"tried: {tried} of {counted(found.settings, 'setting')}; runs: {len(found.launches)} ({said})"
    )
    lines += _wrapped(
        f"spent: {found.device_time_s:.0f} of {budget_s:.0f} device-seconds"
        f" ({percent(found.device_time_s / budget_s)} of the budget)"
    )
    if recorded_s > 0:
        lines += _wrapped(f"recorded before this call: {recorded_s:.0f} device-seconds in this folder")
    if spoiled := [one for one in found.launches if one.spoiled]:
        lines += _wrapped(_spoiled(spoiled, len(found.launches)))
    for one in found.finalists:
        lines += ["", *_finalist_lines(one, found)]
    failed = [one for one in found.launches if one.outcome != "ok"]
    if failed:
        lines += ["", "Settings that were excluded because a run failed:"]
        lines += [
            line
            for one in failed
            for line in _wrapped(f"* {_setting(space, one)}: {one.outcome}: {one.reason}", 2)
        ]
    return [*lines, "", "Not tried:", *_not_tried(found, space, never_tried)]


def _spoiled(spoiled: Sequence[Launched], of: int) -> str:
    by = " ".join(dict.fromkeys(code for one in spoiled for code in one.spoiled))
    was = "was" if len(spoiled) == 1 else "were"
    said = f"note: {len(spoiled)} of {counted(of, 'run')} {was} measured {spoiled_by(by)}"
    if any(one.kind == "whole" for one in spoiled):
        said += f"; their final blocks are left out if {LEAST_BLOCKS} others remain"
    return said


_KINDS = {"look": "look", "short": "short", "whole": "final"}


def _finalist_lines(one: Finalist, found: TuneFile) -> list[str]:
    word = "answer" if one.setting == found.answer else "accepted" if one.accepted else "not accepted"
    lines = _wrapped(f"{word}: {one.name}: {one.why}", 2)
    lines += _wrapped(
        f"  {GOALS[found.goal]}: {show(*vars(one.gain).values())} x, {counted(one.blocks, 'block')}", 4
    )
    if one.accuracy_kept == AccuracyKept.NONE:
        how = ""
        if "batch_size" in one.setting and not isnan(found.noise_scale_samples.value):
            how = "; the batch is weighted by the gradient noise scale"
        return lines + _wrapped(f"  accuracy: not measured at this setting{how}", 4)
    difference = show(*vars(one.accuracy_difference).values(), factor=100)
    kept = _KEPT[one.accuracy_kept]
    if one.accepted and not one.keeps_training and one.accuracy_kept == AccuracyKept.NOT_SHOWN:
        kept = "not lower by more than the margin"
    return lines + _wrapped(f"  accuracy: {difference} points compared with the present setting, {kept}", 4)


_KEPT = {
    AccuracyKept.EQUIVALENT: "kept",
    AccuracyKept.LOWER: "lower",
    AccuracyKept.HIGHER: "higher",
    AccuracyKept.NOT_SHOWN: "inconclusive",
}


def _not_tried(found: TuneFile, space: Space, never_tried: int) -> list[str]:
    lines = [line for key, why in found.held.items() for line in _wrapped(f"* {key}: held: {why}", 2)]
    if space.refused:
        lines += _wrapped(f"* {counted(len(space.refused), 'setting')} that the config model refuses", 2)
    if never_tried:
        lines += _wrapped(
            f"* {counted(never_tried, 'setting')} of the space: they were not expected to be better than the best"
            " known setting, or the budget was used for others",
            2,
        )
    return lines or ["* nothing: every setting was run"]


def _setting(space: Space, one: Launched) -> str:
    return ", ".join(f"{key}: {_value(of)}" for key, of in space.changes(one.setting).items()) or "present setting"


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _wrapped(text: str, indent: int = 4) -> list[str]:
    first = text[: len(text) - len(text.lstrip())]
    rest = " " * (len(first) + indent)
    whole = filled(text.strip(), WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False)
    return whole.splitlines()


def tried_settings(launches: Sequence[Launched]) -> int:
    """Number of different settings that were run."""
    return len({frozenset(one.setting.items()) for one in launches})
