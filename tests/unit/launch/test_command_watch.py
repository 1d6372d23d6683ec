"""A script is ended as soon as its step time is known, and at the latest at its limit of steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from own_scripts import command_spec
from scalestudy.launch.foreign.start import prepare
from scalestudy.launch.foreign.watch import STOP, CommandWatch

MEASURE = {"min_steps": 30, "max_steps": 60, "warmup_steps": 5, "max_warmup_steps": 20}


def watch_of(folder: Path) -> CommandWatch:
    spec = command_spec("train.py", 1, folder=folder, measure=MEASURE, run_to_end=False)
    prepare(spec, folder)
    return CommandWatch(spec, folder, stall_limit_s=300)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("at_once", [1, 7, 200])
def test_the_budget_ends_it_whatever_the_steps_are_like(seed: int, at_once: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    times = random.lognormal(0, 1, 200) * np.linspace(1, 3, 200)
    watch = watch_of(tmp_path)
    read = 0
    while not (tmp_path / "attached" / STOP).exists():
        assert read < 60 + 20 + at_once
        read += at_once
        watch._times = times[:read].tolist()
        watch._judge()
    assert watch.look is not None
    assert watch.look.enough


def test_steady_steps_end_it_early(tmp_path: Path) -> None:
    watch = watch_of(tmp_path)
    watch._times = [0.01 + 1e-6 * (step % 2) for step in range(35)]
    watch._judge()
    assert watch.look is not None
    assert watch.look.reason.startswith("goal reached")
    assert (tmp_path / "attached" / STOP).exists()
