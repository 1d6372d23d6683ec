"""Makes studies that try the advice of findings: the point before and after the change, together in every repeat.

A trial is an ordinary, small study with its own seeds. It has the blocks, stopping rules and records of any study,
and contains no measurement that led to the advice. Advice that one study cannot test is left out, with the reason.
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
"""Added to the seed of the study, so that the runs of a trial use other random numbers than the study's runs."""
ONLY_GAIN = {"floor": False, "probe_rounds": 0}
"""Settings of `measure`: a trial does not look for causes, and probes would take as long as its training."""
HELD = {"variants", "workloads"}
"""Keys that can differ between the two sides within one study."""
WHY_NOT = {
    "scales": "it needs devices that the study does not have",
    "host": "it changes every run on the host, so one study cannot contain both sides",
    "repeats": "it adds repeats but does not change the training",
    "max_repeats": "it adds repeats but does not change the training",
    "report": "it adds rows but does not change the training",
}
NO_ROOM = "the study that tries this advice at another point cannot include this point"


class AdviceError(Exception):
    """The study refuses a patch of the diagnosis. This is a defect of scalestudy, not a mistake of the user."""

    def __init__(self, at: Place, cause: str, advice: Recommendation, problems: Sequence[str]) -> None:
        self.at, self.change = at, advice.change
        self.why = (
            f"the study refuses its patch, which is a defect of scalestudy (finding {cause}, advice {advice.id}):"
            f" {'; '.join(' '.join(problem.split()) for problem in problems)}"
        )
        super().__init__(f"{cause}.{advice.id}: {self.why}")


def make_trials(study: Study, diagnoses: Sequence[Diagnosis]) -> TrialsFile:
    """A trial for every point with advice to try, and the advice that is left out.

    Points of the same workload and variant with the same advice share a study. Advice whose patch is refused has
    no trial; `refused_advice` lists it.
    """
    return add_trials(TrialsFile(study=study.name, trials=(), left_out=(), studies={}), study, diagnoses, {})


def add_trials(
    chosen: TrialsFile, study: Study, diagnoses: Sequence[Diagnosis], came: Mapping[Place, Tried | None]
) -> TrialsFile:
    """The same, plus the next advice of each point whose trials were all refuted, or that has no trial.

    came: for each point with trials, the verdict of the last one; None if it has no verdict yet. Trials of points
    that were chosen before are not changed, so their measurements stay valid.
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
                continue  # the trial would change, and with it the runs that were already made
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
    """Advice without a trial because its patch is refused, up to the advice that was tried last at each point."""
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
    """(trial of advice for a point, its study without the scale of the point).

    advice: advice that a study can test, by `why_not`. Raises AdviceError if its patch does not concern the point.
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
    """The study of a trial. Raises AdviceError, with the ids of the finding and the advice, if it is refused."""
    try:
        return parse_study(content, source=trial.id)
    except RefusedStudyError as error:
        raise AdviceError(trial.before, trial.cause, advice, error.problems) from None


def why_not(advice: Recommendation) -> str:
    """Why no study can contain both sides; empty if one can."""
    if (advice.changes == Changes.RANKS and advice.scale) or advice.variant:
        return ""
    if not advice.patch:
        return "it is not a patch of the study"
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
        scales = [] if alone else [advice.scale]  # every study includes one process
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
    content.pop("verify", None)  # the advice of a trial is not tried in turn
    return name, content, after


def _bound(study: Study) -> dict[str, Any]:
    """The limit of a trial that takes longer than the study's runs, for example to compile: the whole budget.

    No repeat is begun beyond it. The key exists only if runs go on until the verdicts are decided.
    """
    hours = study.verify.budget_device_hours
    if not hours or study.measure.until != "decided":
        return {}
    return {"budget_device_hours": min(hours, study.measure.budget_device_hours or hours)}


def _until(study: Study, before: Place, after: Place) -> dict[str, Any]:
    """The stopping criterion of a trial: its gain. One process and fewer ranks are judged by speedups instead."""
    sides = {
        name: {"workload": at.workload, "variant": at.variant}
        for name, at in (("before", before), ("after", after))
    }
    same_scale = (before.nodes, before.devices_per_node) == (after.nodes, after.devices_per_node)
    return {"gains": [sides] if same_scale and study.measure.until == "decided" else []}


def with_point(content: dict[str, Any], point: Place) -> dict[str, Any]:
    """The study with the scale and the scaling of one more point."""
    scale = f"{point.nodes}x{point.devices_per_node}"
    scales = [*dict.fromkeys([*content["scales"], scale])]
    workloads = {
        name: workload | {"scaling": [*dict.fromkeys([*workload["scaling"], point.scaling])]}
        for name, workload in content["workloads"].items()
    }
    return content | {"scales": scales, "workloads": workloads}
