"""Log lines with several values in each, below the devices of their run."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_printed_habits import ONCE, RATES, TIMES, audited, speedups

N = ("1", "2", "4")
INDENTED = "    Epoch {e}/3  loss 1.{e}  time {t}s  {r} samples/s"


def runs(title: str, line: str, lines: int = 2) -> str:
    """A title and log lines for each number of devices: {n}, {e} of the line, {r} and {t}."""
    parts = []
    for n, rate, time in zip(N, RATES, TIMES, strict=True):
        logged = [line.format(e=e, r=rate, t=time) for e in range(1, lines + 1)]
        parts += [title.format(n=n, s="" if n == "1" else "s"), "", *logged, ""]
    return "\n".join(parts)


FORMS = {
    "spaces": runs("Run with {n} GPU{s}:", INDENTED),
    "one-line-each": runs("Run with {n} GPU{s}:", INDENTED, lines=1),
    "many-lines": runs("Run with {n} GPU{s}:", INDENTED, lines=40),
    "bars": runs("### {n} GPU{s}", "step {e}00 | loss 2.{e} | {r} img/s"),
    "commas": runs("{n} threads", "epoch: {e}, loss: 2.{e}, throughput: {r} img/s, lr: 0.1"),
    "signs": runs("With {n} GPU{s}:", "INFO epoch={e} loss=2.{e} speed={r}"),
    "stamps": runs("== {n} GPU{s} ==", "2024-01-02 10:00:0{e} INFO  epoch {e}  loss 1.{e}  {r} images/s"),
    "commands": runs("$ torchrun --nproc_per_node={n} train.py", "[epoch {e}]  loss 2.{e}  {r} img/s"),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_log_lines_of_each_run(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, f"## Excerpts of the logs\n\n{text}")
    assert speedups(found) == ONCE
    assert not found.remarks


def test_a_run_has_the_mean_of_its_lines(tmp_path: Path) -> None:
    text = (
        "Run with 1 GPU:\n\n  epoch 1  loss 2.0  98.0 img/s\n  epoch 2  loss 1.9  102.0 img/s\n\n"
        "Run with 2 GPUs:\n\n  epoch 1  loss 2.0  195.0 img/s\n  epoch 2  loss 1.9  185.0 img/s\n"
    )
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (2, 1.9)]
    notes = " ".join(found.source.notes)
    assert "the numbers of a run are means over its log lines" in notes
    assert "not read of the log lines: epoch, loss" in notes


def test_the_devices_of_a_command_are_no_nodes(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, FORMS["commands"])
    assert not any("scales are nodes" in note for note in found.source.notes)


def test_a_run_without_a_measurement_is_named(tmp_path: Path) -> None:
    text = FORMS["spaces"] + "\nRun with 8 GPUs:\n\n    CUDA out of memory\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert any("no log line below 'Run with 8 GPUs' has a measurement" in note for note in found.source.notes)


@pytest.mark.parametrize(
    "text",
    [
        runs("Run with {n} GPU{s}:", "  Epoch {e}/3  loss 1.{e}  elapsed {e}{t}s"),
        runs("Run with {n} GPU{s}:", "  Epoch {e}/3  loss 1.{e}  accuracy 0.{e}"),
        FORMS["spaces"].replace("2 GPUs", "1 GPU").replace("4 GPUs", "1 GPU"),
        FORMS["spaces"] + FORMS["spaces"].replace("samples/s", "img/s"),
    ],
    ids=["time-since-the-start", "no-measurement", "one-size", "two-models"],
)
def test_other_log_lines_are_not_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError):
        read_published(path)


def test_titles_of_runs_may_have_other_words(tmp_path: Path) -> None:
    text = FORMS["spaces"].replace("Run with 1 GPU:", "On a single GPU:").replace("Run with", "With DDP on")
    (found,) = audited(tmp_path, f"The node has 4 GPUs.\n\n{text}")
    assert speedups(found) == ONCE
    assert not any("no log line" in note for note in found.source.notes)


def test_a_printed_table_goes_before_the_lines_of_its_runs(tmp_path: Path) -> None:
    text = (
        runs("Run with {n} GPU{s}:", INDENTED, lines=1)
        + "\nRun with 8 GPUs:\n\n    Epoch 1/3  loss 1.9  9 samples/s\n"
    )
    rows = "".join(f"{n}\t{rate}\n" for n, rate in zip(N, RATES, strict=True))
    (found,) = audited(tmp_path, f"{text}\nSummary:\nGPUs\tsamples/s\n{rows}")
    assert speedups(found) == ONCE
