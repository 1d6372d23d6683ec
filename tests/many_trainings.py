"""Trainings one after another in the same processes: `[torchrun] many_trainings.py DIRECTORY...`.

Each directory has a spec.json. Starting the processes takes longer than any of these trainings. The process group
is made once and kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch.distributed as dist
from scalestudy.record.observation import RankReport
from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.study.spec import parse_spec
from scalestudy.train.gauges import Gauges
from scalestudy.train.loop import Trainer
from scalestudy.train.place.placement import Placement, place_rank
from scalestudy.train.strategies import make_strategy
from scalestudy.train.strategies.sync_batch_norm import synchronised_norms


def train(directory: Path, place: Placement) -> None:
    """Train once; write this rank's part to the directory."""
    spec = parse_spec((directory / "spec.json").read_text())
    recorder, gauges = RankRecorder(directory, rank=place.rank), Gauges(place)
    trainer = Trainer(spec, place, make_strategy(spec, place), recorder, gauges)
    stopping = trainer.train()
    facts = {"buffer_bytes": trainer.buffer_bytes, "synchronised_norms": synchronised_norms(trainer.plain)}
    report = RankReport(
        rank=place.rank,
        host="here",
        node=place.node,
        device="cpu",
        cores=place.cores,
        threads=place.threads,
        outcome="ok",
        reason="",
        waited=False,
        steps=recorder.steps,
        memory=gauges.memory(),
    )
    recorder.write(report, facts, stopping)


def main() -> None:
    directories = [Path(name) for name in sys.argv[1:]]
    place = place_rank(parse_spec((directories[0] / "spec.json").read_text()).host)
    if place.world_size > 1:
        dist.init_process_group("gloo")
        dist.init_process_group = lambda *_, **__: None  # each strategy would initialise it again
    for directory in directories:
        train(directory, place)
    if place.world_size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
