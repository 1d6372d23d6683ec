"""The base case and the distributed training take turns in the processes of one launch."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from launches import spec_of, succeeded
from scalestudy.analyse.run.alternation import alternation_of
from scalestudy.analyse.run.steps import measured
from scalestudy.record.observation import ALTERNATING, ALTERNATING_BASE, LEAD_IN, Observation
from scalestudy.registry.codes import Turns
from scalestudy.train.probes.alternation import LEAD_IN_STEPS
from scalestudy.train.probes.turns import Turn
from scalestudy.train.probes.turns import Turns as TurnsOfRanks

ROUNDS, STEPS = 2, 4
MEASURE = {"alternating_rounds": ROUNDS, "probe_steps": STEPS, "probe_rounds": 2, "warmup_steps": 2}


@pytest.mark.parametrize(
    ("variant", "workload"),
    [
        ({"strategy": "ddp"}, {}),
        ({"strategy": "ddp", "accumulation_steps": 2, "compile": False}, {"scaling": ["weak"]}),
        ({"strategy": "fsdp"}, {}),
    ],
)
def test_blocks_take_turns_and_every_rank_counts_alike(
    tmp_path: Path, variant: dict[str, Any], workload: dict[str, Any]
) -> None:
    found = succeeded(spec_of(variant, workload, measure=MEASURE), tmp_path)
    turns = found.blocks[found.blocks["phase"].isin([ALTERNATING, ALTERNATING_BASE])]
    leading = turns[turns["rank"] == 0]
    assert list(leading["phase"]) == [ALTERNATING_BASE, ALTERNATING, ALTERNATING, ALTERNATING_BASE] * ROUNDS
    assert set(turns.loc[turns["rank"] == 1, "phase"]) == {ALTERNATING}
    # What follows has the same numbers on both ranks: the probes are told apart by them.
    rest = found.blocks[found.blocks["phase"] != ALTERNATING_BASE]
    numbers = [
        rest.loc[rest["rank"] == rank, ["block", "phase", "first_step"]].to_numpy().tolist() for rank in (0, 1)
    ]
    assert numbers[0] == numbers[1]
    assert rest["phase"].str.startswith("probe-").any()
    steps = found.steps.groupby(["phase", "rank"]).size()
    assert steps[ALTERNATING, 0] == steps[ALTERNATING, 1] == steps[ALTERNATING_BASE, 0] == 2 * ROUNDS * STEPS
    assert steps[LEAD_IN, 0] == 2 * steps[LEAD_IN, 1] == 4 * ROUNDS * LEAD_IN_STEPS
    spec = found.record.spec
    samples = found.steps.groupby("phase")["samples"].first()
    assert (samples[ALTERNATING], samples[ALTERNATING_BASE]) == (spec.batch_per_rank, 64)
    by_hand = _median_s(found, ALTERNATING_BASE, 64) / _median_s(found, ALTERNATING, spec.global_batch)
    expected = {"turns": Turns.MADE, "speedup_in_launch": pytest.approx(by_hand), "alternating_blocks": 2 * ROUNDS}
    assert alternation_of(found) == expected


def _median_s(found: Observation, phase: str, samples: int) -> float:
    """Seconds a sample: blocks take as long as their slowest rank."""
    steps = found.steps[found.steps["phase"] == phase]
    return float(steps.groupby(["block", "rank"])["step_time_s"].mean().groupby("block").max().median()) / samples


def test_turns_leave_the_training_as_it_was(tmp_path: Path) -> None:
    """The same losses to the last digit, step by step, with and without them."""
    found = [
        succeeded(spec_of({"strategy": "ddp"}, measure=MEASURE | {"alternating_rounds": rounds}), tmp_path)
        for rounds in (0, ROUNDS)
    ]
    losses = [one.steps.loc[one.steps["phase"].isin(["warmup", "measured"]), "loss"].tolist() for one in found]
    assert losses[0] == losses[1]


def test_a_launch_without_memory_for_the_base_case_is_measured_all_the_same(tmp_path: Path) -> None:
    """The limit has room for what the training takes, and for half of the parameters beside it."""
    model = {"type": "mlp", "hidden_dim": 2048, "num_layers": 4}
    workload = {"model": model, "batch_size": 8, "epochs": 0}
    few = {"warmup_steps": 2, "max_warmup_steps": 2, "min_steps": 10, "max_steps": 10}

    def launch(limit_gib: float | None = None, **measure: int) -> Observation:
        host = {"memory_limit_gib": limit_gib}
        return succeeded(spec_of({"strategy": "ddp"}, workload, measure=few | measure, host=host), tmp_path)

    free = launch()
    parameters_gib = (free.record.totals.parameters or 0) * 4 / 2**30
    peak_gib = max(rank.memory.peak_resident_gib for rank in free.record.ranks)
    found = launch(peak_gib + parameters_gib / 2, alternating_rounds=1)
    assert "no memory for the base case" in (found.record.totals.alternation_failed or "")
    assert alternation_of(found)["turns"] == Turns.NO_MEMORY
    assert measured(found, confidence=0.95)["steady_steps"] >= 10


def _follow(port: int, told: multiprocessing.Queue[tuple[Turn, float, float]]) -> None:
    store = dist.TCPStore("127.0.0.1", port, 2, is_master=False)
    dist.init_process_group("gloo", store=store, rank=1, world_size=2)
    turns = TurnsOfRanks()
    begin, busy = time.monotonic(), time.process_time()
    turn = turns.take()
    told.put((turn, time.monotonic() - begin, time.process_time() - busy))
    dist.destroy_process_group()


def test_whoever_waits_for_its_turn_sleeps() -> None:
    spawn = multiprocessing.get_context("spawn")
    told = spawn.Queue()
    store = dist.TCPStore("127.0.0.1", 0, 2, is_master=True, wait_for_workers=False)
    other = spawn.Process(target=_follow, args=(store.port, told))
    other.start()
    try:
        dist.init_process_group("gloo", store=store, rank=0, world_size=2)
        turns = TurnsOfRanks()
        time.sleep(2)
        turns.give(Turn(12, 3, refused="no memory"))
        turn, waited_s, busy_s = told.get(timeout=60)
    finally:
        other.join(60)
        dist.destroy_process_group()
    assert turn == Turn(12, 3, refused="no memory")
    assert waited_s > 1
    assert busy_s < 0.1 * waited_s
