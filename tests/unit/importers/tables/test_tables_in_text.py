"""Tables in the markup of papers and documentation, and without any, as programs print them into a text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scalestudy.cli.audit_columns import audited
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import question_of

EXPECTED = {1: (410.5, 1.0), 2: (790.2, 1.93), 4: (1460.8, 3.56)}
TEXTS = {
    "booktabs.tex": r"""
\begin{table}[t]
  \caption{Scaling of our trainer \textbf{on one node}.}
  \begin{tabular}{@{}l r r@{}}
    \toprule
    \# GPUs & images/s & Speed-up \\ % not the final run
    \midrule
    1 & 410.5 & $1.00\times$ \\
    \rowcolor{gray} 2 & \textbf{790.2} & $1.93\times$ \\[2pt]
    \cmidrule(lr){1-3}
    4 & 1{,}460.8 & \underline{3.56}$\times$ \\
    \bottomrule
  \end{tabular}
\end{table}""",
    "starred.tex": "\\begin{tabular*}{\\linewidth}{|c|c|c|}\\hline\nGPUs & images/s & Speedup \\\\ \\hline\n"
    "1 & 410.5 & 1.00 \\\\\n2 & 790.2 & 1.93 \\\\\n4 & 1460.8 & 3.56 \\\\ \\hline\n\\end{tabular*}\n",
    "fragment.tex": "GPUs & \\makecell{images/s \\\\ (all)} & Speedup \\\\\n1 & 410.5 & 1.00 \\\\\n"
    "2 & 790.2 & 1.93 \\\\\n"
    "4 & 1460.8 & 3.56 \\\\\n",
    "list.rst": """
Results
=======

.. list-table:: Training on one node
   :header-rows: 1
   :widths: 10 20 20

   * - Number of GPUs
     - images/s
     - Speedup
   * - 1
     - 410.5
     - 1.00
   * - 2
     - 790.2
     - 1.93
   * - 4
     - 1460.8
     - 3.56

