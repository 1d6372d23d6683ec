"""From findings to studies that try their advice: the point before and after it, side by side in every repeat.

A trial is an ordinary study, small and with seeds of its own: its blocks, stopping rules and records are those of
any study, and no measurement that led to the advice is in it. What one study cannot hold is left out, with the
reason.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scalestudy.diagnose.findings import Diagnosis, Recommendation
from scalestudy.errors import RefusedStudyError
from scalestudy.registry.codes import Changes, Tried
from scalestudy.study.config.load import merge, parse_study
from scalestudy.study.config.scales import nodes_and_devices
from scalestudy.study.config.study import Study
from scalestudy.study.identity import SEEDS
from scalestudy.verify.model import LeftOut, Place, Trial, TrialsFile

AFTER = "after"
OTHER_SEEDS = 1000
"""Added to the seed of the study: no launch of a trial draws what a launch of the study drew."""
ONLY_GAIN = {"floor": False, "probe_rounds": 0}
"""Of `measure`: nothing in a trial is asked for causes, and probes of them take as long as its training."""
HELD = {"variants", "workloads"}
"""Keys of a study of which one study can hold both sides."""
WHY_NOT = {
    "scales": "it needs devices that the study does not have",
    "host": "it changes every launch on the host, so that one study cannot hold both sides",
    "repeats": "it asks for more launches, not for another training",
    "max_repeats": "it asks for more launches, not for another training",
    "report": "it asks for more rows, not for another training",
}
NO_ROOM = "the study that tries this advice at another point cannot hold this point too"


class AdviceError(Exception):
    """A patch of a diagnosis that the study refuses. It is a defect of scalestudy, and no mistake of the user."""

    def __init__(self, at: Place, cause: str, advice: Recommendation, problems: Sequence[str]) -> None:
        self.at, self.change = at, advice.change
        self.why = (
            f"its patch is refused, which is a defect of scalestudy (finding {cause}, advice {advice.id}):"
            f" {'; '.join(' '.join(problem.split()) for problem in problems)}"
        )
        super().__init__(f"{cause}.{advice.id}: {self.why}")


def make_trials(study: Study, diagnoses: Sequence[Diagnosis]) -> TrialsFile:
    """A trial for every point that has advice to try, and what is left out.

    Points of a workload and variant with the same advice share a study. Advice whose patch is refused has no
    trial; `refused_advice` lists it.
    """
    return add_trials(TrialsFile(study=study.name, trials=(), left_out=(), studies={}), study, diagnoses, {})


def add_trials(
    chosen: TrialsFile, study: Study, diagnoses: Sequence[Diagnosis], came: Mapping[Place, Tried | None]
) -> TrialsFile:
    """The same with the next advice of each point whose trials were all refuted, or that has none.

    came: of each point that has trials, what came of the last one; None where it has no verdict yet. A trial of
    points that it had before is not changed: what was measured stays as it is.
    """
    trials, left_out, studies = list(chosen.trials), list(chosen.left_out), dict(chosen.studies)
    for diagnosis in diagnoses:
        before = Place.of(diagnosis)
        if came.get(before, Tried.REFUTED) != Tried.REFUTED:
            continue
        for cause, advice in diagnosis.recommendations:
            if any(trial.tries(before, cause, advice) for trial in trials):
                continue
            if why := why_not(advice):
                not_tried = LeftOut(at=before, change=advice.change, why=why)
                left_out += [not_tried] if not_tried not in left_out else []
                continue
            try:
                trial, content = make_trial(study, before, cause, advice)
                parse_trial(trial, with_point(content, before), advice)
            except AdviceError:
                continue
            if trial.id in chosen.studies:
                continue  # it would have other launches than those that were made
            together = with_point(studies.get(trial.id, content), before)
            try:
                parse_trial(trial, together, advice)
            except AdviceError:
                left_out.append(LeftOut(at=before, change=advice.change, why=NO_ROOM))
                continue
            studies[trial.id] = together
            trials.append(trial)
            break
    return TrialsFile(study=study.name, trials=tuple(trials), left_out=tuple(left_out), studies=studies)


def refused_advice(study: Study, diagnoses: Sequence[Diagnosis], chosen: TrialsFile) -> list[AdviceError]:
    """Advice that has no trial because its patch is refused, up to the advice that is tried last at each point."""
    found = []
    for diagnosis in diagnoses:
        at = Place.of(diagnosis)
        last = next((trial for trial in reversed(chosen.trials) if trial.before == at), None)
        for cause, advice in diagnosis.recommendations:
            if last and last.tries(at, cause, advice):
                break
            if why_not(advice):
                continue
            try:
                trial, content = make_trial(study, at, cause, advice)
                parse_trial(trial, with_point(content, at), advice)
            except AdviceError as error:
                found.append(error)
    return found


def make_trial(study: Study, before: Place, cause: str, advice: Recommendation) -> tuple[Trial, dict[str, Any]]:
    """(the trial of advice for a point, its study without the scale of the point).

    advice: one that a study can hold, by `why_not`. Raises AdviceError where its patch is not of the point.
    """
    name, content, after = _side_by_side(study, before, cause, advice)
    trial = Trial(
        id=name,
        cause=cause,
        advice=advice.id,
        change=advice.change,
        patch=advice.patch,
        before=before,
        after=after,
        predicted=advice.prediction,
    )
    return trial, content


def parse_trial(trial: Trial, content: dict[str, Any], advice: Recommendation) -> Study:
    """The study of a trial. Raises AdviceError, with the ids of finding and advice, where it is refused."""
    try:
        return parse_study(content, source=trial.id)
    except RefusedStudyError as error:
        raise AdviceError(trial.before, trial.cause, advice, error.problems) from None


def why_not(advice: Recommendation) -> str:
    """Why a study of both sides cannot be made; empty where it can."""
    if (advice.changes == Changes.RANKS and advice.scale) or advice.variant:
        return ""
    if not advice.patch:
        return "it is no patch of the study"
    others = sorted(set(advice.patch) - HELD)
    return WHY_NOT.get(others[0], f"it changes {others[0]}") if others else ""


def _side_by_side(
    study: Study, before: Place, cause: str, advice: Recommendation
) -> tuple[str, dict[str, Any], Place]:
    """(name, content of the study without scales, the point after the advice)."""
    patch = advice.patch or {}
    dumped = study.model_dump(mode="json", exclude_defaults=True)
    base, variant, workload = study.base_of(before.variant), before.variant, before.workload
    variants = {base: dumped["variants"][base], variant: dumped["variants"][variant] | {"base": base}}
    workloads = {workload: dumped["workloads"][workload]}
    after = before
    changed = patch.get("variants", {})
    added = sorted(set(changed) - set(study.variants))
    if {base, variant} & set(changed):
        of_base = f"{base}-{AFTER}" if base in changed else base
        if base in changed:
            variants[of_base] = merge(variants[base], changed[base])
        variants[f"{variant}-{AFTER}"] = merge(variants[variant], changed.get(variant, {})) | {"base": of_base}
        after = after.model_copy(update={"variant": f"{variant}-{AFTER}"})
    elif added:
        variants[added[0]] = changed[added[0]] | {"base": base}
        after = after.model_copy(update={"variant": added[0]})
    elif other := advice.variant:
        of_other = study.base_of(other)
        variants |= {of_other: dumped["variants"][of_other], other: dumped["variants"][other] | {"base": of_other}}
        after = after.model_copy(update={"variant": other})
    elif changed:
        raise AdviceError(before, cause, advice, [f"variants: the patch changes neither {variant} nor {base}"])
    if changed := patch.get("workloads"):
        if workload not in changed:
            raise AdviceError(before, cause, advice, [f"workloads: the patch does not change {workload}"])
        workloads[f"{workload}-{AFTER}"] = merge(workloads[workload], changed[workload])
        after = after.model_copy(update={"workload": f"{workload}-{AFTER}"})
    scales: list[str] = []
    if advice.changes == Changes.RANKS and advice.scale:
        nodes, devices = nodes_and_devices(advice.scale)
        alone = nodes * devices == 1
        scales = [] if alone else [advice.scale]  # one process is launched at any scale
        of = {"nodes": nodes, "devices_per_node": devices, "variant": base if alone else variant}
        after = after.model_copy(update=of)
    name = f"{study.name}-{workload}-{variant}-{advice.id.replace('_', '-')}"[:60].rstrip("-")
    first = {
        "study": name,
        "description": f"Tries advice for {study.name} ({cause}): {advice.change}",
        "defaults": study.defaults,
    }
    content = {**first, **dumped, **first} | {
        "seed": (study.seed + OTHER_SEEDS) % SEEDS,
        "repeats": study.repeats,
        "max_repeats": study.most_repeats,
        "scales": scales,
        "variants": variants,
        "workloads": {key: value | {"scaling": []} for key, value in workloads.items()},
        "measure": dumped.get("measure", {}) | ONLY_GAIN | _bound(study) | _until(study, before, after),
        "report": dumped.get("report", {}) | {"forecast_scales": []},
    }
    content.pop("verify", None)  # a trial has advice too, and nobody asked for that to be tried
    return name, content, after


def _bound(study: Study) -> dict[str, Any]:
    """What ends a trial that takes longer than the launches before it, as one that compiles: the whole budget.

    No further repeat is begun beyond it. Only where launches go on until verdicts are decided is there such a key.
    """
    hours = study.verify.budget_device_hours
    if not hours or study.measure.until != "decided":
        return {}
    return {"budget_device_hours": min(hours, study.measure.budget_device_hours or hours)}


def _until(study: Study, before: Place, after: Place) -> dict[str, Any]:
    """What launches of a trial go on for: its gain. One process and fewer ranks are judged by speedups."""
    sides = {
        name: {"workload": at.workload, "variant": at.variant}
        for name, at in (("before", before), ("after", after))
    }
    same_scale = (before.nodes, before.devices_per_node) == (after.nodes, after.devices_per_node)
    return {"gains": [sides] if same_scale and study.measure.until == "decided" else []}


def with_point(content: dict[str, Any], point: Place) -> dict[str, Any]:
    """The study with the scale and the way of scaling of one more point."""
    scale = f"{point.nodes}x{point.devices_per_node}"
    scales = [*dict.fromkeys([*content["scales"], scale])]
    workloads = {
        name: workload | {"scaling": [*dict.fromkeys([*workload["scaling"], point.scaling])]}
        for name, workload in content["workloads"].items()
    }
    return content | {"scales": scales, "workloads": workloads}
