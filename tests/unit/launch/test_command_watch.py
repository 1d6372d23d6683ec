"""A script is ended as soon as its step time is known, and at the latest at its limit of steps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from own_scripts import command_spec
from scalestudy.launch.foreign.start import prepare
from scalestudy.launch.foreign.watch import STOP, CommandWatch
from scalestudy.launch.progress import Progress

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


def report(folder: Path, rank: int, **facts: object) -> None:
    content = {"rank": rank, "steps": 3, "enough": False, "final": False} | facts
    (folder / "attached" / f"{rank}.json").write_text(json.dumps(content))


def test_a_report_that_cannot_be_read_for_a_moment_is_read_later(tmp_path: Path) -> None:
    """As on NFS, where a process on another node replaces it. A folder in its place is such an error anywhere."""
    watch = watch_of(tmp_path)
    replaced = tmp_path / "attached" / "0.json"
    replaced.mkdir()
    assert watch.check() > 0
    replaced.rmdir()
    report(tmp_path, 0, final=True, enough=True)
    watch._next_of_all_s = 0
    watch.check()
    assert watch._reported_at is not None


@pytest.mark.parametrize("content", [None, "", '{"done": 3'])
def test_progress_that_cannot_be_read_ends_no_run(content: str | None, tmp_path: Path) -> None:
    progress = Progress(tmp_path, name="run")
    progress._next_line = 0
    path = tmp_path / "progress.json"
    path.mkdir() if content is None else path.write_text(content)
    progress.watch()
    progress.close()
