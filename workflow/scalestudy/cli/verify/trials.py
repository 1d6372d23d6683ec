"""The trials of a study's advice: they are chosen once, priced, run as separate studies, and scored."""

import json
import os
from collections.abc import Iterable, Mapping
from math import isnan
from pathlib import Path

import pandas as pd
import yaml

from scalestudy.cli.results.inputs import findings_of, plan_of, table_of
from scalestudy.cli.verify.spent import BOUND, device_hours, is_made
from scalestudy.errors import UserError
from scalestudy.publish.cells import csv_text
from scalestudy.publish.words.labels import counted
from scalestudy.record.document import read_document, write_document
from scalestudy.record.files import write_text
from scalestudy.registry.codes import Tried
from scalestudy.registry.results import DATA, RESULTS, TRIALS
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.verify.frame import verification_frame
from scalestudy.verify.model import LeftOut, Place, Trial, TrialRun, TrialsFile, VerificationFile
from scalestudy.verify.price import Price, hours_of_a_launch, price_of
from scalestudy.verify.score import score
from scalestudy.verify.trials import AdviceError, add_trials, make_trials, refused_advice

REPORT = (
    "This is not an error of the study; please report this line. Other trials run, and their results are kept."
)


def chosen_trials(results: Path) -> TrialsFile:
    """Return the trials, and write their study files if these do not exist.

    They are those chosen before, with the next advice for points whose advice was refuted. Without earlier trials
    they are chosen from the current findings.
    """
    path = results / TRIALS / "trials.json"
    known = read_document(path, TrialsFile) if path.exists() else None
    study, findings = plan_of(results).study, findings_of(results)
    if known is None:
        chosen = make_trials(study, findings)
    else:
        chosen = add_trials(known, study, findings, _came_of_last(results, known))
    if chosen != known:
        write_document(path, chosen)
    for name, content in chosen.studies.items():
        if not study_file(results, name).exists():
            write_text(study_file(results, name), yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return chosen


def refused_of(results: Path, chosen: TrialsFile) -> list[AdviceError]:
    """Return the advice that is not tried because its patch is refused, which is a defect of scalestudy."""
    return refused_advice(plan_of(results).study, findings_of(results), chosen)


def defect_lines(refused: Iterable[AdviceError]) -> list[str]:
    """Return one line for each finding and advice whose patch is refused, for all of its points."""
    return list(
        dict.fromkeys(
            f"scalestudy: defect: {error.change} is not tried: {error.why}. {REPORT}" for error in refused
        )
    )


def _came_of_last(results: Path, chosen: TrialsFile) -> dict[Place, Tried | None]:
    """Return the verdict of the last trial of each point that has trials; None if it was not scored."""
    path = results / RESULTS["verification"]
    verified = read_document(path, VerificationFile).verified if path.exists() else ()
    verdicts = {(one.trial.id, one.trial.before): one.verdict for one in verified}
    return {trial.before: verdicts.get((trial.id, trial.before)) for trial in chosen.trials}


def study_file(results: Path, name: str) -> Path:
    """Return the path of a trial's study file, which may be edited before the trial runs."""
    return results / TRIALS / f"{name}.yaml"


def trial_plan(results: Path, name: str) -> Plan:
    """Return the plan of a trial. Raises UserError if the name in its file was changed."""
    study = load_study(study_file(results, name))
    if study.name != name:
        raise UserError(f"{study_file(results, name)}: study: {study.name}; keep the name {name}")
    return make_plan(study)


def priced_trials(results: Path, chosen: TrialsFile) -> dict[str, Price]:
    """Return what each trial may still cost, by the name of its study. Recorded runs cost nothing more."""
    hours = hours_of_a_launch(table_of(results, "runs"))

    def price(name: str) -> Price:
        folder = summary_of(results, name).parent
        return price_of(
            trial_plan(results, name), lambda spec: 0.0 if is_made(folder, spec.run_id) else hours(spec)
        )

    return {name: price(name) for name in dict.fromkeys(trial.id for trial in chosen.trials)}


class Budget:
    """The largest number of trials of a study, and the device-hours that they may take; None means no limit."""

    def __init__(self, results: Path, *, most: int, hours: float | None) -> None:
        self.results, self.most, self.hours = results, most, hours
        self._started: dict[str, tuple[float, float | None]] = {}
        """Trial -> (device-hours its runs had taken at its start, device-hours they may have taken at its end)."""

    def within(self, prices: Mapping[str, Price]) -> tuple[list[str], dict[str, str]]:
        """Return (names of the trials to run, name -> why another trial is not run), from their largest costs."""
        names: list[str] = []
        over: dict[str, str] = {}
        planned_h = 0.0
        for name, price in prices.items():
            costs_h = 0.0 if summary_of(self.results, name).exists() else price.most_hours
            if len(names) >= self.most:
                over[name] = f"at most {counted(self.most, 'trial')} may run (verify.most, --most)"
            elif why := self._beyond(price, costs_h, planned_h):
                over[name] = why
            else:
                planned_h += costs_h
                names.append(name)
        return names, over

    def spent_up(self, name: str, price: Price) -> str:
        """Return why a trial cannot run after the earlier ones, from their actual cost; '' if it can.

        A trial that can run is recorded as started.
        """
        taken_h = self._taken_h()
        why = "" if summary_of(self.results, name).exists() else self._beyond(price, price.most_hours, taken_h)
        if not why:
            before_h = _device_hours(self.results, name)
            self._started[name] = before_h, None if self.hours is None else before_h + self.hours - taken_h
        return why

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment variable with the limit of a started trial; {} without a limit."""
        bound_h = self._started[name][1]
        return {} if bound_h is None else {BOUND: repr(bound_h)}

    def why_unfinished(self, name: str) -> str:
        """Return that the budget was spent before a started trial completed its first repeat; '' otherwise."""
        bound_h = self._started[name][1]
        if (
            bound_h is None
            or summary_of(self.results, name).exists()
            or _device_hours(self.results, name) < bound_h
        ):
            return ""
        return (
            "the budget was spent before its first repeat was complete (verify.budget_device_hours, --budget). Its"
            " runs are kept, and a larger budget continues from them"
        )

    def _taken_h(self) -> float:
        """Return the device-hours of all runs since their trials were started."""
        return sum(_device_hours(self.results, name) - before_h for name, (before_h, _) in self._started.items())

    def _beyond(self, price: Price, costs_h: float, spent_h: float) -> str:
        if self.hours is None or spent_h + costs_h <= self.hours:
            return ""
        if isnan(costs_h):
            return "its cost is not known, and there is a budget (verify.budget_device_hours, --budget)"
        left_h = max(0.0, self.hours - spent_h)
        return (
            f"it may take {price.most_hours:.3g} device-hours, and the budget has {left_h:.3g} left"
            " (verify.budget_device_hours, --budget)"
        )


def _device_hours(results: Path, name: str) -> float:
    """Return the device-hours that the runs of a trial have taken so far."""
    return device_hours(summary_of(results, name).parent)


def summary_of(results: Path, name: str) -> Path:
    """Return the path of the table that a trial needs for its score. Its results are beside those of the study."""
    return results.parent / name / RESULTS["summary"]


def pathvars_of(results: Path, name: str, data: Path) -> list[str]:
    """Return the arguments of Snakemake for a trial whose files are not in `results/` and `resources/`.

    data: the folder of prepared data, which is `data/` in Snakemake's folder of resources. Raises UserError if
    it has another name.
    """
    if data.name != DATA.name:
        raise UserError(f"--data {data}: a folder of prepared data for trials is named {DATA.name}")
    place = os.path.relpath(results.parent)
    if place == "results" and data == DATA:
        return []
    places = {"results": str(Path(place, name)), "resources": os.path.relpath(data.parent)}
    return ["--config", f"pathvars={json.dumps(places)}"]


def scored(
    results: Path, chosen: TrialsFile, not_run: Mapping[str, str], refused: Iterable[AdviceError]
) -> VerificationFile:
    """Write verification.json and verification.csv for the trials with results, and return the former.

    not_run: why other trials have no results. refused: advice without a trial because its patch is refused.
    """
    verified = []
    runs: dict[str, TrialRun] = {}
    left_out: list[LeftOut] = []
    for trial in chosen.trials:
        folder = summary_of(results, trial.id).parent
        if summary_of(results, trial.id).exists():
            tables = [table_of(folder, name) for name in ("summary", "runs", "epochs")]
            verified.append(score(trial, plan_of(folder), *tables))
            runs |= _launches(tables[1], (*verified[-1].before.runs, *verified[-1].after.runs))
        else:
            left_out.append(_left_out(trial, not_run.get(trial.id, "it has no results")))
    left_out += [LeftOut(at=error.at, change=error.change, why=error.why) for error in refused]
    found = VerificationFile(
        study=chosen.study, verified=tuple(verified), left_out=(*left_out, *chosen.left_out), runs=runs
    )
    write_document(results / RESULTS["verification"], found)
    write_text(results / RESULTS["verified"], csv_text(verification_frame(verified)))
    return found


def _left_out(trial: Trial, why: str) -> LeftOut:
    return LeftOut(at=trial.before, change=trial.change, why=why)


def _launches(runs: pd.DataFrame, ids: Iterable[str]) -> dict[str, TrialRun]:
    """Return the runs of a trial with these ids, by id."""
    mine = runs[runs["run_id"].isin(set(ids))].reindex(columns=["run_id", *TrialRun.model_fields]).astype(object)
    rows = mine.where(mine.notna(), None).to_dict("records")
    return {row.pop("run_id"): TrialRun.model_validate(row) for row in rows}
