"""The baseline and the distributed training take turns in the processes of one run."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from launches import launched, spec_of, succeeded
from scalestudy.analyse.run.alternation import alternation_of
from scalestudy.analyse.run.steps import measured
from scalestudy.measure.quiet import MOST_TIMES
from scalestudy.record.observation import ALTERNATING, ALTERNATING_BASE, LEAD_IN
from scalestudy.record.tables import Observation
from scalestudy.registry.codes import Turns
from scalestudy.train.probes.alternation import LEAD_IN_STEPS, MOST_STEPS
from scalestudy.train.probes.turns import Turn
from scalestudy.train.probes.turns import Turns as TurnsOfRanks

ROUNDS, STEPS = 2, 4
SOON = timedelta(seconds=60)
"""A rank whose peer has ended waits no longer."""
MEASURE = {"alternating_rounds": ROUNDS, "probe_steps": STEPS, "probe_rounds": 2, "warmup_steps": 2}


@pytest.mark.parametrize(
    ("variant", "workload"),
    [
        ({"strategy": "ddp"}, {}),
        pytest.param(
            {"strategy": "ddp", "accumulation_steps": 2, "compile": False},
            {"scaling": ["weak"]},
            marks=pytest.mark.slow,
        ),
        pytest.param({"strategy": "fsdp"}, {}, marks=pytest.mark.slow),
    ],
)
def test_blocks_take_turns_and_every_rank_counts_alike(
    tmp_path: Path, variant: dict[str, Any], workload: dict[str, Any]
) -> None:
    found = succeeded(spec_of(variant, workload, measure=MEASURE), tmp_path)
    turns = found.blocks[found.blocks["phase"].isin([ALTERNATING, ALTERNATING_BASE])]
    leading = turns[turns["rank"] == 0]
    rounds = len(leading) // 4
    assert ROUNDS <= rounds <= MOST_TIMES * ROUNDS  # more than asked where other tests take the cores
    assert list(leading["phase"]) == [ALTERNATING_BASE, ALTERNATING, ALTERNATING, ALTERNATING_BASE] * rounds
    assert set(turns.loc[turns["rank"] == 1, "phase"]) == {ALTERNATING}
    # What follows has the same numbers on both ranks: the probes are distinguished by them.
    rest = found.blocks[found.blocks["phase"] != ALTERNATING_BASE]
    numbers = [
        rest.loc[rest["rank"] == rank, ["block", "phase", "first_step"]].to_numpy().tolist() for rank in (0, 1)
    ]
    assert numbers[0] == numbers[1]
    assert rest["phase"].str.startswith("probe-").any()
    steps = found.steps.groupby(["phase", "rank"]).size()
    counted = turns["steps"].iloc[0] - LEAD_IN_STEPS
    assert set(turns["steps"]) == {counted + LEAD_IN_STEPS}
    assert STEPS < counted <= MOST_STEPS  # of a fraction of a millisecond
    assert steps[ALTERNATING, 0] == steps[ALTERNATING, 1] == steps[ALTERNATING_BASE, 0] == 2 * rounds * counted
    assert steps[LEAD_IN, 0] == 2 * steps[LEAD_IN, 1] == 4 * rounds * LEAD_IN_STEPS
    spec = found.record.spec
    samples = found.steps.groupby("phase")["samples"].first()
    assert (samples[ALTERNATING], samples[ALTERNATING_BASE]) == (spec.batch_per_rank, 64)
    assert turns["core_wait_share"].between(0, 1).all()
    for contended in ([], [0], range(rounds)):
        _check_ratio(found, list(contended))


def test_a_launch_in_reserve_takes_turns_and_may_leave_probes_out(tmp_path: Path) -> None:
    spec = spec_of({"strategy": "ddp"}, measure=MEASURE)
    found = launched(spec, tmp_path, probed=False)
    assert found.record.outcome == "ok", found.record.reason
    assert found.record.spec == spec
    assert found.record.environment["probes_left_out"] is True
    phases = set(found.steps["phase"])
    assert {ALTERNATING, ALTERNATING_BASE} <= phases
    assert not [phase for phase in phases if phase.startswith("probe-")]
    assert found.collectives.empty


def _check_ratio(found: Observation, contended: list[int]) -> None:
    """As if others had taken a core in one block of these rounds: the other rounds count, if there are any."""
    rank_0 = found.blocks[found.blocks["rank"] == 0]
    blocks = {phase: rank_0.loc[rank_0["phase"] == phase, "block"] for phase in (ALTERNATING, ALTERNATING_BASE)}
    rounds = len(blocks[ALTERNATING]) // 2
    quiet = [number for number in range(rounds) if number not in contended] or list(range(rounds))
    counted = {phase: [b for n in quiet for b in numbers[2 * n : 2 * n + 2]] for phase, numbers in blocks.items()}
    waits = dict.fromkeys((blocks[ALTERNATING].iloc[2 * number + 1] for number in contended), 0.5)
    shares = found.blocks["block"].map(waits).where(found.blocks["rank"] == 1).fillna(0.01)
    blocks_given = found.blocks.assign(core_wait_share=shares)
    changed = replace(found, tables={**found.tables, "blocks": blocks_given})
    base_s, mine_s = (_median_s(found, counted[phase]) for phase in (ALTERNATING_BASE, ALTERNATING))
    assert alternation_of(changed) == {
        "turns": Turns.CONTENDED if len(contended) == rounds else Turns.MADE,
        "speedup_in_launch": pytest.approx(base_s / 64 / (mine_s / found.record.spec.global_batch)),
        "alternating_blocks": 2 * len(quiet),
        "contended_rounds": len(contended),
    }


def _median_s(found: Observation, blocks: Sequence[int]) -> float:
    """Seconds of a step: the median over blocks, each as long as its slowest rank. Lead-ins do not count."""
    steps = found.steps[found.steps["block"].isin(blocks) & (found.steps["phase"] != LEAD_IN)]
    return float(steps.groupby(["block", "rank"])["step_time_s"].mean().groupby("block").max().median())


def test_rounds_in_which_others_take_a_core_are_made_again(tmp_path: Path) -> None:
    """Beside a process on every core that is always ready to run, hardly a round is quiet."""
    spawn = multiprocessing.get_context("spawn")
    others = [spawn.Process(target=_take_a_core, args=(core,), daemon=True) for core in os.sched_getaffinity(0)]
    workload = {"model": {"type": "convnet", "channels": 16, "num_layers": 3}, "batch_size": 64}
    for other in others:
        other.start()
    try:
        found = succeeded(spec_of({"strategy": "ddp"}, workload, measure=MEASURE), tmp_path)
    finally:
        for other in others:
            other.terminate()
            other.join()
    turns = found.blocks[(found.blocks["rank"] == 0) & (found.blocks["phase"] == ALTERNATING)]
    assert ROUNDS < len(turns) // 2 <= MOST_TIMES * ROUNDS
    assert alternation_of(found)["contended_rounds"] >= 1


def _take_a_core(core: int) -> None:
    os.sched_setaffinity(0, {core})
    while True:
        sum(range(10000))


@pytest.mark.slow
def test_turns_leave_the_training_as_it_was(tmp_path: Path) -> None:
    """The same losses to the last digit, step by step, with and without them."""
    found = [
        succeeded(spec_of({"strategy": "ddp"}, measure=MEASURE | {"alternating_rounds": rounds}), tmp_path)
        for rounds in (0, ROUNDS)
    ]
    losses = [one.steps.loc[one.steps["phase"].isin(["warmup", "measured"]), "loss"].tolist() for one in found]
    assert losses[0] == losses[1]


@pytest.mark.slow
def test_a_launch_without_memory_for_the_base_case_is_measured_all_the_same(tmp_path: Path) -> None:
    """The limit allows the memory of the training and most of the parameters in addition."""
    model = {"type": "mlp", "hidden_dim": 2048, "num_layers": 4}
    workload = {"model": model, "batch_size": 8, "epochs": 0}
    few = {"warmup_steps": 2, "max_warmup_steps": 2, "min_steps": 10, "max_steps": 10}

    def launch(limit_gib: float | None = None, **measure: int) -> Observation:
        host = {"memory_limit_gib": limit_gib}
        return succeeded(spec_of({"strategy": "ddp"}, workload, measure=few | measure, host=host), tmp_path)

    free = launch()
    parameters_gib = (free.record.totals.parameters or 0) * 4 / 2**30
    peak_gib = max(rank.memory.peak_resident_gib for rank in free.record.ranks)
    found = launch(peak_gib + 0.8 * parameters_gib, alternating_rounds=1)
    assert "no memory for the baseline" in (found.record.totals.alternation_failed or "")
    assert alternation_of(found)["turns"] == Turns.NO_MEMORY
    assert measured(found, confidence=0.95)["steady_steps"] >= 10


def _follow(port: int, told: multiprocessing.Queue[tuple[Turn, float, float]]) -> None:
    store = dist.TCPStore("127.0.0.1", port, 2, is_master=False)
    dist.init_process_group("gloo", store=store, rank=1, world_size=2, timeout=SOON)
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
        dist.init_process_group("gloo", store=store, rank=0, world_size=2, timeout=SOON)
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
