"""The trials of a study's advice: chosen once, priced, run as studies of their own, and scored."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from scalestudy.analyse.study.effort import device_time_s
from scalestudy.cli.inputs import findings_of, plan_of, table_of
from scalestudy.errors import UserError
from scalestudy.record.document import read_document, write_document
from scalestudy.record.files import write_text
from scalestudy.registry.results import RESULTS, TRIALS
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.study.spec import RunSpec
from scalestudy.verify.model import LeftOut, Trial, TrialsFile, VerificationFile
from scalestudy.verify.score import score
from scalestudy.verify.trials import AFTER, make_trials
from scalestudy.verify.words import verification_frame


class Price(NamedTuple):
    """What a trial may take."""

    launches: int
    """At most."""
    least_hours: float
    """Device-hours without the launches in reserve."""
    most_hours: float
    """Device-hours with all of them."""


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


def priced_trials(results: Path, chosen: TrialsFile) -> dict[str, Price]:
    """What each trial may take, by the name of its study and the mean launch of the study that it is for."""
    runs = table_of(results, "runs")
    made = runs[runs["outcome"] != "unneeded"]
    device_s = device_time_s(made)

    def hours(spec: RunSpec) -> float:
        workload = spec.workload.removesuffix(f"-{AFTER}")
        same = (made["workload"] == workload) & (made["world_size"] == spec.world_size)
        return float((device_s[same] if same.any() else device_s).mean()) / 3600

    found = {}
    for name in dict.fromkeys(trial.id for trial in chosen.trials):
        plan = trial_plan(results, name)
        of_runs = {run: hours(spec) for run, spec in plan.runs.items()}
        least = sum(taken for run, taken in of_runs.items() if not plan.is_reserve(run))
        found[name] = Price(len(of_runs), least, sum(of_runs.values()))
    return found


def within(
    chosen: TrialsFile, prices: Mapping[str, Price], *, most: int, budget: float | None
) -> tuple[list[str], list[LeftOut]]:
    """(names of the studies that are run, trials that are not): at most so many, within so many device-hours."""
    names: list[str] = []
    spent = 0.0
    over: dict[str, str] = {}
    for name, price in prices.items():
        if len(names) >= most:
            over[name] = f"no more than {most} are asked for"
        elif budget is not None and spent + price.most_hours > budget:
            left = max(0.0, budget - spent)
            over[name] = f"it may take {price.most_hours:.3g} device-hours, and {left:.3g} are left"
        else:
            spent += price.most_hours
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
