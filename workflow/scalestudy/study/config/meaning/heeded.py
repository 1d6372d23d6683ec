"""Keys of the study as a whole: on which others it depends whether they have an effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scalestudy.registry.codes import NotAlternated
from scalestudy.study.alternation import WHY_NOT, not_alternated
from scalestudy.study.config.meaning.facts import (
    built_in,
    default_of,
    distributed,
    most_ranks,
    scaled,
    scripts,
    tuned,
    value_of,
    written,
)
from scalestudy.study.config.refusals import shown
from scalestudy.study.config.study import Study
from scalestudy.study.identity import DEFAULTS

ALONE = "every variant is one process"
ONE_RANK = "no run has several ranks"


@dataclass(frozen=True)
class Heeded:
    """A key, and when it has an effect."""

    key: str
    """Dotted, within the study."""
    has_effect: Callable[[Study], bool]
    since: str | Callable[[Study], str]
    """Why it has none otherwise."""
    instead: str = ""
    """What would give it one."""
    neutral: tuple[Any, ...] = ()
    """Values that may stand anywhere: they switch off what is off anyway."""


def _turns(study: Study) -> bool:
    return bool(built_in(study)) and any(
        not_alternated(study, name) == NotAlternated.NONE for name in distributed(study)
    )


def _no_turns(study: Study) -> str:
    if not distributed(study):
        return ALONE
    why = {name: WHY_NOT[not_alternated(study, name)] for name in distributed(study)}
    named = ", ".join(f"{name}: {reason}" for name, reason in why.items())
    return f"no variant can take turns with its baseline ({named})"


def _probed(study: Study) -> bool:
    """Whether any run has blocks of probes, or of turns with its baseline."""
    measure = study.measure
    probed = any(not one.run_to_end for one in scripts(study).values()) or bool(built_in(study))
    turns = measure.alternating_rounds > 0 and _turns(study)
    return turns or _tried(study) or (measure.probe_rounds > 0 and bool(distributed(study)) and probed)


def _probe_rounds(study: Study) -> bool:
    """Whether any run has rounds of probes. One process has none."""
    early = bool(built_in(study)) or any(not one.run_to_end for one in scripts(study).values())
    return early and bool(distributed(study))


def _not_probed(study: Study) -> str:
    return f"{TO_THE_END}, and such runs are not probed" if distributed(study) else ALONE


def _tried(study: Study) -> bool:
    """Whether any run tries larger batches. Without probes only one of `scalestudy tune` does."""
    ddp = any(variant.strategy == "ddp" for variant in study.variants.values())
    probed = study.measure.probe_rounds > 0 or tuned(study)
    return ddp and probed and any(one.epochs for one in built_in(study).values())


def _not_tried(study: Study) -> str:
    ddp = any(variant.strategy == "ddp" for variant in study.variants.values())
    if ddp and any(one.epochs for one in built_in(study).values()):
        return "measure.probe_rounds: 0 switches these trials off"
    return "no ddp variant trains for epochs"


def _noise_known(study: Study) -> bool:
    """Whether any run measures the gradient noise scale."""
    return study.measure.probe_rounds > 0 and any(one.epochs for one in built_in(study).values())


def _ranked(study: Study) -> bool:
    """Whether advice can be ranked as `report.goal` says."""
    return _is_scaled(study) and (study.report.goal != "time_to_accuracy" or _noise_known(study))


def _not_ranked(study: Study) -> str:
    if not _is_scaled(study):
        return _not_scaled(study)
    if not built_in(study):
        why = "commands only"
    else:
        why = "measure.probe_rounds: 0" if any(one.epochs for one in built_in(study).values()) else "epochs: 0"
    return f"it needs the gradient noise scale, which no run measures with {why}"


def _ends_early(study: Study) -> bool:
    """Whether any run ends when it has measured enough. Of built-in training, `scalestudy tune` and `find-batch`
    make such runs of every study."""
    early = bool(built_in(study)) or any(not one.run_to_end for one in scripts(study).values())
    return early or study.measure.warmup_steps > default_of("measure.max_steps")  # max_steps cannot be less


def _drops_more(study: Study) -> bool:
    """Whether any run decides how many steps to drop. The number cannot be less than `measure.warmup_steps`."""
    return _ends_early(study) or study.measure.warmup_steps > default_of("measure.max_warmup_steps")


def _timed(study: Study) -> bool:
    """Whether any run ends when its step time is known to a target of the study. `scalestudy tune` has its own."""
    timed = any(not one.epochs for one in built_in(study).values())
    return timed or any(not one.run_to_end for one in scripts(study).values())


def _accuracy(study: Study) -> bool:
    """Whether any accuracy is compared with another one."""
    reported = any(one.run_to_end for one in scripts(study).values())
    validated = reported or any(one.epochs for one in built_in(study).values())
    return validated and (bool(distributed(study)) or tuned(study))


def _not_validated(study: Study) -> str:
    if not distributed(study):
        return ALONE
    return "nothing is validated with epochs: 0" if built_in(study) else NO_ACCURACY


def _is_scaled(study: Study) -> bool:
    """Whether any run has several ranks: only these have verdicts, causes and advice."""
    return most_ranks(study) > 1


def _not_scaled(study: Study) -> str:
    return ONE_RANK if distributed(study) else ALONE


def _no_advice(study: Study) -> str:
    return f"advice is for runs of several ranks, and {_not_scaled(study)}"


def _batches_measured(study: Study) -> bool:
    """Whether one process is measured at several batches, from which the time of a larger one is forecast."""
    return scaled(study, "strong") and study.report.overhead_reference


def _one_batch(study: Study) -> str:
    if not _is_scaled(study):
        return _not_scaled(study)
    why = "report.overhead_reference is false" if scaled(study, "strong") else "no workload scales strongly"
    return f"one process is measured at one batch only: {why}"


NO_ACCURACY = "no script has run_to_end: true, and other runs end when their step time is known"
TO_THE_END = "every script runs to its end"
WIDER = "add a scale of several ranks for a ddp or fsdp variant"
TABLE: tuple[Heeded, ...] = (
    Heeded("measure.profile_steps", lambda study: study.profile, "profile is not true", "set profile: true"),
    Heeded(
        "profile", lambda study: bool(built_in(study)), "every workload is a command, and commands are not traced"
    ),
    Heeded(
        "measure.probe_steps", _probed, "no run probes communication or alternates", "set measure.probe_rounds"
    ),
    Heeded(
        "measure.batch_trial_share",
        _tried,
        _not_tried,
        neutral=(0,),
    ),
    Heeded("measure.probe_rounds", _probe_rounds, _not_probed, neutral=(0,)),
    Heeded("measure.max_steps", _ends_early, TO_THE_END, "leave out run_to_end"),
    Heeded("measure.min_steps", _ends_early, TO_THE_END, "leave out run_to_end"),
    Heeded("measure.max_warmup_steps", _drops_more, TO_THE_END, "leave out run_to_end"),
    Heeded(
        "measure.launch_half_width",
        _timed,
        lambda study: "every workload trains for epochs" if built_in(study) else TO_THE_END,
    ),
    Heeded("measure.alternating_rounds", _turns, _no_turns),
    Heeded(
        "measure.budget_device_hours",
        lambda study: bool(study.decisions),
        "no repeats are run beyond repeats: 1",
        "raise repeats or max_repeats",
    ),
    Heeded(
        "measure.replace_spoiled",
        lambda study: study.until_decided or tuned(study),
        lambda study: (
            "measure.until is precise"
            if study.measure.until == "precise"
            else f"no repeats are run beyond repeats: {study.repeats}"
        ),
    ),
    Heeded("report.goal", _ranked, _not_ranked),
    Heeded("report.accuracy_margin", _accuracy, _not_validated),
    Heeded("report.target_efficiency", _is_scaled, _not_scaled, WIDER),
    Heeded(
        "report.target_margin",
        lambda study: _is_scaled(study) or (bool(distributed(study)) and study.until_decided),
        _not_scaled,
        WIDER,
    ),
    Heeded("report.forecast_batches", _batches_measured, _one_batch, neutral=((),)),
    Heeded(
        "report.overhead_reference",
        lambda study: scaled(study, "strong"),
        lambda study: "no workload scales strongly" if most_ranks(study) > 1 else "no run has several ranks",
    ),
    Heeded("allocations", _is_scaled, _not_scaled),
    Heeded("verify.mode", _is_scaled, _no_advice),
    Heeded("verify.most", _is_scaled, _no_advice),
    Heeded("verify.budget_device_hours", _is_scaled, _no_advice),
    Heeded(
        "host.memory_limit_gib",
        lambda study: bool(built_in(study)),
        "every workload is a command, whose memory is not limited",
    ),
)


def unheeded(study: Study, content: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key of TABLE that is written, is not the default, and has no effect."""
    for entry in TABLE:
        value = value_of(study, entry.key)
        if written(content, entry.key) is None or value == default_of(entry.key) or value in entry.neutral:
            continue
        if not entry.has_effect(study):
            since = entry.since if isinstance(entry.since, str) else entry.since(study)
            yield (
                f"{entry.key}: {shown(value)} has no effect, since {since}; leave it out"
                f"{f', or {entry.instead}' if entry.instead else ''}"
            )
    older = study.defaults < DEFAULTS  # it was the default
    if study.measure.until == "precise" and study.most_repeats == study.repeats and not older:
        yield (
            f"measure.until: precise has no effect, since no repeats are run beyond repeats: {study.repeats};"
            " raise max_repeats, or leave it out"
        )
