"""One table in the forms of many markups: wikis, JSON, grids, LaTeX, HTML, lists, console output.

Each form is of our own numbers. `ONCE` is what a reader computes from them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, RATES, TIMES, audited, speedups, table

SIZES = ("1", "2", "4")
RATIOS = ("1.0", "1.9", "3.5")
SHARES = ("100%", "95%", "87.5%")
TWICE = tuple(str(2 * int(rate)) for rate in RATES)
ROWS = list(zip(SIZES, RATES, RATIOS, strict=True))
TIMED = list(zip(SIZES, TIMES, RATIOS, strict=True))
EIGHTS = [(8, 1.0), (16, 1.9), (32, 3.5)]


def rows(*columns: tuple[str, ...]) -> list[str]:
    return [";".join(cells) for cells in zip(*columns, strict=True)]


def lines(form: str, values: list[tuple[str, str, str]]) -> str:
    return "".join(form.format(*cells) for cells in values)


def tabular(columns: str, body: str, before: str = "", after: str = "") -> str:
    inside = f"\\begin{{tabular}}{{{columns}}}\n{body}\\end{{tabular}}"
    return f"\\begin{{table}}\n{before}{inside}\n{after}\\end{{table}}\n"


def html(*cells: str) -> str:
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


RECORDS = [{"gpus": int(size), "throughput": float(rate)} for size, rate, _ in ROWS]
WIKIS = {
    "jira": "||GPUs||img/s||\n" + lines("|{0}|{1}|\n", ROWS),
    "jira-spaces": "h3. Results\n|| GPUs || Rate (img/s) || Speedup ||\n" + lines("| {0} | {1} | {2}x |\n", ROWS),
    "jira-headers-of-rows": "||Nodes||Time (s)||\n" + lines("||{0}|{1}|\n", TIMED),
    "mediawiki": '{| class="wikitable"\n|+ Scaling\n! GPUs !! img/s\n'
    + lines("|-\n| {0} || {1}\n", ROWS)
    + "|}\n",
    "mediawiki-lines": "{|\n|-\n! GPUs\n! img/s\n" + lines("|-\n| {0}\n| {1}\n", ROWS) + "|}\n",
    "mediawiki-merged": '{|\n! rowspan="2" | GPUs !! colspan="2" | Throughput\n|-\n! img/s !! speedup\n'
    + lines("|-\n| {0} || {1} || {2}\n", ROWS)
    + "|}\n",
    "org": "| GPUs | img/s |\n|------+-------|\n" + lines("| {0} | {1} |\n", ROWS),
    "quoted": "> | GPUs | img/s |\n> |---|---|\n" + lines("> | {0} | {1} |\n", ROWS),
    "commented": "#: ====  =====\n#: GPUs  img/s\n#: ====  =====\n"
    + lines("#: {0}     {1}\n", ROWS)
    + "#: ====  =====\n",
}
JSON = {
    "list": json.dumps(RECORDS),
    "within": json.dumps({"results": RECORDS}, indent=2),
    "per-line": "\n".join(map(json.dumps, RECORDS)),
    "columns": json.dumps({"gpus": [1, 2, 4], "throughput": [410, 779, 1435]}),
    "fenced": f"Results:\n```json\n{json.dumps(RECORDS, indent=1)}\n```\n",
    "nested": json.dumps(
        [{"config": {"num_gpus": n}, "run": {"time_s": t}} for n, t in ((1, 100), (2, 52.6), (4, 28.57))]
    ),
}
DRAWN = {
    "light": "┌──────┬───────┐\n│ GPUs │ img/s │\n├──────┼───────┤\n"
    + lines("│ {0:<4} │ {1:<5} │\n", ROWS)
    + "└──────┴───────┘",
    "double": "╔══════╦═══════╗\n║ GPUs ║ img/s ║\n╠══════╬═══════╣\n"
    + lines("║ {0:<4} ║ {1:<5} ║\n", ROWS)
    + "╚══════╩═══════╝",
    "rich": "┏━━━━━━┳━━━━━━━┓\n┃ GPUs ┃ img/s ┃\n┡━━━━━━╇━━━━━━━┩\n"
    + lines("│ {0:<4} │ {1:<5} │\n", ROWS)
    + "└──────┴───────┘",
    "merged": "+------+----------------+\n| GPUs | Results        |\n"
    "|      +-------+--------+\n|      | img/s | speedup|\n"
    + "+------+-------+--------+\n"
    + lines("| {0:<4} | {1:<5} | {2:<6} |\n+------+-------+--------+\n", ROWS),
    "remarks": "Threads  Time    Speedup\n1        100s    1.0x\n2 "
    "       52.6s   1.9x   ← good\n4        28.57s  3.5x   # best\n",
    "frame": "   Threads  Time (s) Correctness\n"
    + "".join(f"{i}  {n:>7}  {t:>8}         Yes\n" for i, (n, t, _) in enumerate(TIMED)),
    "bars": "Solver | 1 Thread | 2 Threads | 4 Threads |\nA      | 100 s    | 52.6 s    | 28.57 s   |\n",
}
LISTS = {
    "dash": lines("* {0} GPUs - {1} img/s\n", ROWS),
    "glued": lines("GPU{0} total time: {1} sec, batch = 32\n", TIMED),
    "strategies": "single GPU: 100s/epoch 91@15\nDDP (two GPUs): 52.6s/epoch "
    "90@15\nDDP (four GPUs): 28.57s/epoch 92@15",
    "blocks": lines("{0} GPUs:\n  batch size: 64\n  throughput: {1} img/s\n\n", ROWS),
    "pairs-in-blocks": lines("gpus: {0}\nthroughput: {1}\n\n", ROWS),
    "yaml": lines("- gpus: {0}\n  time: {1} s\n", TIMED),
    "headings": lines("### {0} GPUs\nThroughput: {1} img/s\n", ROWS),
    "pairs": lines("Threads: {0}, Time: {1} s\n", TIMED),
    "in-front": lines("[{0} workers] {1} samples/s\n", ROWS),
    "assigned": lines("np={0}: {1} s\n", TIMED),
    "sentence": lines("With {0} GPUs: 1 epoch takes {1} s\n", TIMED),
    "numbered": lines("{0}. {0}x A100: **{1} img/s**\n", ROWS),
    "arrow": lines("{0} threads => {1} ms\n", TIMED),
    "variable": lines("OMP_NUM_THREADS={0}  time: {1} s\n", TIMED),
}
LATEX = {
    "siunitx": tabular(
        "rrr", "GPUs & img/s & Speedup \\\\ \\midrule\n" + lines("{0} & \\num{{{1}}} & ${2}\\times$ \\\\\n", ROWS)
    ),
    "two-lines": tabular(
        "rrr",
        "\\textbf{\\#GPUs} & \\textbf{Throughput} & \\textbf{Speedup}\\\\ & (img/s) & \\\\ \\hline\n"
        + lines("{0} & {1} & {2}\\\\\n", ROWS),
    ),
    "s-columns": tabular(
        "S[table-format=1.0]S[table-format=4.0]S",
        "{GPUs} & {\\si{img\\per\\second}} & {Speedup} \\\\\n" + lines("{0} & {1} & {2} \\\\\n", ROWS),
    ),
    "turned": tabular(
        "lrrr",
        "GPUs & 1 & 2 & 4 \\\\ \\hline\nRate (img/s) & 410 & 779 & 1435 "
        "\\\\\nSpeedup & $1.0\\times$ & $1.9\\times$ & $3.5\\times$ \\\\\n",
    ),
    "symbols": tabular(
        "ccc", "$p$ & $T_p$ (s) & $S_p$ \\\\ \\hline\n" + lines("${0}$ & ${1}$ & ${2}$ \\\\\n", TIMED)
    ),
    "notes": tabular(
        "rrr",
        "\\# GPUs & Rate\\textsuperscript{a} (img/s) & Speedup$^\\dagger$ \\\\\n"
        + lines("{0} & {1} & \\textbf{{{2}}}x \\\\\n", ROWS)
        + "\\multicolumn{3}{l}{\\footnotesize $^a$ mean of three runs}\\\\\n",
    ),
    "thead": tabular(
        "rrr",
        "\\thead{Number of\\\\GPUs} & \\thead{Images\\\\per second} & Speedup \\\\\n"
        + lines("{0} & {1} & {2} \\\\\n", ROWS),
    ),
    "multirow": tabular(
        "lrr",
        "Model & GPUs & Time (s) \\\\\n\\multirow{3}{*}{A} & 1 & 100 \\\\\n & 2 & 52.6 \\\\\n & 4 & 28.57 \\\\\n",
    ),
    "longtable": "\\begin{longtable}{rr}\n\\caption{x}\\\\\nGPUs & img/s "
    "\\\\ \\endfirsthead\nGPUs & img/s \\\\ \\endhead\n" + lines("{0} & {1} \\\\\n", ROWS) + "\\end{longtable}\n",
    "caption": tabular(
        "rr", "GPUs & ResNet \\\\\n" + lines("{0} & {1} \\\\\n", ROWS), after="\\caption{Throughput (img/s)}\n"
    ),
}
CELLS = [f"<td>{size}</td><td>{rate}</td>" for size, rate, _ in ROWS]
HTML = {
    "unclosed": "<table><tr><th>GPUs<th>img/s" + lines("<tr><td>{0}<td>{1}", ROWS) + "</table>",
    "caption": html("<th>GPUs</th><th>ResNet</th>", *CELLS).replace(
        "<tr>", "<caption>Rate (img/s)</caption><tr>", 1
    ),
    "title": html(
        "<td colspan=2>Scaling</td>",
        "<th>GPUs</th><th>img/s</th>",
        *(f"<td>{n}</td><td>{r}</td>" for n, r, _ in ROWS),
    ),
    "rowspan": html(
        "<th>Model</th><th>GPUs</th><th>Time (s)</th>",
        "<td rowspan=3>A</td><td>1</td><td>100</td>",
        "<td>2</td><td>52.6</td>",
        "<td>4</td><td>28.57</td>",
    ),
}
BELOW = (
    "*Table 2: Throughput (images/s).*",
    "Table 3. Training throughput in tokens per second",
    "_Rate (samples/s)_",
    ": Throughput (img/s) by GPUs",
)
CAPTIONS = {text: table("GPUs;ResNet", *rows(SIZES, RATES)) + f"\n{text}\n" for text in BELOW}
FORMS = WIKIS | JSON | DRAWN | LISTS | LATEX | HTML | CAPTIONS


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms_of_one_table(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert kinds([found]) == []


@pytest.mark.parametrize(
    "text",
    [
        "+------+-----------------+\n| GPUs | Rate img/s      |\n"
        "+------+--------+--------+\n|      | fp32   | fp16   |\n+======+========+========+\n"
        + "".join(
            f"| {n:<4} | {r:<6} | {t:<6} |\n+------+--------+--------+\n"
            for (n, r, _), t in zip(ROWS, TWICE, strict=True)
        ),
        tabular(
            "rrr",
            "\\multirow{2}{*}{GPUs} & \\multicolumn{2}{c}{Rate (img/s)} \\\\\n & FP32 & FP16 \\\\\n"
            + "".join(f"{n} & {r} & {t} \\\\\n" for (n, r, _), t in zip(ROWS, TWICE, strict=True)),
        ),
        html(
            "<th rowspan=2>GPUs</th><th colspan=2>Rate (img/s)</th>",
            "<th>FP32</th><th>FP16</th>",
            *(f"<td>{n}</td><td>{r}</td><td>{t}</td>" for (n, r, _), t in zip(ROWS, TWICE, strict=True)),
        ),
    ],
    ids=["grid", "latex", "html"],
)
def test_precisions_below_a_merged_header(tmp_path: Path, text: str) -> None:
    assert [speedups(one) for one in audited(tmp_path, text)] == [ONCE, ONCE]


NAMES = (
    "MPI np {}",
    "NP or NT {}",
    "nw={}",
    "ranks={}",
    "p={}",
    "{} threads",
    "#GPUs: {}",
    "workers {}",
    "{} card (s)",
    "cores: {}",
    "{} procs",
    "{}xA100",
    "GPU×{}",
    "TP={}",
)


@pytest.mark.parametrize("name", NAMES)
def test_headers_with_the_devices_across(tmp_path: Path, name: str) -> None:
    header = ";".join(("Solver", *(name.format(size) for size in SIZES)))
    found = audited(tmp_path, table(header, "A;100 s;52.6 s;28.57 s", "B;200 s;105.2 s;57.14 s"))
    assert [speedups(one) for one in found] == [ONCE, ONCE]


def test_ids_of_devices_across_are_no_numbers_of_devices(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column of devices"):
        audited(tmp_path, table("Kernel;GPU 0;GPU 1;GPU 2", "copy;10 ms;11 ms;10 ms", "add;4 ms;4 ms;5 ms"))


def test_a_ratio_between_rows_is_no_series(tmp_path: Path) -> None:
    text = "Throughput\n\n" + table(
        "Code;nw=1;nw=2;nw=4",
        "ours;410;779;1435",
        "theirs;205;389.5;717.5",
        "ours / theirs speedup;2.0x;2.0x;2.0x",
    )
    assert [speedups(one) for one in audited(tmp_path, text)] == [ONCE, ONCE]


DURATIONS = (
    "100 minutes, 0s;52 minutes, 36s;28 minutes, 34s",
    "1 hour, 40 minutes;52 minutes and 36 seconds;28 minutes and 34 seconds",
    "1 hour and 40 minutes;52.6 minutes;28.57 minutes",
    "1h40m;52m36s;28m34s",
)
RANGES = ("~400-420;~770-788;1420 - 1450", "400–420 img/s;770–788 img/s;1420–1450 img/s")


@pytest.mark.parametrize("cells", DURATIONS)
def test_durations_of_several_parts(tmp_path: Path, cells: str) -> None:
    (found,) = audited(tmp_path, table("GPUs;Time", *rows(SIZES, tuple(cells.split(";")))))
    assert speedups(found) == ONCE


@pytest.mark.parametrize("cells", RANGES)
def test_ranges(tmp_path: Path, cells: str) -> None:
    (found,) = audited(tmp_path, table("GPUs;Throughput (img/s)", *rows(SIZES, tuple(cells.split(";")))))
    assert speedups(found) == ONCE


def test_processes_times_threads(tmp_path: Path) -> None:
    cells = [
        "serial;1;1;100;1.0",
        "OpenMP;1;2;52.6;1.9",
        "OpenMP;1;4;28.57;3.5",
        "MPI;2;1;52.6;1.9",
        "MPI;4;1;28.57;3.5",
    ]
    found = audited(tmp_path, table("mode;processes;threads;time (s);speedup", *cells))
    assert [speedups(one) for one in found] == [ONCE, ONCE]
    assert kinds(found) == []
    (found_alike,) = audited(tmp_path, table("processes;threads;time (s)", *rows(SIZES, ("4", "4", "4"), TIMES)))
    assert speedups(found_alike) == ONCE, "equal threads leave the processes as the devices"


def test_nodes_tell_rows_with_as_many_ranks_apart(tmp_path: Path) -> None:
    cells = ["2;1;100", "4;2;52.6", "8;4;28.57", "4;1;60", "8;2;30"]
    found = audited(tmp_path, table("ranks;nodes;s/step", *cells))
    assert [speedups(one) for one in found] == [[(2, 1.0), (4, 1.9), (8, 3.5)], [(4, 1.0), (8, 2.0)]]
    assert kinds(found) == []


def test_sizes_of_problems_are_labels(tmp_path: Path) -> None:
    cells = [f"{size};{n};{t}" for size in ("1000", "2000") for n, t, _ in TIMED]
    found = audited(tmp_path, table("Matrix Size;Nodes;Time (s)", *cells))
    assert [speedups(one) for one in found] == [ONCE, ONCE]
    with pytest.raises(UserError, match="no column of devices"):
        audited(tmp_path, table("Grid Size;Serial (s);Parallel (s)", "128x128;1.9;0.5", "256x256;5.3;1.8"))


def test_the_time_that_explains_the_printed_speedups_is_used(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table("nodes;ms/step;speedup;elapsed", *rows(SIZES, TIMES, RATIOS, ("3:00", "2:50", "4:10")))
    )
    assert speedups(found) == ONCE
    assert (found.checked.speedups, kinds([found])) == (3, [])


def test_speedups_without_throughputs_are_relative_to_the_row_that_says_1(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("nodes;ranks;speedup;eff", *rows(SIZES, ("8", "16", "32"), RATIOS, SHARES)))
    assert speedups(found) == EIGHTS
    assert (found.checked.efficiencies, kinds([found])) == (3, ["no base case"])


def test_a_spread_is_no_measurement(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Mean time (s);Std dev (s)", *rows(SIZES, TIMES, ("1", "0.5", "0.2"))))
    assert (speedups(found), found.source.unread) == (ONCE, ("Std dev (s)",))


def test_an_efficiency_behind_a_speedup_is_of_the_same_column(tmp_path: Path) -> None:
    cells = rows(SIZES, ("120", "130", "140"), TIMES, RATIOS, SHARES)
    plain, fast = audited(tmp_path, table("GPUs;Plain (ms);NCCL (ms);NCCL Speedup;Efficiency", *cells))
    assert (plain.checked.efficiencies, fast.checked.efficiencies) == (0, 3)


def test_instances_of_a_cloud_are_their_devices(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path,
        table("Instance;Epoch time (s)", *rows(("p3.16xlarge", "2x p3.16xlarge", "4x p3.16xlarge"), TIMES)),
    )
    assert (speedups(found), kinds([found])) == (EIGHTS, [])
    assert "'p3.16xlarge' has 8 devices by its provider's list" in found.source.notes
    (found,) = audited(
        tmp_path, table("Machine;img/s", *rows(("a2-highgpu-1g", "a2-highgpu-2g", "a2-highgpu-4g"), RATES))
    )
    assert speedups(found) == ONCE
    found_two = audited(tmp_path, table("Instance;img/s", "p3.16xlarge;410", "2x p4d.24xlarge;2870"))
    assert "confounded" in kinds(found_two)


def test_a_row_of_another_form_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text(
        "Threads  Time    Speedup\n1        100s    1.0x\n2        52.6s   1.9x\n4   28.57s  3.5x  7  9\n"
    )
    file = read_published(path)
    assert any("line 4" in note for note in file.tables[0].notes)
    assert not audit_file(file, "table")[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (table("Phase;per GPU;8 GPUs", "one;6.25 GH/s;49.2 GH/s"), "only '8 GPUs' names a number of devices"),
        (
            "A code, on two machines\nwith a long text, and commas,\nthat goes on\nwithout rows, or so",
            "none was recognised",
        ),
        (table("np;work;span", "1;10;4.2", "2;10;2.2"), "--column 'span=total_time_s'"),
        (table("Model;1 GPU;2 GPUs;gain", "A;410;420;1.3x"), "what are the numbers below the devices"),
        (
            table("Set;Time", "A;1 h") + "\n\n" + table("Kind;Time", "B;2 h"),
            "add a column with the number of devices",
        ),
    ],
)
def test_refusals_name_what_to_add(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "table.md"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        read_published(path)
    assert said in str(error.value)


def test_numbers_of_a_size_are_no_devices(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column of devices"):
        audited(tmp_path, table("Input Size;Serial (s);Parallel (s)", "1,000;0.001;0.15", "10,000;0.01;0.18"))


@pytest.mark.parametrize(
    "labels", ["單 GPU;DDP (2 GPU);DDP (4 GPU)", "单卡;DDP (2卡);DDP (4卡) + 桶", "單卡;雙卡;四卡"]
)
def test_chinese_labels_of_devices(tmp_path: Path, labels: str) -> None:
    found = audited(tmp_path, table("訓練方法;吞吐量 (samples/s)", *rows(tuple(labels.split(";")), RATES)))
    last = speedups(found[-1])[-1]
    assert last == (4, 3.5)


def test_ideal_rows_of_a_turned_table_are_left_out(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, "GPU数量:  1     2     4\n理想加速: 1x    2x    4x\n实际加速: 1.0x  1.9x  3.5x\n")
    assert speedups(found) == ONCE


def test_serial_and_parallel_versions_are_one_program(tmp_path: Path) -> None:
    cells = ["Serial (`a.py`);1;20 h;1x", "Parallel (`b.py`);8;2.5 h;8x", "Parallel (`b.py`);16;1.25 h;16x"]
    (found,) = audited(tmp_path, table("Version;Cores;Time;Speedup", *cells))
    assert (found.checked.speedups, kinds([found])) == (3, [])


def test_several_baselines_of_other_programs_make_no_claim_on_the_scaling(tmp_path: Path) -> None:
    cells = ["Lite;1;115", "Pro;1;21.7", "Max;8;23.1"]
    (found,) = audited(tmp_path, table("Run;GPUs;Aggregate fps", *cells))
    assert kinds([found]) == ["two base cases", "confounded"]


@pytest.mark.parametrize(
    "text",
    [
        "procs,time_s\n1,100\n# on a busy host\n2,52.6\n4,28.57\n",
        lines("Running with {0} threads... {1} s\n", TIMED),
    ],
)
def test_remarks_between_rows_do_not_end_a_table(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


@pytest.mark.parametrize(
    "names",
    [("Metric", "Value"), ("variable", "value"), ("Measurement", "Result"), ("Metric name", "Metric value")],
)
def test_a_row_for_each_measurement(tmp_path: Path, names: tuple[str, str]) -> None:
    """Under other names than `metric` and `value`, all measurements were read as one throughput."""
    cells = [
        f"{size};{what};{number}"
        for size, *numbers in ROWS
        for what, number in zip(("img/s", "Speedup"), numbers, strict=True)
    ]
    (found,) = audited(tmp_path, table(f"GPUs;{';'.join(names)}", *cells))
    assert speedups(found) == ONCE
    assert found.checked.speedups == 3


def test_a_setup_with_two_rows_of_one_measurement_keeps_both(tmp_path: Path) -> None:
    cells = [f"{size};img/s;{rate}" for size, rate, _ in ROWS]
    (found,) = audited(tmp_path, table("GPUs;Metric;Value", *cells, "4;img/s;1400"))
    assert kinds([found]) == ["printed twice"]


@pytest.mark.parametrize("units", [";ms;", "-;(ms);-", "[#];[ms];[-]", ";ms;%"])
def test_a_row_of_units_below_the_headers(tmp_path: Path, units: str) -> None:
    ratios = SHARES if "%" in units else RATIOS
    cells = [f"{size};{time};{ratio.strip('%')}" for size, time, ratio in zip(SIZES, TIMES, ratios, strict=True)]
    name = "Efficiency" if "%" in units else "Speedup"
    text = table(f"GPUs;Step time;{name}", units, *cells)
    path = tmp_path / "table.md"
    path.write_text(text)
    (read,) = read_published(path).tables
    assert [row.number("step_time_s") for row in read.rows] == [0.1, pytest.approx(0.0526), pytest.approx(0.02857)]
    assert len([row for row in read.rows if row.printed_speedup or row.printed_efficiency]) == 3


@pytest.mark.parametrize("unit", ["first", "last"])
def test_a_unit_in_one_row_is_that_of_the_column(tmp_path: Path, unit: str) -> None:
    rows = [f"{size};{time}" for size, time, _ in TIMED]
    at = 0 if unit == "first" else -1
    rows[at] += " s"
    (found,) = audited(tmp_path, table("#GPU;mode A", *rows))
    assert speedups(found) == ONCE


@pytest.mark.parametrize("group", ["Training", "Performance", "ResNet-50"])
def test_a_name_over_all_measurements_is_a_title(tmp_path: Path, group: str) -> None:
    """`Performance` made a throughput of each column below it."""
    text = table(
        f"GPUs;{group};;",
        ";GFLOPS;Time (s);Speedup",
        *[f"{a};{b};{c};{d}" for (a, b, d), c in zip(ROWS, TIMES, strict=True)],
    )
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert {one.role for one in found.source.columns} == {"gpus", "throughput", "time_s", "printed_speedup"}


def test_a_name_over_the_first_of_its_columns_is_that_of_all(tmp_path: Path) -> None:
    rows = [
        f"{size};{rate};{ratio};{twice};{ratio}" for (size, rate, ratio), twice in zip(ROWS, TWICE, strict=True)
    ]
    found = audited(tmp_path, table("GPUs;A100;;H100;", ";img/s;Speedup;img/s;Speedup", *rows))
    assert [(speedups(one), one.checked.speedups) for one in found] == [(ONCE, 3), (ONCE, 3)]


def test_a_block_of_code_is_a_text_of_its_own(tmp_path: Path) -> None:
    rows = "".join(f"20    --jobs {size}  {time} s\n" for size, time, _ in TIMED)
    text = f"Runs of 3 days; more, as said, below.\n\n```\nSize  Arm       Median\n{rows}```\n\nMore, in words.\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


@pytest.mark.parametrize("form", ["{} (x{})", "{} (\u00d7{})", "{} [x{}]", "{} \u2192 {}x", "{} -> {}x"])
def test_a_speedup_behind_its_measurement(tmp_path: Path, form: str) -> None:
    rows = [f"{size};{form.format(rate, ratio)}" for size, rate, ratio in ROWS]
    (found,) = audited(tmp_path, table("GPUs;img/s", *rows))
    assert (speedups(found), found.checked.speedups) == (ONCE, 3)


@pytest.mark.parametrize("header", ["Median in s", "Original code in ms"])
def test_a_unit_of_time_behind_the_word_in(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;{header}", *[f"{size};{time}" for size, time, _ in TIMED]))
    assert speedups(found) == ONCE


def test_about_is_about_in_latex(tmp_path: Path) -> None:
    """The sign of an approximate number was taken for a space, and the number for an exact one."""
    body = (
        r"GPUs & img/s & Efficiency \\\\"
        + "\n"
        + r"1 & $\sim$100 & - \\\\ 2 & $\sim$210 & $\sim$100\% \\\\"
        + "\n"
    )
    (found,) = audited(tmp_path, tabular("rrr", body))
    assert "efficiency" not in kinds([found])


def test_commas_in_brackets_do_not_separate_cells(tmp_path: Path) -> None:
    text = "GPUs  Time (mean, std)\n   1   (100.0, 0.04)\n   2   (52.6, 0.08)\n   4   (28.57, 0.02)\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


@pytest.mark.parametrize("names", ["NVLink (s);PCIe (s)", "FP32 (GFLOPS);FP16 (GFLOPS)"])
def test_a_unit_in_brackets_makes_a_measurement_of_any_name(tmp_path: Path, names: str) -> None:
    values = TIMES if "(s)" in names else RATES
    rows = [f"{size};{value};{2 * float(value):g}" for size, value in zip(SIZES, values, strict=True)]
    found = audited(tmp_path, table(f"GPUs;{names}", *rows))
    assert [speedups(one) for one in found] == [ONCE, ONCE]


@pytest.mark.parametrize("form", ["{} (ms)", "ms ({})"])
def test_a_unit_in_each_header_of_devices_is_that_of_the_row(tmp_path: Path, form: str) -> None:
    path = tmp_path / "table.md"
    names = [form.format(f"{size} threads") for size in SIZES]
    path.write_text(table(f"Metric;{';'.join(names)}", f"Runtime;{';'.join(TIMES)}"))
    (read,) = read_published(path).tables
    assert [row.number("time_s") for row in read.rows] == [0.1, pytest.approx(0.0526), pytest.approx(0.02857)]


def test_msecs_are_milliseconds(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Threads;Runtime", *[f"{size};{time} msecs" for size, time, _ in TIMED]))
    (read,) = read_published(path).tables
    assert read.rows[0].number("time_s") == pytest.approx(0.1)


def test_performance_over_other_columns_is_a_title_too(tmp_path: Path) -> None:
    """The time of a start below it was read as a throughput."""
    rows = [f"{size} threads;{time} s;{ratio};{12 + int(size)} s" for size, time, ratio in TIMED]
    (found,) = audited(tmp_path, table(";Performance;;", "Config;Warm time;Speedup;Cold start", *rows))
    assert speedups(found) == ONCE
    assert found.checked.speedups == 3


def test_times_of_several_systems_across_beside_their_ratio(tmp_path: Path) -> None:
    text = table("NP;1;2;4", "Plain (s);100;110;120", "Tiled (s);100;52.6;28.57", "Speedup;1.00;2.09;4.20")
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 0.91), (4, 0.83)], ONCE]


def test_measurements_with_units_are_no_row_of_units(tmp_path: Path) -> None:
    text = table("gpus;1x T4;2x T4;4x T4", "s/epoch;260s/epoch;137s/epoch;74s/epoch")
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (2, 1.9), (4, 3.51)]
