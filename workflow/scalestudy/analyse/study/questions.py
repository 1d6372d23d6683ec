"""The questions and conditions of studies: which keys are equal, and which differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.study.config.imported import ImportedWorkload
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Knobs
from scalestudy.study.plan import Plan, Point

# Keys of a spec for place and length of the measurement, which comparisons of studies may vary.
CONDITIONS = ("repeat", "seed", "host", "measure", "profile_steps")
# Keys of a spec that match its point.
MATCHED = ("workload", "variant", "nodes", "devices_per_node", "batch_per_rank")
# Keys of a study about its subject and presentation. `workloads` and `variants` are compared by spec.
NOT_A_SETTING = ("name", "description", "scales", "variants", "workloads", "report")
PLACES = ("path", "url")
"""Keys of data for their location."""
NOT_SET = "not set"


Differences = dict[str, tuple[Any, ...]]
"""Keys with their values, one per study, as in a study's file or a record."""


def question_differences(first: tuple[Plan, Point], other: tuple[Plan, Point]) -> Differences:
    """Returns why two points of one name are different questions: keys of the study's file with both values.

    The baselines belong to the question, since efficiencies are relative to them. The location of data does not;
    their checksums do, if both studies have them.
    """
    name = first[1].variant
    bases = [plan.study.base_of(name) for plan, _ in (first, other)]
    if bases[0] != bases[1]:
        return {f"variants.{name}.base": tuple(bases)}
    found: Differences = {}
    imported = first[0].study.imported or other[0].study.imported
    for which in ("runs", "base"):
        asked = [_asked(plan, getattr(point, which)) for plan, point in (first, other)]
        found |= {
            key: given
            for key, given in _differences(*asked).items()
            if not _only_a_place(key, given) and not (imported and _is_unknown(key, given))
        }
    return found


def setting_differences(plans: Sequence[Plan]) -> Differences:
    """Returns settings outside of questions: host, lengths of measurements, seeds, limits."""
    studies = [plan.study for plan in plans]
    variants, workloads = (
        sorted(set.intersection(*(set(getattr(study, part)) for study in studies)))
        for part in ("variants", "workloads")
    )
    return _differences(*(_settings(study, variants, workloads) for study in studies))


def environment_differences(environments: Sequence[StudyEnvironment]) -> list[dict[str, list[Any]]]:
    """Returns the facts of each environment that differ between studies, with their values in order.

    Readings before a run are left out, since they always differ.
    """
    given = [environment.facts for environment in environments]
    readings = {name for environment in environments for name in environment.readings}
    differing = [
        name
        for name in dict.fromkeys(name for facts in given for name in facts)
        if name not in readings and len({str(_sorted(facts.get(name, ()))) for facts in given}) > 1
    ]
    return [{name: _sorted(facts[name]) for name in differing if name in facts} for facts in given]


def code_differences(runs: Sequence[pd.DataFrame]) -> Differences:
    """Returns measurement protocols and fingerprints of the measuring code, if studies differ in them.

    runs: of runs.csv.
    """
    columns = {"measurement protocol": "protocol", "fingerprint of the measuring code": "fingerprint"}
    said = [
        {name: ", ".join(sorted(set(frame[column].dropna().map(str)))) or None for name, column in columns.items()}
        for frame in runs
    ]
    return _differences(*said)


def _asked(plan: Plan, run_ids: tuple[str, ...]) -> dict[str, Any]:
    """Returns the settings of a run, by the keys of the study's file."""
    spec = plan.runs[run_ids[0]]
    content = spec.model_dump(mode="json", exclude={*CONDITIONS, *MATCHED})
    found: dict[str, Any] = {}
    workload = plan.study.workloads[spec.workload]
    if isinstance(workload, ImportedWorkload):  # the command of its record names the log
        content["command"] = workload.command
        found[f"workloads.{spec.workload}.unit"] = workload.unit
    for key, value in content.items():
        owner = f"variants.{spec.variant}." if key in Knobs.model_fields else f"workloads.{spec.workload}."
        found |= _flat({key: value}, owner)
    return found


def _differences(*flat: dict[str, Any]) -> Differences:
    """Returns keys that have more than one value, in the order of the first."""
    keys = dict.fromkeys(key for one in flat for key in one)
    found = {key: tuple(NOT_SET if one.get(key) is None else one[key] for one in flat) for key in keys}
    return {key: values for key, values in found.items() if any(value != values[0] for value in values)}


def _is_unknown(key: str, values: tuple[Any, ...]) -> bool:
    """Returns whether a key is a setting that a log does not say, so that it may be equal."""
    return key.startswith("variants.") and NOT_SET in values


def _only_a_place(key: str, values: tuple[Any, ...]) -> bool:
    """Returns whether a key describes the location of data, and not their content."""
    _, _, part, *rest = key.split(".")
    if part != "data" or not rest:
        return False
    return rest[-1] in PLACES or (rest[-1] == "sha256" and NOT_SET in values)


def _settings(study: Study, variants: Sequence[str], workloads: Sequence[str]) -> dict[str, Any]:
    """Returns settings by key, with these variants' environment and the location of these workloads' data."""
    environments = {name: {"environment": study.variants[name].environment} for name in variants}
    sources = {name: getattr(study.workloads[name], "data", None) for name in workloads}
    data = {name: {"data": source.model_dump(mode="json")} for name, source in sources.items() if source}
    places = {key: value for key, value in _flat(data).items() if key.split(".")[-1] in PLACES}
    return {
        **_flat(study.model_dump(mode="json", exclude=set(NOT_A_SETTING))),
        **_flat(environments, "variants."),
        **{f"workloads.{key}": value for key, value in places.items()},
        "report.accuracy_margin": study.report.accuracy_margin,
    }


def _flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flattens nested mappings to dotted keys."""
    found: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _sorted(values: Sequence[Any]) -> list[Any]:
    """Sorts distinct values, which are in the shuffled order of the runs."""
    return sorted(values, key=str)
