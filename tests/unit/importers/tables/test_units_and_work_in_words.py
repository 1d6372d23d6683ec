"""Units that only sentences or cells state, weak scaling under other names, and rows of other work."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.reading import read_published
from scalestudy.publish.quantity import quantity_of
from test_printed_habits import audited

SAID = r"""\begin{table}
\begin{tabular}{rrr}
Nodes & Plain & Tuned \\
1 & 330.1 & 402.2 \\
2 & 182.0 & 221.7 \\
4 & 99.3 & 121.0 \\
\end{tabular}
\caption{Strong scaling of both solvers. Times are in minutes.}
\end{table}
"""
ASIDE = """Elapsed time in minutes (speedup)

| GPUs | ResNet-50 | VGG16 |
|---|---|---|
| 1 | 330 | 601 |
| 2 | 181 (1.82) | 322 (1.87) |
| 4 | 98 (3.37) | 180 (2.34) |
"""
SCALABILITY = """The next table shows the **weak scalability** of the sieve.

| Processes | Range | Time | Speedup |
|---|---|---|---|
| 1 | 2 | 160 ms | |
| 2 | 4 | 200 ms | 0.80 |
| 4 | 8 | 320 ms | 0.50 |
"""
MONTHS = """| Setup | GPUs | Time to train |
|---|---|---|
| base | 1 | ~3 months |
| medium | 8 | 2 weeks |
| large | 64 | 2 days |
"""
ONE_PROCESS = """| launch | step |
|---|---|
| 1 GPU | 70.0 ms |
| one process, 4 GPUs | 23.0 ms |
| torchrun, 4 GPUs | 20.0 ms |
| torchrun, 8 GPUs on 2 nodes | 11.0 ms |
"""
ACROSS = """Best of five at each number of ranks, ms/solve:

| levels | coarsest | `mcl` | 1 GPU | 2 GPUs | 4 GPUs |
|---|---|---|---|---|---|
| 7 | 2³ | 30 | 34.4 | 17.6 | 9.2 |
| 6 | 4³ | 5 | 32.3 | 16.4 | 8.8 |
"""
GERMAN = """| GPUs | Tokens/Sek | Latenz |
|---|---|---|
| 1 | 320 | 1.2s |
| 2 | 580 | 0.7s |
"""
OTHER_WORK = """| Scenario | Input size | Workers | Throughput |
|---|---|---|---|
| binary parsing | 1GB | 8 | ~450MB/s |
| reading of CSV | 1GB | 4 | ~118MB/s |
"""
CHUNKS = """| Chunks | Workers | Throughput |
|---|---|---|
| 20 | 4 | 133 chunks/s |
| 100 | 4 | 200 chunks/s |
| 1000 | 8 | 410 chunks/s |
"""


def _written(path: Path, text: str, name: str = "t.md") -> Path:
    (path / name).write_text(text)
    return path / name


def test_a_sentence_states_the_unit_of_columns_with_names(tmp_path: Path) -> None:
    plain, tuned = read_published(_written(tmp_path, SAID, "t.tex")).tables
    assert plain.rows[0].number("time_s") == pytest.approx(330.1 * 60)
    assert [row.number("time_s") for row in tuned.rows] == pytest.approx([402.2 * 60, 221.7 * 60, 121 * 60])


def test_a_title_says_what_is_in_brackets(tmp_path: Path) -> None:
    first, second = audited(tmp_path, ASIDE)
    assert not first.remarks
    assert [one.kind for one in second.remarks] == ["speedup"]  # 601 / 180 is 3.34


def test_speedups_below_one_in_weak_scalability_are_efficiencies(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, SCALABILITY)
    assert audit.settled.stated == "efficiency"
    assert not audit.remarks
    assert [scale.speedup.value for scale in audit.table.scales[1:]] == pytest.approx([1.6, 2.0])


def test_months_and_weeks_are_units(tmp_path: Path) -> None:
    times = [row.number("total_time_s") for row in read_published(_written(tmp_path, MONTHS)).tables[0].rows]
    assert times == pytest.approx([3 * 365.25 / 12 * 86400, 14 * 86400, 2 * 86400])


def test_devices_of_one_process_are_its_gpus(tmp_path: Path) -> None:
    rows = read_published(_written(tmp_path, ONE_PROCESS)).tables[0].rows
    assert [row.gpus for row in rows] == [1, 4, 4, 8]


def test_a_caption_is_of_the_numbers_below_the_devices(tmp_path: Path) -> None:
    table = read_published(_written(tmp_path, ACROSS)).tables[0]
    assert [row.number("time_s") for row in table.rows[:3]] == pytest.approx([0.0344, 0.0176, 0.0092])


def test_tokens_per_second_in_german(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, GERMAN)
    assert audit.settled.rate == "throughput"
    assert quantity_of(audit).header == "tokens/s"


def test_rows_of_other_work_are_confounded(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, OTHER_WORK)
    assert [one.kind for one in audit.remarks] == ["confounded"]
    assert quantity_of(audit).header == "MB/s"


def test_numbers_of_chunks_are_work(tmp_path: Path) -> None:
    assert all(len(audit.table.scales) == 1 for audit in audited(tmp_path, CHUNKS))
