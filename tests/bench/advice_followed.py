"""Advice that is followed to its end: a text classifier that two ranks train more slowly than one process.

    python -m bench.advice_followed [--folder F]

The small form of AG News (tests/bench/learnable.py) scales negatively on two ranks of this host. The larger batch
that the findings advise is launched beside the batch before, as `scalestudy verify` does it. Its own findings are
followed next, until the lower limit of the speedup is above 1 or no larger batch is advised. Printed are the gains
as predicted and as measured, the speedups, and the accuracies of all sides.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pandas as pd
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.cli.results.inputs import table_of
from scalestudy.diagnose.findings import Diagnosis, Recommendation
from scalestudy.diagnose.study import diagnose_study
from scalestudy.study.plan import Plan
from scalestudy.verify.model import Place
from scalestudy.verify.score import score
from scalestudy.verify.trials import make_trial, with_point

from bench.learnable import write_news
from bench.verification import HOST, launch_all

FOLDER = Path(gettempdir()) / "scalestudy-advice-followed"
REPEATS = 6
MOST_STEPS = 4
STUDY: dict[str, Any] = {
    "study": "news",
    "seed": 1,
    "repeats": REPEATS,
    "max_repeats": REPEATS,
    "scales": ["1x2"],
    "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
    "workloads": {
        "small": {
            "model": {"type": "text-classifier", "d_model": 64, "heads": 2, "num_layers": 1},
            "data": {"type": "ag-news", "path": "news", "sequence_length": 32, "vocabulary": 800},
            "optimizer": {"type": "adamw", "learning_rate": 0.0005},
            "batch_size": 16,
            "epochs": 8,
            "scaling": ["strong"],
        }
    },
    "host": HOST,
    "measure": {"probe_steps": 5, "probe_rounds": 3},
}


def follow(folder: Path) -> None:
    """Run the study, follow the advice, and report the outcome."""
    write_news(folder / "news")
    plan, results = launch_all(STUDY, folder)
    workload = "small"
    say_rows(plan, results)
    for _ in range(MOST_STEPS):
        diagnosis = diagnosis_of(plan, results, workload)
        found = larger_batch(diagnosis)
        if found is None:
            print(f"no larger batch is advised: {[advice.change for _, advice in diagnosis.recommendations]}")
            return
        cause, advice = found
        print(f"\n{cause}: {advice.change}", flush=True)
        at = Place.of(diagnosis)
        trial, content = make_trial(plan.study, at, cause, advice)
        content["measure"] |= {"probe_rounds": STUDY["measure"]["probe_rounds"]}  # for its own findings
        plan, results = launch_all(with_point(content, at), folder)
        came = score(trial, plan, *(table_of(results, name) for name in ("summary", "runs", "epochs")))
        predicted = trial.predicted
        assert predicted is not None
        after = came.quantities["speedup"].after
        print(
            f"gain predicted {said(predicted.gain)}, measured {said(came.gain)}: {came.verdict}; speedup predicted"
            f" {said(predicted.speedup)}, measured {said(after)}; accuracy after less before"
            f" {said(came.accuracy_difference.scaled(100))} points ({came.accuracy_kept})"
        )
        say_rows(plan, results)
        workload = trial.after.workload
        if after.low > 1:
            print("two ranks are faster than one process, with the whole interval")
            return


def diagnosis_of(plan: Plan, results: Path, workload: str) -> Diagnosis:
    found = diagnose_study(plan.study, table_of(results, "summary"), table_of(results, "forecasts"))
    return next(one for one in found if one.workload == workload)


def larger_batch(diagnosis: Diagnosis) -> tuple[str, Recommendation] | None:
    """(cause, advice), also where other advice comes first."""
    known = (found for found in diagnosis.recommendations if found[1].id == "larger_batch" and found[1].patch)
    return next(known, None)


def say_rows(plan: Plan, results: Path) -> None:
    for _, row in table_of(results, "summary").iterrows():
        if row["scaling"] == "strong":
            print(f"  {row_said(row)}", flush=True)


def row_said(row: pd.Series) -> str:
    accuracy = ", ".join(f"{100 * row[f'validation_accuracy{end}']:.1f}" for end in ("_min", "", "_max"))
    return (
        f"{row['workload']} {row['variant']} batch {row['global_batch']}: step"
        f" {said(Interval.of(row, 'step_time_s').scaled(1e3))} ms, speedup {said(Interval.of(row, 'speedup'))},"
        f" accuracy (least, mean, most) {accuracy} %"
    )


def said(interval: Interval) -> str:
    return f"{interval.value:.3g} [{interval.low:.3g}, {interval.high:.3g}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where studies stand")
    follow(parser.parse_args().folder.absolute())


if __name__ == "__main__":
    main()
