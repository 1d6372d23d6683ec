"""Console logs with a table whose cells are separated by spaces: a step takes 0.5 s."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from test_logs_of_any_trainer import imported, refused


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


HEADER = f"{'Step (% Done)':20}{'Train Iter (time)':21}{'ETA (time)':21}{'Train Rays / Sec':23}"


def of_rays(step: int, place: str) -> str:
    done, left = f"{step} ({step / 50:.2f}%)", f"{3 + step % 7} s, {step % 900}.25 ms"
    return f"{done:20}{'500.125 ms':21}{left:21}{'14.86 M':23}{place}"


@pytest.mark.parametrize("place", ["", "    train.py:566"], ids=["", "with the place in the program"])
def test_a_header_of_several_words_that_is_printed_again(place: str, tmp_path: Path) -> None:
    header = HEADER + place.replace("566", "604")
    lines = [line for step in range(10, 90, 10) for line in (header, "-" * 80, of_rays(step, place))]
    run = imported(written(tmp_path / "log", *lines), devices=1, batch=4096)
    assert run.step_s == pytest.approx(0.500125)
    assert run.steps_per_row == 10


@pytest.mark.parametrize("name", ["sec/step", "step_time(s)", "step time (ms)"])
def test_a_row_of_numbers_below_their_names(name: str, tmp_path: Path) -> None:
    factor = 1000 if "ms" in name else 1
    rows = [f"{at:6d}  {2.5 - at / 900:8.4f}  0.001  {0.5 * factor:10.4f}" for at in range(10, 400, 10)]
    path = written(tmp_path / "log", "Using 1 device", f"  step      loss     lr  {name:>10}", *rows)
    assert imported(path, devices=1, batch=64).step_s == pytest.approx(0.5)


def test_a_row_per_epoch(tmp_path: Path) -> None:
    """An epoch is 1000 steps of 64 samples."""
    rows = [f"{at:<10}{2.5 - at / 90:<12.6f}{2.75:<12.6f}{0.5:<10.6f}08:20  " for at in range(9)]
    path = written(tmp_path / "log", "epoch     train_loss  valid_loss  accuracy  time    ", *rows)
    assert "add --batch log=N" in refused(path, devices=1)
    run = imported(path, devices=1, batch=64, samples=64_000)
    assert run.step_s == pytest.approx(0.5)


def test_a_time_that_may_be_of_several_steps_is_asked_for(tmp_path: Path) -> None:
    rows = [f"{at:6d}  {2.5 - at / 900:8.4f}  {0.5 + at % 3 / 90:10.4f}" for at in range(10, 400, 10)]
    said = refused(written(tmp_path / "log", "  step      loss     time(s)", *rows), devices=1, batch=64)
    assert "the time of one step, or of the 10 steps" in said


def test_other_tables_of_spaces_are_refused(tmp_path: Path) -> None:
    rows = [f"{at:6d}  {at / 9:8.4f}  {at / 7:10.4f}" for at in range(10, 400, 10)]
    said = refused(written(tmp_path / "log", "  step      loss     accuracy", *rows), devices=1, batch=64)
    assert "no line that names a step number and a time" in said


def test_the_format_by_its_name(tmp_path: Path) -> None:
    rows = [f"{at:6d}  0.5 s" for at in range(1, 40)]
    (log,) = read_log(written(tmp_path / "log", "step   step time", *rows), Given(), name="spaced-table")
    assert len(log.columns["step"]) == 39
