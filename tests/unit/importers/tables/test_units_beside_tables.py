"""Units that only a sentence, a caption or a note beside the table states."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.units_in_words import rates_in, times_in
from scalestudy.publish.quantity import quantity_of
from test_printed_habits import ONCE, audited, speedups, table

RATES = ("1;100", "2;190", "4;350")
FALLING = ("1;100", "2;52.6", "4;28.57")


def rates(header: str = "Throughput") -> str:
    return table(f"GPUs;{header}", *RATES)


def times(header: str = "Time") -> str:
    return table(f"Cores;{header}", *FALLING)


def unit_of(found: Audit) -> str:
    return quantity_of(found).unit


def seconds(found: Audit) -> float:
    """The time of the smallest scale."""
    quantity = quantity_of(found)
    assert quantity.unit == "s"
    return round(quantity.of(found.table.scales[0]), 6)


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ("Throughput in samples per second.", "samples/s"),
        ("Performance numbers (in samples per second) are means.", "samples/s"),
        ("We trained for an epoch each. All numbers are in tokens/s.", "tokens/s"),
        ("**Unit: sentences/s**", "sentences/s"),
        ("混合精度训练。单位：samples/s", "samples/s"),
        ("Throughput (frames/s) and a batch of 32 per GPU.", "frames/s"),
        ("Figure of merit (zones/s), size 90", "zones/s"),
        ("Numbers are samples\nper second, higher is better.", "samples/s"),
    ],
)
def test_the_text_states_the_unit_of_rates(words: str, unit: str, below: bool, tmp_path: Path) -> None:
    text = f"Our cluster.\n\n{rates()}\n{words}\n" if below else f"Our cluster.\n\n{words}\n\n{rates()}"
    (found,) = audited(tmp_path, text)
    assert (unit_of(found), speedups(found)) == (unit, ONCE)


@pytest.mark.parametrize("header", ["Performance", "Speed", "Training throughput", "吞吐"])
def test_headers_without_a_unit(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, f"Results in clips/s\n\n{rates(header)}")
    assert unit_of(found) == "clips/s"


def test_the_unit_of_a_header_or_of_a_cell_wins(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, f"Throughput in images/s.\n\n{rates('Throughput (tokens/s)')}")
    assert unit_of(found) == "tokens/s"
    rows = ("1;100 seq/s", "2;190 seq/s", "4;350 seq/s")
    (found,) = audited(tmp_path, "Throughput in images/s.\n\n" + table("GPUs;Throughput", *rows))
    assert unit_of(found) == "seq/s"


@pytest.mark.parametrize(
    "words",
    [
        "Throughput in images/s for ViT and in tokens/s for GPT.",
        "The loader alone reaches 12,000 images/s. Throughput of the training:",
        "Images per second do not grow further on 8 GPUs. Throughput:",
        "The trend of tokens/s is in Figure 3. Throughput:",
        "Throughput in steps/s",
        "Flow around a cylinder at a high speed (m/s)",
    ],
)
def test_words_that_state_no_unit(words: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, f"{words}\n\n{rates()}")
    assert (unit_of(found), speedups(found)) == ("work/s", ONCE)


def test_a_sentence_on_another_table_says_nothing(tmp_path: Path) -> None:
    first, second = f"## ViT\n\nThroughput in images/s.\n\n{rates()}", f"## GPT\n\nThe same script.\n\n{rates()}"
    assert [unit_of(one) for one in audited(tmp_path, f"{first}\n{second}")] == ["images/s", "work/s"]
    silent = f"## ViT\n\nThroughput in images/s.\n\n{rates()}\n## GPT\n\n{rates()}"
    assert [unit_of(one) for one in audited(tmp_path, silent)] == ["images/s", "work/s"]
    between = f"{rates()}\nWith another model, in tokens/s:\n\n{rates('Speed')}"
    assert [unit_of(one) for one in audited(tmp_path, between)] == ["work/s", "tokens/s"]


def test_a_sentence_on_all_tables_of_a_section(tmp_path: Path) -> None:
    text = f"## Results\n\nAll numbers are in images/s.\n\n### V100\n\n{rates()}\n### A100\n\nNewer.\n\n{rates()}"
    assert [unit_of(one) for one in audited(tmp_path, text)] == ["images/s", "images/s"]


def test_two_tables_below_one_text(tmp_path: Path) -> None:
    text = "Two back ends (img/s), and the scaling of the second.\n\n"
    other = table("Backend;Throughput", "gloo;90", "nccl;100")
    (found,) = audited(tmp_path, f"{text}{other}\n{rates()}")
    assert unit_of(found) == "img/s"


@pytest.mark.parametrize(
    "words",
    [
        "Throughput (samples/s, all GPUs).",
        "Numbers are samples per second over all GPUs",
        "Measured with AMP. Total throughput in samples/s.",
    ],
)
def test_the_text_says_that_rates_are_of_all_devices(words: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, f"{words}\n\n{rates()}")
    note = "the throughputs are of all devices, as stated beside the table"
    column = found.source.column("throughput")
    assert column is not None and column.per == "all"
    assert (unit_of(found), found.source.notes) == ("samples/s", (note,))


@pytest.mark.parametrize(
    "words", ["Samples per second per GPU.", "We use AMP.\n\nPer-GPU throughput in samples/s:", "Samples/s/GPU"]
)
def test_the_text_says_that_rates_are_per_device(words: str, tmp_path: Path) -> None:
    text = f"{words}\n\n" + table("GPUs;Throughput", "1;100", "2;95", "4;87.5")
    (found,) = audited(tmp_path, text)
    assert (unit_of(found), speedups(found)) == ("samples/s", ONCE)
    assert found.source.notes == ("the throughputs are per device, as stated beside the table",)


@pytest.mark.parametrize(
    ("words", "per", "stated"),
    [
        ("Tokens per second (per GPU in parentheses)", "", True),
        ("Images per second per GPU drops by 5 %", "gpu", False),
        ("it does 410 images/s per GPU", "gpu", False),
        ("Numbers are per-GPU samples/s", "gpu", True),
        ("Throughput (images/s) per GPU", "gpu", True),
        ("tokens/s on each of 8 GPUs", "gpu", True),
        ("Aggregate tokens/s", "all", True),
        ("Throughput in images/s, per-GPU batch size 32", "", True),
        ("Throughput with a batch of 64 per GPU (img/s)", "", True),
        ("Throughput with a global batch of 256 in images/s", "", True),
        ("One process per GPU (images/s)", "", True),
    ],
)
def test_whose_rates_a_sentence_states(words: str, per: str, stated: bool) -> None:
    assert [(one.per, one.stated) for one in rates_in(words)] == [(per, stated)]


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(
    ("words", "base"),
    [
        ("Wall clock time in seconds and efficiency of the fine mesh.", 100.0),
        ("T in seconds, p = number of processes.", 100.0),
        ("Times are in ms.", 0.1),
        ("Run time of the solver, in minutes.", 6000.0),
        ("All values in hours", 360000.0),
        ("All timings in milliseconds, lower is better.", 0.1),
        ("Times are the median of 5 runs in ms.", 0.1),
        ("The runtime is measured in wall clock seconds.", 100.0),
        ("Communication time in ms. Total time in seconds.", 100.0),
    ],
)
def test_the_text_states_the_unit_of_times(words: str, base: float, below: bool, tmp_path: Path) -> None:
    text = f"Our cluster.\n\n{times()}\n{words}\n" if below else f"Our cluster.\n\n{words}\n\n{times()}"
    (found,) = audited(tmp_path, text)
    assert (seconds(found), speedups(found)) == (base, ONCE)


@pytest.mark.parametrize("header", ["T", "t", "Runtime", "t_avg"])
def test_headers_of_times_without_a_unit(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, f"T in ms, on one node.\n\n{times(header)}")
    assert seconds(found) == 0.1


def test_a_comment_of_a_file_of_csv_states_the_unit(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, "# cavity, 512 x 512\n# t in ms\nnp,t_avg\n1,100\n2,52.6\n4,28.57\n")
    assert seconds(found) == 0.1


@pytest.mark.parametrize(
    "words",
    [
        "The job limit is given in hours. The solver converges in minutes.",
        "Time in seconds, all other times in ms.",
        "The runs took 60 seconds or more.",
        "Time in cycles.",
        "Communication time in ms.",
        "A simulated time in ns.",
    ],
)
def test_words_that_state_no_unit_of_times(words: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, f"{words}\n\n{times()}")
    assert (unit_of(found), speedups(found)) == ("", ONCE)


def test_a_serial_time_has_the_unit_of_the_parallel_one(tmp_path: Path) -> None:
    rows = ("1;400;400;1.00", "2;400;210;1.90", "4;400;110;3.64")
    (found,) = audited(tmp_path, "Times in ms.\n\n" + table("Cores;Sequential time;Parallel time;Speedup", *rows))
    row = found.table.scales[0].row
    assert [row.number(role) for role in ("serial_time_s", "time_s")] == [0.4, 0.4]
    assert not found.remarks


def test_a_note_in_the_environment_of_a_table_states_the_unit(tmp_path: Path) -> None:
    rows = "Cores & Time & Speedup \\\\\n1 & 100 & 1.0 \\\\\n2 & 52.6 & 1.9 \\\\\n"
    own = "\\begin{{table}}\n\\begin{{tabular}}{{rrr}}\n{0}\\end{{tabular}}\n{1}\\end{{table}}\n"
    notes = "\\begin{tablenotes}\n\\item All times in minutes.\n\\end{tablenotes}\n"
    first, second = audited(tmp_path, own.format(rows, notes) + own.format(rows, ""))
    assert (seconds(first), unit_of(second)) == (6000.0, "")


def test_a_heading_between_tables_ends_what_is_said(tmp_path: Path) -> None:
    own = "| cores | time |\n|-------+------|\n| 1 | 100 |\n| 2 | 52.6 |\n"
    first, second = audited(tmp_path, f"* A\nTimes in ms\n{own}* B\n{own}")
    assert (seconds(first), unit_of(second)) == (0.1, "")


def test_the_unit_of_a_step_is_none_of_an_epoch(tmp_path: Path) -> None:
    rows = ("1;100;3.2", "2;52.6;1.7", "4;28.57;0.9")
    (found, *_) = audited(tmp_path, "Step time in ms.\n\n" + table("GPUs;Step time;Epoch time", *rows))
    assert found.source.unknown_units == {"total_time_s"}
    assert times_in("step time in ms, epoch time in h") == (("ms", "step_time_s"), ("h", "total_time_s"))


@pytest.mark.parametrize(
    ("words", "cells", "rate"),
    [
        ("Throughput in thousand tokens per second.", "10;19;35", 10_000.0),
        ("Tokens per second (thousands):", "10;19;35", 10_000.0),
        ("Throughput (in thousands), tokens/s", "10;19;35", 10_000.0),
        ("Throughput in million tokens per second", "0.10;0.19;0.35", 100_000.0),
        ("Throughput in thousand tokens per second.", "10k;19k;35k", 10_000.0),
    ],
)
def test_the_text_states_a_factor(words: str, cells: str, rate: float, tmp_path: Path) -> None:
    rows = [f"{gpus};{cell}" for gpus, cell in zip((1, 2, 4), cells.split(";"), strict=True)]
    (found,) = audited(tmp_path, f"{words}\n\n" + table("GPUs;Throughput", *rows))
    assert (unit_of(found), speedups(found)) == ("tokens/s", ONCE)
    assert found.table.scales[0].row.number("throughput") == pytest.approx(rate)


def test_a_factor_in_words_in_a_header() -> None:
    headers = ("thousand tokens/s", "Millions of cells per second", "tokens/s", "k tokens/s")
    assert [meaning_of(name).factor for name in headers] == [1e3, 1e6, 1.0, 1e3]


@pytest.mark.parametrize("words", ["Samples per second (thousands):", "Samples per second"])
def test_columns_in_thousands_beside_one_with_a_unit_of_its_own(words: str, tmp_path: Path) -> None:
    rows = ("1;1.0;2.0;100;8", "2;1.9;3.8;190;8", "4;3.5;7.0;350;8")
    found = audited(tmp_path, f"{words}\n\n" + table("GPUs;ViT (k);UNet (k);GPT (tokens/s);Layers", *rows))
    sizes = [one.table.scales[0].row.number("throughput") for one in found]
    assert sorted(map(str, sizes)) == ["100.0", "1000.0", "2000.0"]
    assert {unit_of(one) for one in found} == {"samples/s", "tokens/s"}
    assert all(speedups(one) == ONCE for one in found)


def test_columns_in_thousands_of_something_unsaid_are_not_read(tmp_path: Path) -> None:
    rows = ("1;1.0;100", "2;1.0;190", "4;1.0;350")
    (found,) = audited(tmp_path, "On the new cluster.\n\n" + table("GPUs;Vocabulary (k);img/s", *rows))
    assert found.source.unread == ("Vocabulary (k)",)


def test_a_factor_in_the_header_of_the_only_rate(tmp_path: Path) -> None:
    rows = ("1;1.0", "2;1.9", "4;3.5")
    (found,) = audited(tmp_path, "In samples per second\n\n" + table("GPUs;Throughput (k)", *rows))
    assert (unit_of(found), found.table.scales[0].row.number("throughput")) == ("samples/s", 1000.0)


def test_rows_of_one_column_have_units_of_their_own(tmp_path: Path) -> None:
    rows = ("ViT;1;100 images/sec", "ViT;4;350 images/sec", "GPT;1;200 sequences/sec", "GPT;4;700 sequences/sec")
    found = audited(tmp_path, table("Model;GPUs;Throughput", *rows))
    assert [(one.case, unit_of(one)) for one in found] == [("ViT", "images/s"), ("GPT", "sequences/s")]
    mixed = ("1;100 images/sec", "2;190 samples/sec", "4;350 images/sec")
    (found_mixed,) = audited(tmp_path, table("GPUs;Throughput", *mixed))
    assert unit_of(found_mixed) == "work/s"


@pytest.mark.parametrize(
    "text",
    [
        "Total time for 500 steps.\n\n" + table("GPUs;t (s)", *FALLING),
        "Time for 500 iterations (s):\n\n" + table("GPUs;ViT", *FALLING),
        "Time for 500 iterations in seconds:\n\n" + table("Model;1 GPU;2 GPUs;4 GPUs", "ViT;100;52.6;28.57"),
    ],
    ids=["header", "model", "across"],
)
def test_the_time_of_several_steps_stays_that_of_all(text: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, text)
    assert (seconds(found), speedups(found)) == (100.0, ONCE)


def test_the_time_of_several_steps_beside_a_batch_is_divided_with_a_note(tmp_path: Path) -> None:
    rows = ("1;16;400", "2;32;400", "4;64;800")
    (found,) = audited(tmp_path, "Time for 500 steps (s)\n\n" + table("GPUs;global batch size;time", *rows))
    assert found.table.scales[0].row.number("step_time_s") == pytest.approx(0.8)
    assert found.source.notes == ("the text calls 'time' the time of 500 steps, so it is divided by them",)
