"""Real runs of small studies, without a workflow around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import torch
from conftest import handlers_kept
from scalestudy.launch.run import measure_run
from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.record.tables import Observation, read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.limits import Limits
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec
from scalestudy.train.gauges import Gauges
from scalestudy.train.loop import Trainer
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Strategy

DIGITS_MLP: dict[str, Any] = {
    "model": {"type": "mlp", "hidden_dim": 32, "num_layers": 2},
    "data": {"type": "digits"},
    "optimizer": {"type": "sgd", "learning_rate": 0.05},
    "batch_size": 64,
    "epochs": 2,
}


def spec_of(
    variant: dict[str, Any], workload: dict[str, Any] | None = None, *, scale: str = "1x2", **study: Any
) -> RunSpec:
    """Return the spec of a variant of a workload, on a CPU and without probes unless `study` sets others."""
    content = {
        "study": "launches",
        "repeats": 1,
        "scales": [scale],
        "variants": {"base": {"strategy": "single"}, "tried": variant | {"base": "base"}},
        "workloads": {"first": DIGITS_MLP | (workload or {})},
        "report": {"overhead_reference": False},
        **study,
        "host": {"device": "cpu"} | study.get("host", {}),
        "measure": {"probe_rounds": 0} | study.get("measure", {}),
    }
    if variant["strategy"] == "single":
        content["variants"] = {"tried": variant}
    (spec,) = (s for s in make_plan(parse_study(content, source="x")).runs.values() if s.variant == "tried")
    return spec


def launched(spec: RunSpec, results: Path, *, probed: bool = True) -> Observation:
    """Make a run of a spec and return its observation. probed: False leaves out the probes of communication."""
    with handlers_kept():
        record, _ = measure_run(spec, results, limits=Limits(time_limit_min=3), probed=probed)
    return read_observation(results / "runs" / record.run_id)


def succeeded(spec: RunSpec, results: Path) -> Observation:
    """Make a run that must succeed, and return its observation."""
    observation = launched(spec, results)
    assert observation.record.outcome == "ok", "\n".join([observation.record.reason, *observation.record.log_tail])
    return observation


def step_losses(steps: pd.DataFrame) -> pd.Series:
    """Return the loss of every training step (mean over ranks)."""
    training = steps[steps["phase"].isin(["warmup", "measured", "tail"])]
    return training.groupby("step")["loss"].mean()


def trainer_of(spec: RunSpec, directory: Path) -> Trainer:
    """Return the trainer of a spec of one process, in this process, without binding it to cores."""
    place = Placement(
        rank=0,
        world_size=1,
        node="here",
        local_rank=0,
        local_world_size=1,
        cores=(0,),
        threads=1,
        device=torch.device("cpu"),
        backend="gloo",
        choice="",
    )
    return Trainer(spec, place, Strategy(spec, place), RankRecorder(directory, rank=0), Gauges(place))
