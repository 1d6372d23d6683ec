"""The trials of a study's advice: chosen once, priced, run as studies of their own, and scored."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from scalestudy.analyse.study.effort import device_time_s
from scalestudy.cli.inputs import findings_of, plan_of, table_of
from scalestudy.errors import UserError
from scalestudy.record.document import read_document, write_document
from scalestudy.record.files import write_text
from scalestudy.registry.results import RESULTS, TRIALS
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.verify.model import LeftOut, Trial, TrialsFile, VerificationFile
from scalestudy.verify.score import score
from scalestudy.verify.trials import AFTER, make_trials
from scalestudy.verify.words import verification_frame


def chosen_trials(results: Path) -> TrialsFile:
    """What is tried: as it was chosen before, else by the findings of now. Their study files are written where
    there are none."""
    path = results / TRIALS / "trials.json"
    if path.exists():
        chosen = read_document(path, TrialsFile)
    else:
        chosen = make_trials(plan_of(results).study, findings_of(results))
        write_document(path, chosen)
    for name, content in chosen.studies.items():
        if not study_file(results, name).exists():
            write_text(study_file(results, name), yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return chosen


def study_file(results: Path, name: str) -> Path:
    """The file of a trial's study, which may be edited before it is run."""
    return results / TRIALS / f"{name}.yaml"


def trial_plan(results: Path, name: str) -> Plan:
    """The plan of a trial. Raises UserError where its file was edited to another name."""
    study = load_study(study_file(results, name))
    if study.name != name:
        raise UserError(f"{study_file(results, name)}: study: {study.name}; keep the name {name}")
    return make_plan(study)


def device_hours(results: Path, plan: Plan) -> tuple[float, float]:
    """(least, most) device-hours of a trial, by the mean launch of the study that it is for."""
    runs = table_of(results, "runs")
    made = runs[runs["outcome"] != "unneeded"]
    device_s = device_time_s(made)
    least = most = 0.0
    for run, spec in plan.runs.items():
        same = (made["workload"] == spec.workload.removesuffix(f"-{AFTER}")) & (
            made["world_size"] == spec.world_size
        )
        mine = device_s[same] if same.any() else device_s
        hours = float(mine.mean()) / 3600
        most += hours
        least += 0.0 if plan.is_reserve(run) else hours
    return least, most


def within(
    results: Path, chosen: TrialsFile, *, most: int, budget: float | None
) -> tuple[list[str], list[LeftOut]]:
    """(names of the studies that are run, trials that are not): at most so many, within so many device-hours."""
    names: list[str] = []
    spent = 0.0
    over: dict[str, str] = {}
    for name in dict.fromkeys(trial.id for trial in chosen.trials):
        hours = device_hours(results, trial_plan(results, name))[1]
        if len(names) >= most:
            over[name] = f"no more than {most} are asked for"
        elif budget is not None and spent + hours > budget:
            over[name] = f"it may take {hours:.3g} device-hours, and {max(0.0, budget - spent):.3g} are left"
        else:
            spent += hours
            names.append(name)
    return names, [_not_run(trial, over[trial.id]) for trial in chosen.trials if trial.id in over]


def _not_run(trial: Trial, why: str) -> LeftOut:
    return LeftOut(at=trial.before, change=trial.change, why=why)


def summary_of(name: str) -> Path:
    """The table that a trial's study has to have for its score."""
    return Path("results") / name / RESULTS["summary"]


def scored(results: Path, chosen: TrialsFile, left_out: Sequence[LeftOut]) -> VerificationFile:
    """verification.json and verification.csv, of the trials that have results."""
    verified = []
    for trial in chosen.trials:
        folder = summary_of(trial.id).parent
        if summary_of(trial.id).exists():
            tables = (table_of(folder, "summary"), table_of(folder, "runs"))
            verified.append(score(trial, plan_of(folder), *tables))
    found = VerificationFile(study=chosen.study, verified=tuple(verified), left_out=(*left_out, *chosen.left_out))
    write_document(results / RESULTS["verification"], found)
    write_text(results / RESULTS["verified"], verification_frame(verified).to_csv(index=False))
    return found
