"""Rows of Megatron-LM and nanotron with the label of a rank in front, or over several lines of a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from test_logs_of_any_trainer import imported


def megatron(step: int) -> str:
    return (
        f" [2025-03-01 10:{step // 60:02d}:{step % 60:02d}] iteration {step:8d}/     200 |"
        f" consumed samples: {64 * step:12d} |"
        " elapsed time per iteration (ms): 1000.0 | learning rate: 6.000000E-05 | global batch size:    64 |"
        " lm loss: 5.500000E+00 | loss scale: 1.0 |\n"
    )


def nanotron(step: int) -> str:
    return (
        f"03/01/2025 10:{step // 60:02d}:{step % 60:02d} [INFO|DP=0|PP=0|TP=0]: iteration: {step} / 200 |"
        " consumed_tokens: 1.2M | elapsed_time_per_iteration_ms: 1K | tokens_per_sec: 64K |"
        " tokens_per_sec_per_gpu: 16K | global_batch_size: 64 | lm_loss: 5.5 | lr: 0.0001 |\n"
    )


def test_the_rows_of_the_first_label_of_srun_count(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"{rank}: {megatron(step)}" for step in range(10, 110, 10) for rank in range(4)))
    run = imported(path, devices=4)
    assert run.step_s == pytest.approx(1.0)
    assert run.total_steps == 100
    assert "30 rows of other ranks are left out: those of the first one count" in run.remarks


@pytest.mark.parametrize("width", [120, 150])
@pytest.mark.parametrize("row", [megatron, nanotron])
def test_a_wrapped_row_is_joined(row, width: int, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "log"
    whole = "".join(f"some other line\n{row(step)}" for step in range(10, 110, 10))
    cut = "".join(
        "".join(f"{line[at : at + width]}\n" for at in range(0, len(line), width)) for line in whole.splitlines()
    )
    assert cut != whole
    path.write_text(cut)
    run = imported(path, devices=4, sequence_length=1000)
    assert run.step_s == pytest.approx(1.0)
    assert run.total_steps == 100


@pytest.mark.parametrize("row", [megatron, nanotron])
def test_a_row_that_no_line_completes_is_refused_with_what_to_do(row, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "log"
    path.write_text("".join(row(step)[:140] + "\n" for step in range(10, 110, 10)))
    with pytest.raises(UserError, match=r"line 1: not a complete line of .* with each row in one line"):
        imported(path, devices=4)
