"""Devices in headings, captions and titles of sections, and measurements in paragraphs of text."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_printed_habits import RATES, TIMES, audited, speedups

ONCE = [(1, 1.0), (2, 1.9), (4, 3.5)]
N = ("1", "2", "4")
DOUBLED = [str(2 * float(time)) for time in TIMES]


def sections(title: str, body: str, rows: list[str] = TIMES, second: list[str] = DOUBLED) -> str:
    """A title and a body for each number of devices: {n}, {a} and {b}."""
    parts = [
        f"{title}\n{body}".format(n=n, s="s" if n != "1" else "", a=a, b=b)
        for n, a, b in zip(N, rows, second, strict=True)
    ]
    return "\n".join(parts)


def is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "text.md"
    path.write_text(text)
    with pytest.raises(UserError):
        read_published(path)


PIPES = "\n| Model | Time (s) |\n|---|---|\n| A | {a} |\n| B | {b} |\n"
SECTIONS = {
    "headings": sections("### {n} GPU{s}\n", PIPES),
    "bold": sections("**{n} GPU{s}:**\n", PIPES),
    "captions": sections("Table {n}: Training time on {n} GPU{s}\n", PIPES),
    "html": sections(
        "<h3>{n} GPU{s}</h3>",
        "<table><tr><th>Model</th><th>Time (s)</th></tr><tr><td>A</td><td>{a}</td></tr>"
        "<tr><td>B</td><td>{b}</td></tr></table>",
    ),
    "latex": sections(
        "\\begin{{table}}\\caption{{Time on {n} GPU{s}.}}",
        "\\begin{{tabular}}{{lr}} Model & Time (s)\\\\ A & {a}\\\\ B & {b}\\\\ \\end{{tabular}}\\end{{table}}",
    ),
    "restructured": sections(
        "{n} GPU{s}\n------\n",
        "=====  ========\nModel  Time (s)\n=====  ========\nA      {a}\nB      {b}\n=====  ========\n",
    ),
    "items": sections("### {n} GPU{s}", "- A: {a} s\n- B: {b} s\n"),
    "framed": sections("== {n} thread{s} ==", "copy: {a} ms\nscale: {b} ms"),
    "printed": sections(
        "Running with {n} thread{s}\n", "kernel      time(ms)\ncopy        {a}\nscale       {b}\n"
    ),
    "variable": sections("# OMP_NUM_THREADS={n}", "Function    Avg time\nCopy:       {a}\nTriad:      {b}\n"),
    "batches": sections(
        "#### {n} GPU{s}\n", PIPES.replace("Model", "Batch size").replace("A", "16").replace("B", "32")
    ),
    "rows": "| Model | Time (s) |\n|---|---|\n" + sections("| **{n} GPU{s}** | |", "| A | {a} |\n| B | {b} |"),
}


@pytest.mark.parametrize("text", SECTIONS.values(), ids=SECTIONS)
def test_devices_above_tables_and_lists(tmp_path: Path, text: str) -> None:
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [ONCE, ONCE]


def test_a_note_says_where_the_devices_are_named(tmp_path: Path) -> None:
    found = audited(tmp_path, SECTIONS["headings"])
    assert any(
        "the devices of these tables are named above or below them" in note for note in found[0].source.notes
    )


@pytest.mark.parametrize(
    "text",
    [
        sections("### {n} GPU{s}\n", "\n| Throughput (img/s) | Memory |\n|---|---|\n| {a} | 31 GB |\n", RATES),
        "### single GPU\n\n| img/s |\n|---|\n| 410 |\n\n### 2 GPUs\n\n| img/s |\n|---|\n| 779 |\n\n"
        "### 4 GPUs\n\n| img/s |\n|---|\n| 1435 |\n",
    ],
    ids=["one-row", "single"],
)
def test_devices_above_tables_with_one_row(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


@pytest.mark.parametrize(
    "text",
    [
        "### 4 GPUs\n" + PIPES.format(a=1, b=2) + "\n### 8 GPUs on another cluster\n" + PIPES.format(a=1, b=2),
        "### 4 GPUs\n" + PIPES.format(a=1, b=2) + "\n### 8 GPUs\n" + PIPES.replace("A", "C").format(a=1, b=2),
        "### Version 1\n" + PIPES.format(a=1, b=2) + "\n### Version 2\n" + PIPES.format(a=1, b=2),
    ],
    ids=["other-words", "other-rows", "no-devices"],
)
def test_tables_of_other_things_are_not_joined(tmp_path: Path, text: str) -> None:
    is_refused(tmp_path, text)


PARAGRAPHS = {
    "behind": "On one GPU we get 410 img/s, with 2 GPUs 779 img/s and on 4 GPUs it's 1435 img/s.",
    "before": "We observe 410 img/s on one A100, 779 img/s on two A100s, and 1,435 img/s on 4 A100s.",
    "named-before": "I tested 1, 2 and 4 GPUs. The rate on 1 GPU is 410 img/s, on 2 GPUs 779 img/s, "
    "on 4 GPUs 1435 img/s.",
    "inline": "1 GPU: 410 samples/s | 2 GPUs: 779 samples/s | 4 GPUs: 1435 samples/s",
    "wrapped": "Training on a single V100 takes 100 min per epoch,\nwhile on 2 V100s it takes 52.6 min per epoch\n"
    "and on 4 V100s 28.57 min per epoch.",
    "slashes": "1 / 2 / 4 GPUs: 410 / 779 / 1435 img/s",
    "arrows": "100 sec -> 52.6 sec -> 28.57sec\n1 GPU -> 2GPU -> 4 GPU",
    "sentences": 'while i use one gpu, the log of speed is "410 samples/sec"\n'
    'when i use two gpus, the speed is "779 samples/sec"\nwhen i use 4 gpus, it is "1435 samples/sec"',
}


@pytest.mark.parametrize("text", PARAGRAPHS.values(), ids=PARAGRAPHS)
def test_paragraphs(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert any("the numbers are from sentences" in note for note in found.source.notes)


@pytest.mark.parametrize(
    "text",
    [
        "On 4 GPUs the training took 12 hours, and on 8 GPUs an epoch took 3 hours.",
        "Accuracy is 76 % on 1 GPU and 75 % on 8 GPUs.",
        "It has 4 GPUs and reaches 410 img/s.",
        "On 4 GPUs it took 12 s, and at batch 32 it took 8 s.",
    ],
    ids=["other-things", "accuracy", "one", "no-devices"],
)
def test_paragraphs_of_other_things(tmp_path: Path, text: str) -> None:
    is_refused(tmp_path, text)


PROGRAMS = {
    "go": "".join(f"BenchmarkFoo-{n}  \t 100\t  {t} ns/op\n" for n, t in zip(N, TIMES, strict=True)),
    "google": "".join(f"BM_Foo/threads:{n}  {t} ns  102 ns  6800000\n" for n, t in zip(N, TIMES, strict=True)),
    "google-items": "".join(
        f"BM_Foo/real_time/threads:{n}  9 ns  102 ns  6800000 items_per_second={r}k/s\n"
        for n, r in zip(N, RATES, strict=True)
    ),
    "jmh": "Benchmark                 (threads)  Mode  Cnt     Score     Error  Units\n"
    + "".join(
        f"Bench.run                         {n}  thrpt   5  {r} \u00b1  20.111  ops/s\n"
        for n, r in zip(N, RATES, strict=True)
    ),
    "unit": "threads,value,unit\n" + "".join(f"{n},{t},ms/op\n" for n, t in zip(N, TIMES, strict=True)),
    "shell": "".join(
        f"{n} threads => real {t}  user 3.17  sys 0.19\n"
        for n, t in zip(N, ("100.0", "52.6", "28.57"), strict=True)
    ),
    "shell-behind": "".join(
        f"{n} threads: {t} real 3.17 user 0.19 sys\n" for n, t in zip(N, ("100.0", "52.6", "28.57"), strict=True)
    ),
    "versus": "N_cores .v.s Time(s)\n" + "".join(f"0{n}  {t}\n" for n, t in zip(N, TIMES, strict=True)),
    "letter": "T=number of threads\nTime (s)\n\n" + "".join(f"T={n} {t}\n" for n, t in zip(N, TIMES, strict=True)),
    "lines": "".join(
        f"  {2 * i + 1}. Number of threads: {n}\n  {2 * i + 2}. Elapsed Time: {t}\n"
        for i, (n, t) in enumerate(zip(N, TIMES, strict=True))
    ),
    "powers": "nthreads time_s\n" + "".join(f"{n}.000000e+00 {t}\n" for n, t in zip(N, TIMES, strict=True)),
    "corner": "            1 core   2 cores   4 cores\ncase A time (s)       100      52.6       28.57\n",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_what_programs_print(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


def test_a_list_that_starts_again_below_a_title_is_another_one(tmp_path: Path) -> None:
    rows = [f"# {n} threads {t} sec" for n, t in zip(N, TIMES, strict=True)]
    text = "\n".join(["# slow version", *rows[:1], "# 4 threads 50 sec", "", "# fast version", *rows])
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 2.0)], ONCE]


def test_a_share_with_another_name_is_no_efficiency(tmp_path: Path) -> None:
    lines = [f"- for {n} GPUs --> testing error = 2.{n}%, duration = {t}s" for n, t in zip(N, TIMES, strict=True)]
    (found,) = audited(tmp_path, "\n".join(lines))
    assert speedups(found) == ONCE
    assert not found.remarks


def test_labels_in_front_of_the_devices_are_series(tmp_path: Path) -> None:
    text = "single GPU: 100s/epoch\nDataParallel(two GPUs): 80s/epoch\nDistributedDP(two GPUs): 52.6s/epoch\n"
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.25)], [(1, 1.0), (2, 1.9)]]


def test_a_ratio_over_the_row_without_one_is_not_of_scaling(tmp_path: Path) -> None:
    rows = [
        "| DDP | 4 | 208.1k |",
        "| Ours | 4 | 245.1k (1.18x) |",
        "| DDP | 8 | 400.0k |",
        "| Ours | 8 | 480.0k (1.20x) |",
    ]
    found = audited(tmp_path, "\n".join(["| Config | GPUs | tokens/s |", "|---|---|---|", *rows]))
    assert [speedups(one) for one in found] == [[(4, 1.0), (8, 1.92)], [(4, 1.0), (8, 1.96)]]
    assert not any(one.remarks for one in found)


def test_steps_of_a_simulation_are_no_times(tmp_path: Path) -> None:
    rows = [f"| {n} | 200 | {t} |" for n, t in zip(N, TIMES, strict=True)]
    (found,) = audited(tmp_path, "\n".join(["| slots | time steps | result (ms) |", "|---|---|---|", *rows]))
    assert speedups(found) == ONCE


def test_performance_relative_to_another_system_is_left_out(tmp_path: Path) -> None:
    text = "nodes  time_avg   speedup  rel_perf\n1  100  1.0 1.000\n2  52.6  1.9 1.003\n4  28.57  3.5 0.999\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert not found.remarks
