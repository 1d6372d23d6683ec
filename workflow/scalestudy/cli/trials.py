"""The trials of a study's advice: chosen once, priced, run as studies of their own, and scored."""

from collections.abc import Iterable, Mapping
from math import isnan
from pathlib import Path

import pandas as pd
import yaml

from scalestudy.cli.inputs import findings_of, plan_of, table_of
from scalestudy.cli.spent import BOUND, device_hours, is_made
from scalestudy.errors import UserError
from scalestudy.publish.cells import csv_text
from scalestudy.publish.words.labels import counted
from scalestudy.record.document import read_document, write_document
from scalestudy.record.files import write_text
from scalestudy.registry.codes import Tried
from scalestudy.registry.results import RESULTS, TRIALS
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.verify.frame import verification_frame
from scalestudy.verify.model import LeftOut, Place, Trial, TrialRun, TrialsFile, VerificationFile
from scalestudy.verify.price import Price, hours_of_a_launch, price_of
from scalestudy.verify.score import score
from scalestudy.verify.trials import AdviceError, add_trials, make_trials, refused_advice

REPORT = "The study is not at fault; please report this line. Other trials are run, and their results are kept."


def chosen_trials(results: Path) -> TrialsFile:
    """What is tried: as it was chosen before, and the next advice for points whose advice was refuted; else by the
    findings of now. Their study files are written where there are none."""
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
    """Advice that is not tried because its patch is refused: defects of ours."""
    return refused_advice(plan_of(results).study, findings_of(results), chosen)


def defect_lines(refused: Iterable[AdviceError]) -> list[str]:
    """A line for each finding and advice whose patch is refused, whatever the number of its points."""
    return list(
        dict.fromkeys(
            f"scalestudy: defect: {error.change} is not tried: {error.why}. {REPORT}" for error in refused
        )
    )


def _came_of_last(results: Path, chosen: TrialsFile) -> dict[Place, Tried | None]:
    """Of each point that has trials, the verdict of its last one; None where it was not scored."""
    path = results / RESULTS["verification"]
    verified = read_document(path, VerificationFile).verified if path.exists() else ()
    verdicts = {(one.trial.id, one.trial.before): one.verdict for one in verified}
    return {trial.before: verdicts.get((trial.id, trial.before)) for trial in chosen.trials}


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
    """What each trial may still take, by the name of its study: launches that are recorded cost nothing more."""
    hours = hours_of_a_launch(table_of(results, "runs"))

    def price(name: str) -> Price:
        folder = summary_of(name).parent
        return price_of(
            trial_plan(results, name), lambda spec: 0.0 if is_made(folder, spec.run_id) else hours(spec)
        )

    return {name: price(name) for name in dict.fromkeys(trial.id for trial in chosen.trials)}


class Budget:
    """How many trials may be run, and how many device-hours they may take; None: no limit."""

    def __init__(self, *, most: int, hours: float | None) -> None:
        self.most, self.hours = most, hours
        self._started: dict[str, tuple[float, float | None]] = {}
        """Trials -> (what their launches had taken when they were started, what they may have taken at their
        end)."""

    def within(self, prices: Mapping[str, Price]) -> tuple[list[str], dict[str, str]]:
        """(names of the trials that are run, why the others are not), by what each may take."""
        names: list[str] = []
        over: dict[str, str] = {}
        planned_h = 0.0
        for name, price in prices.items():
            costs_h = 0.0 if summary_of(name).exists() else price.most_hours
            if len(names) >= self.most:
                over[name] = f"no more than {counted(self.most, 'trial')} may be run (verify.most, --most)"
            elif why := self._beyond(price, costs_h, planned_h):
                over[name] = why
            else:
                planned_h += costs_h
                names.append(name)
        return names, over

    def spent_up(self, name: str, price: Price) -> str:
        """Why a trial cannot be run after those before it, by what these really took; '' where it can.

        A trial that can is taken to be started.
        """
        taken_h = self._taken_h()
        why = "" if summary_of(name).exists() else self._beyond(price, price.most_hours, taken_h)
        if not why:
            before_h = _device_hours(name)
            self._started[name] = before_h, None if self.hours is None else before_h + self.hours - taken_h
        return why

    def environment(self, name: str) -> dict[str, str]:
        """The environment variable with the bound of a started trial; {} without a bound."""
        bound_h = self._started[name][1]
        return {} if bound_h is None else {BOUND: repr(bound_h)}

    def why_unfinished(self, name: str) -> str:
        """That the budget ended before the first repeat of a started trial was whole; '' where it did not."""
        bound_h = self._started[name][1]
        if bound_h is None or summary_of(name).exists() or _device_hours(name) < bound_h:
            return ""
        return (
            "the budget ended before its first repeat was whole (verify.budget_device_hours, --budget). Its"
            " launches are kept: a larger budget goes on from them"
        )

    def _taken_h(self) -> float:
        """Device-hours of all that was launched since its trial was started."""
        return sum(_device_hours(name) - before_h for name, (before_h, _) in self._started.items())

    def _beyond(self, price: Price, costs_h: float, spent_h: float) -> str:
        if self.hours is None or spent_h + costs_h <= self.hours:
            return ""
        if isnan(costs_h):
            return "what it may take is not known, and there is a budget (verify.budget_device_hours, --budget)"
        left_h = max(0.0, self.hours - spent_h)
        return (
            f"it may take {price.most_hours:.3g} device-hours, and {left_h:.3g} are left of the"
            " budget (verify.budget_device_hours, --budget)"
        )


def _device_hours(name: str) -> float:
    """That the launches of a trial really took so far."""
    return device_hours(summary_of(name).parent)


def summary_of(name: str) -> Path:
    """The table that a trial's study has to have for its score."""
    return Path("results") / name / RESULTS["summary"]


def scored(
    results: Path, chosen: TrialsFile, not_run: Mapping[str, str], refused: Iterable[AdviceError]
) -> VerificationFile:
    """verification.json and verification.csv, of the trials that have results. not_run: why others have none.

    refused: advice that has no trial because its patch is refused.
    """
    verified = []
    runs: dict[str, TrialRun] = {}
    left_out: list[LeftOut] = []
    for trial in chosen.trials:
        folder = summary_of(trial.id).parent
        if summary_of(trial.id).exists():
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
    """Those of a trial's launches, by their ids."""
    mine = runs[runs["run_id"].isin(set(ids))].reindex(columns=["run_id", *TrialRun.model_fields]).astype(object)
    rows = mine.where(mine.notna(), None).to_dict("records")
    return {row.pop("run_id"): TrialRun.model_validate(row) for row in rows}
