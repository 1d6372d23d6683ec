"""Progress bars as trainers draw them, written here with known times: a step takes 1.5 s after a start of 30 s."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive

STEP_S, START_S, STEPS = 1.5, 30.0, 400


def imported(tmp_path: Path, text: str, name: str = "train.log") -> ImportedRun:
    path = tmp_path / name
    path.write_text(text)
    said = Given(devices=4, batch=64)
    (log,) = read_log(path, said)
    return derive(log, said)


def clock(seconds: float, *, hours: bool = False) -> str:
    minutes, left = divmod(int(seconds), 60)
    if hours or minutes >= 60:
        return f"{minutes // 60}:{minutes % 60:02d}:{left:02d}"
    return f"{minutes:02d}:{left:02d}"


def passed(step: int) -> float:
    return START_S + step * STEP_S


def smoothed(step: int) -> float:
    """The mean with the start, which some bars print."""
    return passed(step) / step


def tqdm(step: int) -> str:
    rate = f"{smoothed(step):5.2f}s/it"
    return f" {step * 100 // STEPS:2d}%|###   | {step}/{STEPS} [{clock(passed(step))}<09:59, {rate}]"


def lightning(step: int) -> str:
    return (
        f"Epoch 0: {step * 100 // STEPS:3d}%|#### | {step}/{STEPS} [{clock(passed(step))}<09:59, "
        f"{smoothed(step):.2f}s/it, loss=2.31, v_num=4]"
    )


def rich(step: int) -> str:
    return (
        f"Epoch 0/9 \u2501\u2501\u2501\u2501 {step}/{STEPS} {clock(passed(step), hours=True)} \u2022 0:09:59 "
        f"{1 / smoothed(step):.2f}it/s v_num: 0 loss: 2.3"
    )


def ultralytics(step: int) -> str:
    return (
        f"        1/10      4.1G      1.2      1.9      1.3       {step % 90:2d}        640: "
        f"{step * 100 // STEPS}% \u2501\u2501\u2501\u2500 {step}/{STEPS} {smoothed(step):.1f}s/it "
        f"{clock(passed(step))}<9:59"
    )


def without_total(step: int) -> str:
    return f"train: {step}it [{clock(passed(step))},  {1 / smoothed(step):.2f}it/s]"


@pytest.mark.parametrize("end", ["\n", "\r"])
@pytest.mark.parametrize("bar", [tqdm, lightning, rich, ultralytics, without_total])
def test_the_time_between_the_rows_of_a_bar_counts(bar: Callable[[int], str], end: str, tmp_path: Path) -> None:
    text = end.join(bar(step) for step in range(1, STEPS + 1)) + "\n"
    run = imported(tmp_path, text)
    assert run.step_s == pytest.approx(STEP_S, rel=0.02), "not the mean with the start"
    assert run.total_steps == pytest.approx(STEPS, abs=15)


def test_rows_that_are_drawn_again_and_bars_of_other_work(tmp_path: Path) -> None:
    other = "Training: 0it [00:00, ?it/s]\nLoading checkpoint shards: 100%|####| 4/4 [12:40<00:00, 190.0s/it]\n"
    eval_bar = "Validation:  50%|##  | 10/20 [20:00<20:00, 120.0s/it]\n"
    rows = [tqdm(step) + "\n" + tqdm(step) + "\n" + "{'loss': 1.25, 'epoch': 0.1}\n" for step in range(1, STEPS)]
    run = imported(tmp_path, other + eval_bar + "".join(rows))
    assert run.step_s == pytest.approx(STEP_S, rel=0.02)


def test_a_pause_between_two_steps_is_left_out(tmp_path: Path) -> None:
    def late(step: int) -> str:
        return tqdm(step).replace(clock(passed(step)), clock(passed(step) + 600 * (step > 200)))

    run = imported(tmp_path, "".join(late(step) + "\n" for step in range(1, STEPS)))
    assert run.step_s == pytest.approx(STEP_S, rel=0.02)
    assert any("1 pauses" in remark for remark in run.remarks)


@pytest.mark.parametrize("described", ["", "Evaluating: "])
@pytest.mark.parametrize("end", ["\n", "\r"])
def test_an_evaluation_with_a_bar_of_its_own_is_left_out(described: str, end: str, tmp_path: Path) -> None:
    """Also if it takes only some times as long as a step."""
    text, now_s = "", 0.0
    for step in range(1, 301):
        now_s += 0.5
        text += f" {step // 3}%|## | {step}/300 [{clock(now_s)}<09:59,  1.70it/s]{end}"
        if step % 50 == 0:
            text += "".join(
                f"{described} 9%|# | {at}/25 [{clock(at / 5)}<00:05,  5.00it/s]{end}" for at in range(26)
            )
            now_s += 5
    run = imported(tmp_path, text + "\n")
    assert run.step_s == pytest.approx(0.5, rel=0.01)
    assert any("5 pauses between two steps are left out" in remark for remark in run.remarks)


def test_a_bar_for_each_epoch_that_is_kept_at_its_end_only(tmp_path: Path) -> None:
    """Ultralytics draws a bar per epoch and one of its validation, whose time is not of the training."""
    epochs = [
        f"      {epoch}/9      9.{epoch}G     0.85{epoch}      1.061      63      640: "
        "100%|####| 80/80 [02:00<00:00,  1.50s/it]\n"
        "                 Class     Images  Instances      Box(P          R      mAP50): "
        "100%|####| 8/8 [00:40<00:00,  5.00s/it]\n"
        for epoch in range(1, 9)
    ]
    run = imported(tmp_path, "".join(epochs))
    assert run.step_s == pytest.approx(STEP_S, rel=0.02)
    assert run.steps_per_row == 80


def test_a_short_bar_has_its_printed_rate_where_it_fits(tmp_path: Path) -> None:
    rows = [
        f" 10%|# | {step}/900 [{clock(40 + 0.25 * step)}<02:10,  4.0{step % 3}it/s]\n" for step in range(20, 60, 4)
    ]
    assert imported(tmp_path, "".join(rows)).step_s == pytest.approx(0.25, rel=0.01)
    rows = [f" 10%|# | {step}/900 [{clock(40 + 2.0 * step)}<02:10,  9.00s/it]\n" for step in range(20, 60, 4)]
    assert imported(tmp_path, "".join(rows)).step_s == pytest.approx(2.0, rel=0.02), "the rate has the start in it"


def test_bars_of_several_ranks_in_one_log_are_refused(tmp_path: Path) -> None:
    behind = [tqdm(step).replace(f" {step}/", f" {step - 2}/") for step in range(5, 50)]
    rows = [tqdm(step) + "\n" + other + "\n" for step, other in enumerate(behind, 5)]
    with pytest.raises(UserError, match=r"line 2: .*several ranks"):
        imported(tmp_path, "".join(rows))
    named = [f"[rank{rank}]: {tqdm(step - rank)}\n" for step in range(5, STEPS) for rank in (0, 1)]
    assert imported(tmp_path, "".join(named)).step_s == pytest.approx(STEP_S, rel=0.02), "the first rank counts"


@pytest.mark.parametrize(
    "bar",
    [
        "Epochs:  30%|###  | 3/10 [15:00<35:00, 300.0s/it]",
        "Map:  30%|###  | 300/1000 [00:15<00:35, 20.0 examples/s]",
        "Evaluating:  30%|###  | 30/100 [00:15<00:35, 2.0it/s]",
    ],
)
def test_bars_that_are_not_of_steps_of_a_training_are_refused(bar: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not of steps of a training"):
        imported(tmp_path, f"{bar}\n{bar.replace('3', '4')}\n")


def test_a_bar_that_is_too_quick_for_steps_counts_samples(tmp_path: Path) -> None:
    """90 000 samples in 1.8 s, in steps of 64."""
    bars = [f"Epoch {epoch:02d}: 100%|####| 90000/90000 [00:01<00:00, 50000.00it/s]\n" for epoch in range(4)]
    path = tmp_path / "train.log"
    path.write_text("".join(bars))
    with pytest.raises(UserError, match="count 360000 samples in 4 s, and not steps; add --batch"):
        read_log(path, Given(devices=4))
    assert imported(tmp_path, "".join(bars)).throughput == pytest.approx(50_000, rel=0.01)


def test_a_bar_of_few_seconds_says_how_exact_its_step_is(tmp_path: Path) -> None:
    rows = [f" 10%|# | {step}/900 [{clock(40 + 0.25 * step)}<02:10,  9.00s/it]\n" for step in range(4, 24, 4)]
    assert "4 s pass in 16 steps by time stamps in whole seconds: a step takes 0.188 to 0.312 s" in (
        imported(tmp_path, "".join(rows)).remarks
    )
    with pytest.raises(UserError, match="only 1 s pass in 4 steps, by time stamps in whole seconds"):
        imported(tmp_path, "".join(rows[:2]))
