"""Console logs whose printed times are not those of steps: means, pauses, rows of several ranks or steps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest
from scalestudy.importers.logs.formats import is_table
from test_logs_of_any_trainer import imported, refused

FIRST_S, STEPS_S = 190.0, (4.0, 7.0, 3.0, 5.0, 6.0, 2.0, 8.0, 5.0)


def written(path: Path, rows: list[str]) -> Path:
    path.write_text("".join(rows))
    return path


def of_means(times_s: list[float], over: int) -> list[str]:
    """Rows with the mean over the last steps, as a window of this many has it."""
    means = [sum(times_s[max(0, done - over) : done]) / min(over, done) for done in range(1, len(times_s) + 1)]
    return [f"Step {at}  [{mean:.3f} sec/step, loss=1.25]\n" for at, mean in enumerate(means, 1)]


def test_times_that_fall_as_means_since_the_start_do(tmp_path: Path) -> None:
    times_s = [FIRST_S, *STEPS_S]
    run = imported(written(tmp_path / "log", of_means(times_s, 100)), devices=1, batch=32)
    assert run.step_s == pytest.approx(sum(STEPS_S) / len(STEPS_S), rel=0.01)
    assert any("as means since the start do" in remark for remark in run.remarks)


def test_means_over_the_last_steps_count_where_the_start_has_left_them(tmp_path: Path) -> None:
    times_s = [FIRST_S, *STEPS_S * 40]
    run = imported(written(tmp_path / "log", of_means(times_s, 20)), devices=1, batch=32)
    assert run.step_s == pytest.approx(sum(STEPS_S) / len(STEPS_S), rel=0.02)
    assert any("the times of the first 20 rows are means" in remark for remark in run.remarks)


@pytest.mark.parametrize(
    "times_s",
    [
        [8.0, 1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93, 0.92],
        [2.0, 1.0, 1.1, 1.0, 1.1, 1.0, 1.1, 1.0, 1.1, 1.0],
    ],
    ids=["falls faster than a mean can", "does not fall in each row"],
)
def test_steps_that_warm_up_count_as_they_are_printed(times_s: list[float], tmp_path: Path) -> None:
    rows = [f"Step {at} [{time_s:.3f} sec/step, loss=1.25]\n" for at, time_s in enumerate(times_s, 1)]
    run = imported(written(tmp_path / "log", rows), devices=1, batch=32)
    assert run.step_s == pytest.approx(sum(times_s[1:]) / len(times_s[1:]))


def stamped(times_s: list[float]) -> list[str]:
    return [
        f"2024-05-06 {int(at) // 3600:02d}:{int(at) // 60 % 60:02d}:{at % 60:06.3f} step {step} loss 0.25\n"
        for step, at in enumerate(accumulate(times_s, initial=3600.25))
    ]


def test_no_window_of_an_uneven_training_is_left_out_as_a_pause(tmp_path: Path) -> None:
    times_s = [3.1, 9.2, 94.0, 43.0, 98.0, 6.3, 3.3, 35.0, 7.0, 80.0, 2.9, 34.0, 6.7]
    run = imported(written(tmp_path / "log", stamped(times_s)), devices=1, batch=4)
    assert run.step_s == pytest.approx(sum(times_s) / len(times_s), rel=0.001)
    assert any("the time between rows is uneven" in remark for remark in run.remarks)


def test_an_evaluation_between_even_steps_is_left_out(tmp_path: Path) -> None:
    run = imported(written(tmp_path / "log", stamped([2.0, 2.0, 2.1, 2.0, 40.0] * 4)), devices=1, batch=4)
    assert run.step_s == pytest.approx(2.025, abs=0.01)
    assert any("4 windows take more than 5 times the median" in remark for remark in run.remarks)


@pytest.mark.parametrize("step", [0, 1])
def test_the_first_step_alone_is_refused(step: int, tmp_path: Path) -> None:
    rows = [f"Epoch: [0][ {step}/900]\tTime 205.143 (205.143)\tLoss 5.71 (5.71)\n", "Epoch: [0][ 10/900]\tTim"]
    said = refused(written(tmp_path / "log", rows), devices=1, batch=4, time="s")
    assert f"its only whole row is of step {step}, which has the start of the run in it" in said


def test_rows_on_one_line_are_refused_with_what_to_change(tmp_path: Path) -> None:
    row = "Step {} | loss:2.75 lr:2e-05 tokens_per_second_per_gpu:{} "
    line = "".join(row.format(step, 200.25 + step) for step in range(1, 11))
    said = refused(written(tmp_path / "log", [line + "\n"]), devices=1, batch=4)
    assert "line 1: has 10 rows on one line, the last one of step 10; import the log with a line for each" in said


@pytest.mark.parametrize(
    "front",
    [
        lambda rank: f"{rank}: ",
        lambda rank: f"[1,{rank}]<stdout>:",
        lambda rank: f"2024-05-06T10:00:00 n7: [1,{rank}]<stderr>:",
    ],
    ids=["srun", "mpirun", "a scheduler"],
)
def test_the_rows_of_one_rank_count(front: Callable[[int], str], tmp_path: Path) -> None:
    """The four ranks take turns in another order each time, and the first one has its own times."""
    rows = [
        f"{front(rank)}[Epoch 0, Batch {step}] Data: 2.5ms | Forward: 230.5ms | Total: {1500 + 100 * rank}.5ms\n"
        for step in range(6, 26)
        for rank in ((0, 2, 1, 3) if step % 2 else (0, 3, 1, 2))
    ]
    run = imported(written(tmp_path / "log", rows), devices=4, batch=4)
    assert run.step_s == pytest.approx(1.5005)
    assert "60 rows of other ranks are left out: those of rank 0 count" in run.remarks
    assert not any("restart" in remark for remark in run.remarks)


def test_a_number_in_front_that_counts_rows_is_no_rank(tmp_path: Path) -> None:
    rows = [f"{at}: step {10 * at} loss 0.25 step time: 1.5 s\n" for at in range(1, 30)]
    assert imported(written(tmp_path / "log", rows), devices=4, batch=4).total_steps == 290


def test_steps_that_take_a_time_together(tmp_path: Path) -> None:
    rows = [
        f"[proc 0][Train]({1000 * at}/40000) average loss: 0.25\n[proc 0][Train] 1000 steps take 8.5 seconds\n"
        for at in range(1, 9)
    ]
    run = imported(written(tmp_path / "log", rows), devices=1, batch=4)
    assert run.step_s == pytest.approx(0.0085)
    assert run.steps_per_row == 1000
    rows = [f"step {100 * at} loss 2.25, 100 steps in {3.1 + at % 2 / 5:.1f}s\n" for at in range(1, 10)]
    run = imported(written(tmp_path / "log", rows), devices=1, batch=4)
    assert run.step_s == pytest.approx(0.032, rel=0.01)
    assert run.steps_per_row == 100


def test_a_few_times_that_rise_by_chance_are_those_of_steps(tmp_path: Path) -> None:
    rows = [f"step {at} loss 2.25 time: 7.5{at} s\n" for at in (41, 42, 43)]
    assert imported(written(tmp_path / "log", rows), devices=1, batch=4).step_s == pytest.approx(7.542)
    rows = [f"step {at} loss 2.25 time: {1.5 * at + 30:.1f} s\n" for at in (41, 42, 43)]
    assert imported(written(tmp_path / "log", rows), devices=1, batch=4).step_s == pytest.approx(1.5)


def test_bars_come_before_one_row_with_the_time_since_the_start(tmp_path: Path) -> None:
    bars = [
        f"Train:   0%|   | {at}/250250 [4:46:{2 * at - 255:02d}<125:26:43,  2.00s/it]\n" for at in range(145, 155)
    ]
    row = "{'loss': 0.5, 'global_step/max_steps': '105/250250', 'elapsed_time': '4h 45m 30s'}\n"
    run = imported(written(tmp_path / "log", [*bars, row]), devices=1, batch=4)
    assert run.step_s == pytest.approx(2.0, rel=0.02)


def test_other_names_of_the_time_of_a_step(tmp_path: Path) -> None:
    table = "| episode_len_mean | time_this_iter_s |\n|---|---|\n" + "| 49.5 | 8.5 |\n| 49.6 | 8.6 |\n" * 5
    assert imported(written(tmp_path / "log", [table]), devices=1, batch=4).step_s == pytest.approx(8.55, rel=0.01)
    rows = [
        f"epoch:  {at} | lr: 0.1 | runtime: 01:28:42 | bch(ms): 520.5 | fwd(ms): 9.5 | loss: 4.5\n"
        for at in (1, 2)
    ]
    assert imported(written(tmp_path / "log", rows), devices=1, batch=4).step_s == pytest.approx(0.5205)


@pytest.mark.parametrize("name", ["time", "elapsed"])
def test_a_clock_that_begins_again_with_each_epoch(name: str, tmp_path: Path) -> None:
    rows = [
        f"Epoch {epoch} step {step + 500 * epoch} loss 2.25 {name}: {1.5 * step + 4:.1f} s\n"
        for epoch in range(3)
        for step in range(100, 600, 100)
    ]
    run = imported(written(tmp_path / "log", rows), devices=1, batch=4)
    assert run.step_s == pytest.approx(1.5)
    assert any("rises from row to row and begins again" in remark for remark in run.remarks)


def test_the_clocks_of_two_ranks_that_take_turns(tmp_path: Path) -> None:
    rows = [
        f"[Info] {4.5 * at + 0.25 * rank:.3f} seconds elapsed, finished iteration {at}\n"
        for at in range(36, 46)
        for rank in ((0, 1) if at == 40 else (0,))
    ]
    assert imported(written(tmp_path / "log", rows), devices=2, batch=4).step_s == pytest.approx(4.5, rel=0.01)


def test_times_of_steps_that_scatter_begin_no_clock_again(tmp_path: Path) -> None:
    times_s = [0.51, 0.52, 0.49, 0.50, 0.51, 0.48, 0.49, 0.53, 0.50, 0.52]
    rows = [f"step {at} loss 2.25 elapsed: {time_s} s\n" for at, time_s in enumerate(times_s, 1)]
    run = imported(written(tmp_path / "log", rows), devices=1, batch=4)
    assert run.step_s == pytest.approx(sum(times_s[1:]) / 9)


def test_results_of_an_iteration_over_several_lines(tmp_path: Path) -> None:
    """Ray prints them so, with parts of the time, and the time of all iterations, beside that of this one."""
    blocks = [
        f"Result for PPO_0:\n  episodes_total: {9 * at}\n  info:\n    grad_time_ms: 263.5\n"
        "    sample_time_ms: 490.5\n"
        f"  time_since_restore: {2.5 * at + 10}\n  time_this_iter_s: 2.5\n  time_total_s: {2.5 * at + 10}\n"
        f"  timesteps_this_iter: 4000\n  timesteps_total: {4000 * at}\n  training_iteration: {at}\n\n"
        for at in range(10, 20)
    ]
    run = imported(written(tmp_path / "log", blocks), devices=1, batch=4000)
    assert run.step_s == pytest.approx(2.5)
    assert run.steps_per_row == 1


LABELS = ["[GPU{}] ", "cuda:{} | ", "local_rank: {}, ", "[process {}] ", "node07: [{}] ", "({}) ", "Worker {} - "]


@pytest.mark.parametrize("label", LABELS)
def test_ranks_by_the_names_of_their_devices_in_front_of_rows(label: str, tmp_path: Path) -> None:
    """Four ranks take turns in another order at each step. They are no table of four numbers of devices."""
    rows = [
        f"{label.format((rank + at) % 4)}step {10 * at} | loss 2.5{at:02d} | step time {0.5 + rank / 1e3:.4f} s\n"
        for at in range(1, 30)
        for rank in (2, 0, 3, 1)
    ]
    run = imported(written(tmp_path / "log", rows), devices=4, batch=64)
    assert run.step_s == pytest.approx(0.5, rel=0.01)
    assert run.total_steps == pytest.approx(280, abs=15)
    assert any("87 rows of other ranks are left out" in remark for remark in run.remarks)


def test_the_epoch_in_brackets_in_front_of_rows_is_no_rank(tmp_path: Path) -> None:
    rows = [
        f"[{epoch}] step {10 * at + 300 * epoch} | loss 2.5 | step time 0.5 s\n"
        for epoch in range(3)
        for at in range(1, 30)
    ]
    assert imported(written(tmp_path / "log", rows), devices=4, batch=64).total_steps == pytest.approx(890, abs=15)


def test_a_list_of_numbers_of_devices_is_a_table(tmp_path: Path) -> None:
    path = written(tmp_path / "scaling.txt", [f"{gpus} GPUs: {480 / gpus} s/epoch\n" for gpus in (1, 2, 4, 8)])
    assert is_table(path, None)
