"""Sentences beside a table are held against its numbers, and only if they can be of the same runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.importers.reading import read_published

TIMES = (
    "| GPUs | Time (s) |\n|---|---|\n| 1 | 800 |\n| 2 | 420 |\n| 4 | 230 |\n| 8 | 125 |\n"  # 1.90x, 3.48x, 6.40x
)
RATES = (
    "| GPUs | img/s |\n|---|---|\n| 1 | 110 |\n| 2 | 215 |\n| 4 | 410 |\n| 8 | 747 |\n"  # 97.7 %, 93.2 %, 84.9 %
)


def sentences(tmp_path: Path, text: str) -> list[str]:
    """The remarks on sentences of a file."""
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    audits, asked = audit_file(read_published(path), "table")
    assert not asked
    return [remark.sentence for one in audits for remark in one.remarks if remark.kind == "sentence"]


@pytest.mark.parametrize(
    ("table", "sentence", "given"),
    [
        (TIMES, "We reach a 7.1x speedup on 8 GPUs.", "but the times give 6.40x"),
        (TIMES, "With 4 GPUs the training is 3.9 times faster.", "but the times give 3.48x"),
        (TIMES, "- **Speedup:** 7.1x on 8 GPUs (80% efficiency)", "but the times give 6.40x"),
        (TIMES, "Two GPUs give a speedup of 1.9x, but 8 GPUs a speedup of only 5.9x.", "but the times give 6.40x"),
        (RATES, "Scaling: ~95% efficient up to 8 GPUs", "but the throughputs give 84.9 %"),
        (RATES, "The scaling efficiency stays above 90% at 8 GPUs.", "but the throughputs give 84.9 %"),
        (RATES, "A scaling efficiency of 92% on 8 GPUs shows that communication is hidden.", "give 84.9 %"),
        (RATES, "Scaling efficiency is 97.7% on 2 GPUs, and 89% on 4 GPUs.", "give 93.2 %"),
        (RATES, "The efficiency is 97.7% on 2 GPUs while it is 89.0% on 4 GPUs.", "give 93.2 %"),
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_a_number_that_the_table_contradicts_has_a_remark(
    tmp_path: Path, table: str, sentence: str, given: str, *, above: bool
) -> None:
    parts = (sentence, table) if above else (table, sentence)
    (found,) = sentences(tmp_path, "# Scaling\n\n" + "\n\n".join(parts))
    assert given in found
    assert 'the text says "' in found


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (TIMES, "We reach a 6.4x speedup on 8 GPUs."),
        (TIMES, "We reach almost 6.5x speedup on 8 GPUs."),  # within 5 %
        (TIMES, "From 2 to 8 GPUs the speedup is 3.36x."),  # over another row
        (TIMES, "We reach more than 6x speedup on 8 GPUs."),
        (TIMES, "The ideal speedup is 7.1x on 8 GPUs."),
        (TIMES, "A previous version had a 7.1x speedup on 8 GPUs."),
        (TIMES, "We expect 7.1x speedup on 8 GPUs."),
        (TIMES, "It is 7.1x faster than PyTorch on 8 GPUs."),
        (TIMES, "With mixed precision, the speedup is 3.0x on 8 GPUs."),  # far from the table: of another run
        (TIMES, "Speedups of 6-7x are seen on 8 GPUs."),
        (TIMES, "A speedup of 7.1x on 16 GPUs."),  # the table has no 16
        (TIMES, "The speedup is 12.5x on 8 GPUs with 100 epochs."),
        (RATES, "The scaling efficiency is 85% on 8 GPUs."),
        (RATES, "The scaling efficiency is over 80% on 8 GPUs."),
        (RATES, "The memory efficiency is 92% on 8 GPUs."),
        (RATES, "On 8 GPUs we see 92% GPU utilization and good efficiency."),
        (RATES, "Efficiency below 90% on 8 GPUs."),
        (RATES + "\n## Other runs\n", "The scaling efficiency is 92% on 8 GPUs."),  # of another section
    ],
)
def test_a_number_that_may_be_right_or_of_other_runs_has_none(tmp_path: Path, table: str, sentence: str) -> None:
    assert sentences(tmp_path, f"# Scaling\n\n{table}\n{sentence}\n") == []


def test_a_number_of_a_cell_is_not_held_against_the_others(tmp_path: Path) -> None:
    table = "| GPUs | img/s | MLPerf |\n|---|---|---|\n| 1 | 110 | 1 |\n| 8 | 747 | 7.1 |\n"
    assert sentences(tmp_path, f"{table}\nThe speedup on 8 GPUs is 7.1x.\n") == []


def test_a_sentence_between_two_models_counts_once_and_if_neither_has_it(tmp_path: Path) -> None:
    rows = ("| A | 1 | 100 |", "| A | 8 | 640 |", "| B | 1 | 50 |", "| B | 8 | 380 |")
    table = "\n".join(["| Model | GPUs | img/s |", "|---|---|---|", *rows, ""])
    assert sentences(tmp_path, f"{table}\nThe speedup is 7.6x on 8 GPUs.\n") == []
    (found,) = sentences(tmp_path, f"{table}\nThe speedup is 7.1x on 8 GPUs.\n")
    assert found.endswith("but the throughputs give 7.60x")


def test_signs_within_a_sentence_stay(tmp_path: Path) -> None:
    """Only the sign of an item in front of a line is taken off, not a plus or a dash between words."""
    text = f"# Scaling\n\n- On 8 A100 + NVLink the speedup is 7.1x.\n\n{TIMES}"
    (found,) = sentences(tmp_path, text)
    assert "On 8 A100 + NVLink the speedup" in found


def test_sentences_of_long_tables_are_not_compared(tmp_path: Path) -> None:
    rows = "".join(f"| {n} | {100 * n} |\n" for n in range(1, 600))
    assert sentences(tmp_path, f"| GPUs | img/s |\n|---|---|\n{rows}\nThe efficiency is 92% on 8 GPUs.\n") == []


def test_an_efficiency_is_that_over_the_fewest_devices_beside_a_run_without_any(tmp_path: Path) -> None:
    rows = ("| 0 (CPU) | 10 | 0.1x |", "| 1 | 100 | 1x |", "| 4 | 340 | 3.4x |")
    table = "\n".join(["| GPUs | img/s | Speedup |", "|---|---|---|", *rows, ""])
    assert sentences(tmp_path, f"{table}\nThe efficiency is 85% on 4 GPUs.\n") == []
    (found,) = sentences(tmp_path, f"{table}\nThe efficiency is 95% on 4 GPUs.\n")
    assert found.endswith("give 85.0 %")
