"""How long does training take to the same accuracy at twice and four times the batch? Predictions and measurement.

    python -m bench.time_to_accuracy [--workloads NAME ...] [--repeats 8] [--minutes 40] [--folder F]

A study holds a workload, and the same at twice and four times the batch, with the learning rate that advice of a
larger batch has (SGD: in proportion; Adam: by the square root). The time at the larger batch is predicted from the
rows of the smallest one: throughput by the step model, samples by the gradient noise scale
(diagnose/larger_batch.py). So it is for one process, and for two ranks at a fixed and at a growing global batch.
Each is held against the times of five runs with seeds of their own, in common repeats. The target is no choice
of ours: it is 95 % of the accuracy that one process has at its end. Crossings are interpolated between the ends of
epochs.

Rows are kept in docs/measurements/time_to_accuracy.csv. A workload that has rows is not measured again. With
--repeats the named workloads are launched more often, and their rows are of all runs: for limits that are
wider than the study wants.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from math import exp, inf, isnan, log
from pathlib import Path
from statistics import median
from tempfile import gettempdir
from typing import Any

import pandas as pd
from scalestudy.analyse.forecast.batches import step_model
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.point.accuracy import time_to_accuracy
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, mean_on_logs
from scalestudy.diagnose.case import Case, make_cases
from scalestudy.diagnose.larger_batch import prediction_at
from scalestudy.registry.words.percent import percent
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan

from bench.learnable import write_cifar, write_news
from bench.verification import DOCS, HOST, launch_all, read

ROWS = DOCS / "measurements/time_to_accuracy.csv"
FOLDER = Path(gettempdir()) / "scalestudy-time-to-accuracy"
TIMES = (2, 4)
REPEATS = 5
LEVEL = 0.90
TARGET_SHARE = 0.95
"""Of the accuracy that one process ends with. At the end itself accuracy hardly rises, and chance says when it is
reached."""
MORE_EPOCHS = 1.5
"""Of a larger batch, which may need more samples to the same accuracy."""

DIGITS = {"type": "digits", "validation_fraction": 0.2}
NEWS = {"type": "ag-news", "path": "news", "sequence_length": 32, "vocabulary": 800}
CIFAR = {"type": "cifar", "path": "cifar", "max_samples": 4000}


def sgd(rate: float) -> dict[str, Any]:
    return {"type": "sgd", "learning_rate": rate, "momentum": 0.9}


def adam(rate: float, kind: str = "adam") -> dict[str, Any]:
    return {"type": kind, "learning_rate": rate}


def mlp(width: int, layers: int) -> dict[str, Any]:
    return {"type": "mlp", "hidden_dim": width, "num_layers": layers}


def convnet(channels: int, layers: int) -> dict[str, Any]:
    return {"type": "convnet", "channels": channels, "num_layers": layers}


def encoder(width: int) -> dict[str, Any]:
    return {"type": "text-classifier", "d_model": width, "heads": 2, "num_layers": 1}


WORKLOADS: dict[str, dict[str, Any]] = {
    "digits-convnet-adam": {
        "model": convnet(16, 3),
        "data": DIGITS,
        "optimizer": adam(0.005),
        "batch_size": 16,
        "epochs": 10,
    },
    "digits-convnet-sgd": {
        "model": convnet(16, 2),
        "data": DIGITS,
        "optimizer": sgd(0.03),
        "batch_size": 16,
        "epochs": 10,
    },
    "digits-convnet-wide-adamw": {
        "model": convnet(24, 2),
        "data": DIGITS,
        "optimizer": adam(0.003, "adamw"),
        "batch_size": 16,
        "epochs": 10,
    },
    "digits-convnet-deep-sgd": {
        "model": convnet(24, 3),
        "data": DIGITS,
        "optimizer": sgd(0.02),
        "batch_size": 16,
        "epochs": 10,
    },
    "digits-convnet-narrow-adam": {
        "model": convnet(8, 3),
        "data": DIGITS,
        "optimizer": adam(0.005),
        "batch_size": 16,
        "epochs": 10,
    },
    "digits-convnet-shallow-adamw": {
        "model": convnet(32, 1),
        "data": DIGITS,
        "optimizer": adam(0.003, "adamw"),
        "batch_size": 16,
        "epochs": 10,
    },
    "images-mlp-sgd": {
        "model": mlp(64, 2),
        "data": CIFAR,
        "optimizer": sgd(0.0003),
        "batch_size": 16,
        "epochs": 5,
    },
    "images-mlp-adam": {
        "model": mlp(64, 3),
        "data": CIFAR,
        "optimizer": adam(0.00005),
        "batch_size": 16,
        "epochs": 5,
    },
    "news-adamw": {
        "model": encoder(32),
        "data": NEWS,
        "optimizer": adam(0.001, "adamw"),
        "batch_size": 16,
        "epochs": 5,
    },
    "news-wide-adam": {
        "model": encoder(64),
        "data": NEWS,
        "optimizer": adam(0.0005),
        "batch_size": 16,
        "epochs": 6,
    },
    "news-wide-slow-adam": {
        "model": encoder(64),
        "data": NEWS,
        "optimizer": adam(0.0002),
        "batch_size": 16,
        "epochs": 6,
    },
    "news-sgd": {"model": encoder(32), "data": NEWS, "optimizer": sgd(0.02), "batch_size": 16, "epochs": 6},
}


@dataclass(frozen=True)
class Row:
    """A prediction and the measured seconds of training to the target."""

    workload: str
    ranks: int
    scaling: str
    times: int
    """The batch over that of the workload."""
    global_batch: int
    target: float
    before: float
    noise_scale: float
    gain: float
    """Predicted throughput over that before."""
    predicted: float
    predicted_low: float
    predicted_high: float
    measured: float
    measured_low: float
    measured_high: float
    reached: int
    """Launches that reached the target after their first epoch: the smaller number of the two batches."""

    @property
    def equal_samples(self) -> float:
        """If a sample were worth the same at any batch."""
        return self.before / self.gain

    @property
    def equal_steps(self) -> float:
        """If a step were worth the same at any batch."""
        return self.times * self.before / self.gain


def study_of(name: str, repeats: int = REPEATS) -> dict[str, Any]:
    """The workload at its batch, at twice and at four times that."""
    workload = WORKLOADS[name] | {"scaling": ["strong", "weak"]}
    content: dict[str, Any] = {
        "study": name,
        "seed": 500,
        "repeats": repeats,
        "scales": ["1x2"],
        "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
        "workloads": {name: workload},
        "host": HOST,
        "measure": {"probe_steps": 5, "probe_rounds": 3},
        "report": {"confidence": LEVEL},
    }
    optimizer = parse_study(content, source=name).workloads[name].optimizer
    for times in TIMES:
        rate = workload["optimizer"]["learning_rate"] * optimizer.advised_scale(times)
        content["workloads"][f"{name}-x{times}"] = workload | {
            "batch_size": times * workload["batch_size"],
            "epochs": round(MORE_EPOCHS * workload["epochs"]),
            "optimizer": workload["optimizer"] | {"learning_rate": rate},
        }
    return content


def measured(name: str, folder: Path, repeats: int) -> list[Row]:
    """Run the study, as far as it is not finished."""
    write_news(folder / "news")
    write_cifar(folder / "cifar")
    content = study_of(name, repeats)
    plan, results = launch_all(content, folder)
    frames = (
        pd.read_csv(results / file)
        for file in ("comprehensive_summary.csv", "runs.csv", "epochs.csv", "forecasts.csv")
    )
    return list(rows_of(name, plan, *frames))


def rows_of(
    name: str,
    plan: Plan,
    summary: pd.DataFrame,
    runs: pd.DataFrame,
    epochs: pd.DataFrame,
    forecasts: pd.DataFrame,
) -> Iterator[Row]:
    """A row for one process, strong and weak scaling on two ranks, at each larger batch."""
    study = plan.study
    own = [case for case in make_cases(study, summary, forecasts) if case.point["workload"] == name]
    alone = next(case for case in own if case.point["scaling"] == "strong")
    target = _target(alone.base, plan, epochs)
    for case in (_of_one_process(alone), *own):
        try:
            model = step_model(case.alone)
        except NoFitError:  # where the step does not grow with the batch, no batch is advised
            continue
        batch = study.workloads[name].batch_size
        before, first = _reached(case.point, plan, runs, epochs, target)
        for times in TIMES:
            after = summary[
                (summary["workload"] == f"{name}-x{times}") & (summary["scaling"] == case.point["scaling"])
            ]
            point = after[
                (after["world_size"] == case.ranks)
                & (after["batch_per_rank"] == times * case.point["batch_per_rank"])
            ].iloc[0]
            came, reached = _reached(point, plan, runs, epochs, target)
            told = prediction_at(case, model, times * batch)
            predicted = told.progress.inverse(before.value)  # both are of the same repeats and seeds
            yield Row(
                workload=name,
                ranks=case.ranks,
                scaling=case.point["scaling"],
                times=times,
                global_batch=int(point["global_batch"]),
                target=round(target, 4),
                before=before.value,
                noise_scale=case.noise_scale.value,
                gain=told.gain.value,
                predicted=predicted.value,
                predicted_low=predicted.low,
                predicted_high=predicted.high,
                measured=came.value,
                measured_low=came.low,
                measured_high=came.high,
                reached=min(first, reached),
            )


def _of_one_process(case: Case) -> Case:
    """The baseline as a point of its own, which has no overhead."""
    point = case.base.copy()
    for end in ("", "_low", "_high"):
        point[f"overhead_s{end}"] = 0.0
    return Case(case.study, point, case.base, case.alone, case.forecasts, case.peers, case.smaller)


def _runs_of(point: pd.Series, plan: Plan) -> tuple[str, ...]:
    return next(
        one.runs
        for one in plan.points
        if (one.workload, one.variant, one.scaling, one.world_size, one.batch_per_rank)
        == tuple(point[["workload", "variant", "scaling", "world_size", "batch_per_rank"]])
    )


def _target(base: pd.Series, plan: Plan, epochs: pd.DataFrame) -> float:
    """TARGET_SHARE of the mean accuracy of one process after its last epoch."""
    of_base = epochs[epochs["run_id"].isin(_runs_of(base, plan))]
    last = of_base["epoch"] == of_base["epoch"].max()
    return TARGET_SHARE * float(of_base.loc[last, "validation_accuracy"].mean())


def _reached(
    point: pd.Series, plan: Plan, runs: pd.DataFrame, epochs: pd.DataFrame, target: float
) -> tuple[Interval, int]:
    """(seconds to the target, geometric mean over runs that reach it, at LEVEL; how many reach it).

    Launches that reach it in their first epoch do not count: nobody knows where in it.
    """
    good = runs[runs["run_id"].isin(_runs_of(point, plan)) & (runs["outcome"] == "ok")]["run_id"]
    of_runs = [epochs[epochs["run_id"] == run].sort_values("epoch") for run in good]
    later = [one for one in of_runs if one["validation_accuracy"].iloc[0] < target]
    known = [seconds for seconds in (time_to_accuracy(one, target) for one in later) if not isnan(seconds)]
    return (mean_on_logs(known, confidence=LEVEL) if known else NOTHING), len(known)


def write(path: Path, rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            values = asdict(row).items()
            writer.writerow(
                {name: f"{value:.5g}" if isinstance(value, float) else value for name, value in values}
            )


def summary_of(rows: Sequence[Row]) -> list[str]:
    """Results of all rows together. A run that never reached the target is in no mean: such rows are counted."""
    whole = [row for row in rows if row.reached >= REPEATS and not isnan(row.predicted_low)]
    held = sum(row.predicted_low <= row.measured <= row.predicted_high for row in whole)
    widths = [max(row.predicted_high / row.predicted, row.predicted / row.predicted_low) for row in whole]

    def error(name: str) -> float:
        return median(abs(log(getattr(row, name) / row.measured)) for row in whole)

    said = [
        f"{len(rows)} predictions over {len({row.workload for row in rows})} workloads; in"
        f" {len(rows) - len(whole)} of them a run did not reach the target, or did so in its first epoch, or"
        " nothing was predicted.",
    ]
    if not whole:
        return said
    return [
        *said,
        f"Of {len(whole)}, {held} measured times ({percent(held / len(whole))}) are within the predicted limits,"
        f" which are a factor of {median(widths):.2f} each way (median; largest {max(widths):.2f}).",
        f"Median error: {percent(exp(error('predicted')) - 1)}; with equal samples"
        f" {percent(exp(error('equal_samples')) - 1)}, with equal steps {percent(exp(error('equal_steps')) - 1)}.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=[*WORKLOADS])
    parser.add_argument("--repeats", type=int, default=REPEATS, help="launches of each point; with --workloads")
    parser.add_argument("--minutes", type=float, default=inf, help="begin no workload after this many minutes")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where studies are")
    arguments = parser.parse_args()
    rows, begin = read(ROWS, Row), time.monotonic()
    for name in arguments.workloads:
        known = any(row.workload == name for row in rows) and arguments.repeats == REPEATS
        if known or time.monotonic() - begin > 60 * arguments.minutes:
            continue
        began = time.monotonic()
        new = measured(name, arguments.folder.absolute(), arguments.repeats)
        if any(row.workload == name for row in rows):
            at = min(index for index, row in enumerate(rows) if row.workload == name)
            rows = [row for row in rows if row.workload != name]
            rows[at:at] = new
        else:
            rows += new
        write(ROWS, rows)
        print(f"{name} ({time.monotonic() - began:.0f} s)", *summary_of(new), sep="\n  ", flush=True)
    print("\n".join(summary_of(rows)))


if __name__ == "__main__":
    main()
