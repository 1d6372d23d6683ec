"""Logs whose counts are of samples, whose numbers have few digits, or which consist of boxes."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.tables import find_tables
from test_logs_of_any_trainer import imported, refused


def bars_of_samples(path: Path) -> Path:
    rows = ((1, 92), (2, 84), (3, 84), (4, 84))
    path.write_text(
        "".join(f"Epoch {at}/4\n50000/50000 [======] - 4s {us}us/step - loss: 0.{40 - at}\n" for at, us in rows)
    )
    return path


def test_bars_with_microseconds_count_samples(tmp_path: Path) -> None:
    run = imported(bars_of_samples(tmp_path / "log"), devices=1, batch=128)
    assert run.step_s == pytest.approx(84e-6 * 128)
    assert run.total_steps == 4 * 391
    assert any("`84us/step` is too short for a step" in remark for remark in run.remarks)


def test_bars_with_microseconds_need_the_batch(tmp_path: Path) -> None:
    assert "they count samples; add --batch log=N" in refused(bars_of_samples(tmp_path / "log"), devices=1)


def test_a_log_of_boxes_is_searched_for_tables_without_a_look_at_each_number() -> None:
    rule = "-" * 40
    text = "".join(
        f"{rule}\n| rollout/ |        |\n|  fps      | {900 + at} |\n|  loss     | 0.{at + 1000} |\n{rule}\n"
        for at in range(300)
    )
    meaning_of.cache_clear()
    find_tables(text)
    assert meaning_of.cache_info().misses < 50


def rates(path: Path, rate: str, step_s: float, *, stamped: bool = True) -> Path:
    rows = []
    for at in range(1, 12):
        passed_s = round(step_s * 20 * at)
        stamp = f"2025-03-04 {10 + passed_s // 3600:02d}:{passed_s // 60 % 60:02d}:{passed_s % 60:02d}.250 "
        rows.append(f"{stamp if stamped else ''}train | step: {20 * at} | steps/sec: {rate} | loss: 2.5\n")
    path.write_text("".join(rows))
    return path


def test_time_stamps_count_where_a_rate_has_one_digit(tmp_path: Path) -> None:
    run = imported(rates(tmp_path / "log", "0.1", 17.0), devices=1, batch=64)
    assert run.step_s == pytest.approx(17.0)
    assert any("as 6.67 to 20 s: the time between rows counts" in remark for remark in run.remarks)


@pytest.mark.parametrize(
    ("stamped", "step_s"), [(False, 17.0), (True, 45.0)], ids=["no-stamps", "beyond-rounding"]
)
def test_a_rate_with_one_digit_counts_with_a_remark(stamped: bool, step_s: float, tmp_path: Path) -> None:
    run = imported(rates(tmp_path / "log", "0.1", step_s, stamped=stamped), devices=1, batch=64)
    assert run.step_s == pytest.approx(10.0)
    assert any("as 6.67 to 20 s; no result is more exact" in remark for remark in run.remarks)


def test_a_rate_with_enough_digits_counts(tmp_path: Path) -> None:
    run = imported(rates(tmp_path / "log", "0.0588", 17.5), devices=1, batch=64)
    assert run.step_s == pytest.approx(1 / 0.0588)
    assert not any("few digits" in remark for remark in run.remarks)


def of_images(path: Path, *steps: int) -> Path:
    path.write_text(
        "".join(
            f"{at}: 3.10{at}, 3.2 avg loss, 0.001 rate, 7.5{at} seconds, {at * 32} images\n"
            "Loaded: 0.00003 seconds\n"
            for at in steps
        )
    )
    return path


def test_numbers_without_a_name_that_rise_evenly_count_steps(tmp_path: Path) -> None:
    run = imported(of_images(tmp_path / "log", 40, 41, 42, 43), devices=1, batch=32)
    assert run.step_s == pytest.approx(7.54, abs=0.01)


def test_too_few_of_them_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    said = refused(of_images(tmp_path / "log", 40, 41), devices=1, batch=32)
    assert "`40: 3.1040, 3.2 avg loss" in said
    assert "Write `step` in front of them" in said
    assert "no line" not in said
