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
    value_of,
    written,
)
from scalestudy.study.config.refusals import shown
from scalestudy.study.config.study import Study
from scalestudy.study.config.tune import Tune
from scalestudy.study.identity import DEFAULTS

ALONE = "every variant is one process"


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


def _tried(study: Study) -> bool:
    """Whether any run tries larger batches. Without probes only one of `scalestudy tune` does."""
    ddp = any(variant.strategy == "ddp" for variant in study.variants.values())
    probed = study.measure.probe_rounds > 0 or _tuned(study)
    return ddp and probed and any(one.epochs for one in built_in(study).values())


def _not_tried(study: Study) -> str:
    ddp = any(variant.strategy == "ddp" for variant in study.variants.values())
    if ddp and any(one.epochs for one in built_in(study).values()):
        return "measure.probe_rounds: 0 switches these trials off"
    return "no ddp variant trains for epochs"


def _tuned(study: Study) -> bool:
    """Whether the study is meant for `scalestudy tune`, whose runs heed keys that the study's own runs do not."""
    return study.tune != Tune()


def _noise_known(study: Study) -> bool:
    """Whether any run measures the gradient noise scale."""
    return study.measure.probe_rounds > 0 and any(one.epochs for one in built_in(study).values())


def _ranked(study: Study) -> bool:
    """Whether advice can be ranked as `report.goal` says."""
    return _is_distributed(study) and (study.report.goal != "time_to_accuracy" or _noise_known(study))


def _not_ranked(study: Study) -> str:
    if not _is_distributed(study):
        return ALONE
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


def _accuracy(study: Study) -> bool:
    reported = any(one.run_to_end for one in scripts(study).values())
    return reported or any(one.epochs for one in built_in(study).values())


def _not_validated(study: Study) -> str:
    return "nothing is validated with epochs: 0" if built_in(study) else NO_ACCURACY


def _is_distributed(study: Study) -> bool:
    return bool(distributed(study))


NO_ACCURACY = "no script has run_to_end: true, and other runs end when their step time is known"
TO_THE_END = "every script runs to its end"
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
    Heeded("measure.max_steps", _ends_early, TO_THE_END, "leave out run_to_end"),
    Heeded("measure.min_steps", _ends_early, TO_THE_END, "leave out run_to_end"),
    Heeded("measure.launch_half_width", _ends_early, TO_THE_END, "leave out run_to_end"),
    Heeded("measure.alternating_rounds", _turns, _no_turns),
    Heeded(
        "measure.replace_spoiled",
        lambda study: study.until_decided or _tuned(study),
        lambda study: (
            "measure.until is precise"
            if study.measure.until == "precise"
            else f"no repeats are run beyond repeats: {study.repeats}"
        ),
    ),
    Heeded("report.goal", _ranked, _not_ranked),
    Heeded("report.accuracy_margin", _accuracy, _not_validated),
    Heeded("report.target_efficiency", _is_distributed, ALONE, "add a ddp or fsdp variant"),
    Heeded("report.target_margin", _is_distributed, ALONE, "add a ddp or fsdp variant"),
    Heeded("report.forecast_batches", _is_distributed, ALONE, "add a ddp or fsdp variant", neutral=((),)),
    Heeded(
        "report.overhead_reference",
        lambda study: scaled(study, "strong"),
        lambda study: "no workload scales strongly" if most_ranks(study) > 1 else "no run has several ranks",
    ),
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