More text, with a comma.
""",
    "values.rst": '.. csv-table:: Training\n   :header: "GPUs", "images/s", "Speedup"\n   :widths: 1, 1, 1\n\n'
    '   1, 410.5, 1.00\n   2, 790.2, 1.93\n   4, "1,460.8", 3.56\n',
    "simple.rst": "Training\n\n====  ========  =======\nGPUs  images/s  Speedup\n"
    "====  ========  =======\n1     410.5     1.00\n"
    "2     790.2     1.93\n4     1460.8    3.56\n====  ========  =======\n",
    "grid.rst": "+------+----------+---------+\n| GPUs | images/s | Speedup |\n"
    "|      |          | (x)     |\n+======+==========+=========+\n"
    "| 1    | 410.5    | 1.00    |\n+------+----------+---------+\n"
    "| 2    | 790.2    | 1.93    |\n+------+----------+---------+\n"
    "| 4    | 1460.8   | 3.56    |\n+------+----------+---------+\n",
    "drawn.txt": "┏━━━━━━┳━━━━━━━━━━┳━━━━━━━━━┓\n┃ GPUs ┃ images/s ┃ Speedup ┃\n"
    "┡━━━━━━╇━━━━━━━━━━╇━━━━━━━━━┩\n│ 1    │ 410.5    │ 1.00    │\n"
    "│ 2    │ 790.2    │ 1.93    │\n│ 4    │ 1460.8   │ 3.56    │\n└──────┴──────────┴─────────┘\n",
    "readme.md": "# Trainer\n\n| Option | Default |\n|---|---|\n| gpus | 1 |\n\n"
    "Run `bench.py`, which prints:\n\n```\nGPUs  images/s  Speedup\n"
    "----  --------  -------\n1        410.5    1.00x\n2        790.2    1.93x\n"
    "4       1460.8    3.56x\n```\n\nThe rest, as usual.\n",
    "issue.txt": "Hello,\n\nthese are my times, all on one host, with the same batch:\n\n"
    "num_gpus images/s speedup\n1 410.5 1.00\n2 790.2 1.93\n"
    "4 1460.8 3.56\n\nIs that expected?\n",
    "pasted.md": "What I get:\n\ngpus,images/s,speedup\n1,410.5,1.00\n2,790.2,1.93\n4,1460.8,3.56\n\n"
    "Thank you, in advance.\n",
    "bars.txt": "GPUs | images/s | Speedup\n1 | 410.5 | 1.00\n2 | 790.2 | 1.93\n4 | 1460.8 | 3.56\n",
    "turned.txt": "Results:\n\nGPUs:      1      2      4\n---------------------------\n"
    "images/s:  410.5  790.2 1460.8\nSpeedup:   1.00   1.93 3.56\n",
    "spans.html": "<p>Throughput</p><table><tr><th rowspan=2>GPUs</th><th colspan=2>one node</th></tr>"
    "<tr><th>images/s</th><th>Speedup</th></tr><tr><td>1</td><td>410.5</td><td>1.00</td></tr>"
    "<tr><td>2</td><td>790.2</td><td>1.93</td></tr><tr><td>4</td><td>1460.8</td><td>3.56</td></tr></table>",
}


def write(tmp_path: Path, text: str, name: str = "table.md") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", TEXTS)
def test_the_same_numbers_are_read_from_every_markup(tmp_path: Path, name: str) -> None:
    (table,) = read_published(write(tmp_path, TEXTS[name], name)).tables
    numbers = {row.gpus: (row.number("throughput"), row.number("printed_speedup")) for row in table.rows}
    assert set(numbers) == set(EXPECTED)
    for gpus, expected in EXPECTED.items():
        assert numbers[gpus] == pytest.approx(expected), gpus


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    for name in ("booktabs.tex", "list.rst", "readme.md", "issue.txt"):
        lines = TEXTS[name].splitlines()
        (table,) = read_published(write(tmp_path, TEXTS[name], name)).tables
        assert "GPUs" in lines[table.line - 1] or "num_gpus" in lines[table.line - 1]
        for row in table.rows:
            assert str(row.gpus) in lines[row.line - 1], name


def test_groups_of_columns_are_variants(tmp_path: Path) -> None:
    text = (
        r"\begin{tabular}{lrrrr}\toprule & \multicolumn{2}{c}{DDP} & \multicolumn{2}{c}{FSDP} \\ "
        "\\cmidrule{2-5}\nGPUs & samples/s & Eff. (\\%) & samples/s & Eff. (\\%) \\\\ \\midrule\n"
        "8 & 96 & 100 & 90 & 100 \\\\\n16 & 180 & 93.8 & 174 & 96.7 \\\\ \\end{tabular}"
    )
    first, second = read_published(write(tmp_path, text, "groups.tex")).tables
    assert [row.number("throughput") for row in second.rows] == [90, 174]
    assert [row.number("printed_efficiency") for row in first.rows] == pytest.approx([1.0, 0.938])


def test_titles_between_rows_are_labels(tmp_path: Path) -> None:
    text = (
        "| GPUs | tokens/s | Speedup |\n|---|---|---|\n| **Small model** | | |\n"
        "| 1 | 100 | 1.0 |\n| 4 | 380 | 3.8 |\n"
        "| **Large model** | | |\n| 1 | 40 | 1.0 |\n| 4 | 156 | 3.9 |\n"
    )
    _, audits, _ = audited(write(tmp_path, text), (), None, None, None)
    assert [audit.case for audit in audits] == ["Small model", "Large model"]
    assert not [remark for audit in audits for remark in audit.remarks]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("GPU卡数 | 吞吐率(样本/s) | 加速比", "1 | 100 | 1.0\n4 | 380 | 3.8"),
        ("Hilos | Tiempo (s) | Aceleración | Eficiencia", "1 | 380 | 1.0 | 1.00\n4 | 100 | 3.8 | 0.95"),
        ("Threads | Execution time (ms) | Speedup", "1 | 380 | 1.0\n4 | 100 | 3.8"),
        ("p | T_p | S_p | E_p", "1 | 380 | 1.0 | 1.0\n4 | 100 | 3.8 | 0.95"),
        ("MPI ranks | Solve (s) | Speedup", "1 | 380 | 1.0\n4 | 100 | 3.8"),
        ("Run | samples/s | Speedup", "single GPU | 100 | 1.0\nHorovod 2x2 | 380 | 3.8"),
        ("Config | samples/s | Speedup", "DDP (1 GPU) | 100 | 1.0\nDDP (4 GPUs) | 380 | 3.8"),
    ],
)
def test_speedups_are_checked_below_such_headers(tmp_path: Path, header: str, rows: str) -> None:
    bars = "|".join("---" for _ in header.split("|"))
    text = f"{header}\n{bars}\n{rows}\n"
    _, audits, _ = audited(write(tmp_path, text), (), None, None, None)
    assert [audit.checked.speedups for audit in audits] == [2]
    assert not audits[0].remarks
    _, (wrong,), _ = audited(
        write(tmp_path, text.replace("3.8 ", "3.1 ").replace("| 3.8", "| 3.1")), (), None, None, None
    )
    assert "speedup" in {remark.kind for remark in wrong.remarks}


def test_a_caption_says_what_the_numbers_are(tmp_path: Path) -> None:
    text = (
        "Throughput (tokens/s) by framework:\n\n| | Ours | Theirs |\n|---|---|---|\n"
        "| 1 GPU | 10 | 9 |\n| 8 GPUs | 70 | 61 |\n"
    )
    ours, theirs = read_published(write(tmp_path, text)).tables
    assert [row.number("throughput") for row in ours.rows] == [10, 70]
    assert [row.number("throughput") for row in theirs.rows] == [9, 61]


def test_what_was_not_measured_is_no_series(tmp_path: Path) -> None:
    text = "Speedup by devices:\n\nGPUs     1    2    4\nIdeal    1.0  2.0  4.0\nMeasured 1.0  1.9  3.5\n"
    (table,) = read_published(write(tmp_path, text, "t.txt")).tables
    assert [row.number("printed_speedup") for row in table.rows] == [1.0, 1.9, 3.5]


def test_numbers_printed_as_about_are_no_contradiction(tmp_path: Path) -> None:
    text = (
        "| GPUs | TFLOPS | Scaling efficiency |\n|---|---|---|\n| 1 | ~120 | |\n"
        "| 2 | ~250 | ~100% |\n| 4 | ~300 | 90% |\n"
    )
    _, (audit,), _ = audited(write(tmp_path, text), (), None, None, None)
    assert [(remark.kind, remark.gpus) for remark in audit.remarks if remark.kind == "efficiency"] == [
        ("efficiency", 4)
    ]


def test_costs_and_parts_of_a_step_are_not_read(tmp_path: Path) -> None:
    text = (
        "| GPUs | Time (h) | Speedup | $/Speedup | all-reduce time (ms) |\n|---|---|---|---|---|\n"
        "| 1 | 2.00 | 1.00x | $0.70/x | 0 |\n| 4 | 0.60 | 3.33x | $0.25/x | 31 |\n"
    )
    file, (audit,), _ = audited(write(tmp_path, text), (), None, None, None)
    assert file.tables[0].unread == ("$/Speedup", "all-reduce time (ms)")
    assert not audit.remarks


def test_speedups_over_something_else_are_not_called_faster_than_devices(tmp_path: Path) -> None:
    text = (
        "| Method | 1 GPU | 2 GPUs | 4 GPUs | Note |\n|---|---|---|---|---|\n"
        "| draft | 1.15x | 1.30x | 1.42x | ok |\n| plain | 1.1x | — | — | — |\n"
    )
    _, audits, _ = audited(write(tmp_path, text), (), None, None, None)
    (remark,) = audits[0].remarks
    assert remark.kind == "no base case"
    assert "1.15x on one device" in remark.sentence


@pytest.mark.parametrize(
    "text",
    [
        "| Units | img/s |\n|---|---|\n| 1 | 10 |\n| 2 | 19 |\n",
        "| GPUs | Rate A | Rate B |\n|---|---|---|\n| 1 | 10 | 9 |\n| 2 | 19 | 17 |\n",
        "| GPUs | Benefit |\n|---|---|\n| 1 | 1.0x |\n| 2 | 1.9x |\n",
    ],
)
def test_a_refusal_names_the_one_thing_to_add_and_it_works(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    try:
        _, audits, asked = audited(path, (), None, None, None)
    except UserError as error:
        said = str(error)
    else:
        assert not audits
        said = " ".join(map(question_of, asked))
    column = re.search(r"--column '([^']+)'", said)
    scaling = re.search(r"--scaling (\w+)", said)
    assert column or scaling, said
    _, audits, asked = audited(path, (column[1],) if column else (), None, scaling[1] if scaling else None, None)
    assert audits
    assert not asked


def test_a_measurement_is_not_proposed_as_devices(tmp_path: Path) -> None:
    text = "| Setup | Samples/sec | Speedup |\n|---|---|---|\n| slow | 150 | 1.0x |\n| quick | 280 | 1.87x |\n"
    with pytest.raises(UserError, match=r"add a column with the number of devices of each row"):
        audited(write(tmp_path, text), (), None, None, None)


def test_a_table_that_has_to_be_asked_leaves_the_others(tmp_path: Path) -> None:
    text = (
        "| GPUs | ms (x) |\n|---|---|\n| 1 | 5 |\n\n| GPUs | Speed |\n|---|---|\n"
        "| 1 | 50 |\n| 4 | 47 |\n\n| GPUs | img/s |\n|---|---|\n| 1 | 10 |\n| 2 | 19 |\n"
    )
    _, audits, asked = audited(write(tmp_path, text), (), None, None, None)
    assert len(audits) == len(asked) == 1


def test_corrections_reach_columns_of_all_readers(tmp_path: Path) -> None:
    path = write(tmp_path, TEXTS["booktabs.tex"].replace("images/s", "value"), "t.tex")
    (table,) = read_published(path, Corrections({"value": "throughput"})).tables
    assert [row.number("throughput") for row in table.rows] == [410.5, 790.2, 1460.8]


def test_other_baselines_have_to_be_precise_to_explain_a_ratio(tmp_path: Path) -> None:
    """Times of two digits agree with almost any efficiency relative to the row before."""
    text = "| GPUs | Latency (ms) | Efficiency |\n|---|---|---|\n| 1 | 7.7 | 100% |\n| 2 | 4.1 | 94% |\n"
    text += "| 4 | 2.1 | 93% |\n| 8 | 1.2 | 91% |\n"
    _, (audit,), _ = audited(write(tmp_path, text), (), None, None, None)
    assert [(remark.kind, remark.gpus) for remark in audit.remarks] == [("efficiency", 8)]


def test_sizes_of_the_work_tell_series_apart_and_ids_do_not(tmp_path: Path) -> None:
    text = "| Test | Edges | Ranks | Edges/second |\n|---|---|---|---|\n"
    text += "| 1 | 500 | 4 | 190 |\n| 2 | 900 | 4 | 310 |\n"
    text += "| 3 | 500 | 8 | 350 |\n| 4 | 900 | 8 | 590 |\n"
    _, audits, _ = audited(write(tmp_path, text), (), None, None, None)
    assert [len(audit.table.scales) for audit in audits] == [2, 2]
    assert not [remark for audit in audits for remark in audit.remarks]


def test_names_in_one_word_and_escapes_of_markdown_are_read(tmp_path: Path) -> None:
    text = "| ranks | wallTime [s] | parEff |\n|---|---|---|\n| 1 | 40 | 100% |\n| 4 | 12.5 | \\~80% |\n"
    _, (audit,), _ = audited(write(tmp_path, text), (), None, None, None)
    assert audit.checked.efficiencies == 2
    assert not audit.remarks


def test_a_mean_of_speedups_is_compared_with_its_spread(tmp_path: Path) -> None:
    text = "| GPUs | runtime (s) | speedup |\n|---|---|---|\n| 1 | 156.11 ± 4.2 | 1.0000 ± 0 |\n"
    for printed, remarks in (("1.5540 ± 0.034", []), ("1.6540 ± 0.034", ["speedup"])):
        rows = f"| 2 | 101.12 ± 0.9 | {printed} |\n"
        _, (audit,), _ = audited(write(tmp_path, text + rows), (), None, None, None)
        assert [remark.kind for remark in audit.remarks] == remarks


@pytest.mark.parametrize(
    "text",
    [
        "| Metric | 1 GPU | 4 GPUs | Speedup |\n|---|---|---|---|\n| Runtime | 400s (6.7 min) | 110s | 3.64x |\n"
        "| Throughput | 12.5 samples/s | 45.5 samples/s | 3.64x |\n| Loss | 2.1 | 2.2 | — |\n",
        "| Path | 1 GPU | 2 GPUs | 4 GPUs | 1→4 |\n|---|---|---|---|---|\n| a | 400 s | 205 s | 110 s | 3.64x |\n",
        "| Scenario | Throughput | Scaling |\n|---|---|---|\n| Single thread | 12.5 ops/s | 1.0x |\n"
        "| 4 threads (no lock) | 45.5 ops/s | 3.64x |\n",
    ],
)
def test_speedups_of_devices_across_and_of_labels_are_checked(tmp_path: Path, text: str) -> None:
    for changed, remarks in ((text, set()), (text.replace("3.64x", "3.14x"), {"speedup"})):
        _, (audit,), _ = audited(write(tmp_path, changed), (), None, None, None)
        assert audit.checked.speedups >= 1
        assert {remark.kind for remark in audit.remarks} == remarks


@pytest.mark.parametrize(
    ("cell", "gpus"),
    [
        ("1,024", 1024),
        ("3 RTX", 3),
        ("2x XPU + 2x CUDA", 4),
        ("Single thread", 1),
        ("(2, 4)", 8),
        ("4 (2 nodes)", 4),
    ],
)
def test_cells_of_devices(cell: str, gpus: int) -> None:
    assert read_count(cell).gpus == gpus


@pytest.mark.parametrize("cell", ["4,5", "4-7", "5 GB", "3.2x faster"])
def test_ids_of_devices_and_other_quantities_are_no_number_of_devices(cell: str) -> None:
    with pytest.raises(ValueError, match="is not a number of devices"):
        read_count(cell)


@pytest.mark.parametrize(
    ("label", "gpus", "words"),
    [
        ("Single", 1, ""),
        ("Distributed (2 CPU)", 2, "Distributed"),
        ("Multi-GPU (4×)", 4, "Multi-GPU"),
        ("DDP x4", 4, "DDP"),
        ("FSDP, 2 nodes x 8 GPUs", 16, "FSDP"),
        ("np=8", 8, ""),
    ],
)
def test_labels_that_name_devices(label: str, gpus: int, words: str) -> None:
    found = count_in_words(label)
    assert (found.gpus, found.words) == (gpus, words)


def test_what_would_be_ideal_is_no_measurement(tmp_path: Path) -> None:
    text = "| GPUs | tok/s | ideal tok/s | scaling eff % |\n|---|---|---|---|\n"
    text += "| 8 | 800 | 800 | 100 |\n| 16 | 1552 | 1600 | 97 |\n"
    file, (audit,), _ = audited(write(tmp_path, text), (), None, None, None)
    assert file.tables[0].unread == ("ideal tok/s",)
    assert (audit.checked.efficiencies, audit.remarks) == (2, ())
