"""What headings, captions and other words of READMEs say of devices, and which columns belong together."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


def test_a_heading_says_the_devices_of_rows_with_a_strategy(tmp_path: Path) -> None:
    rows = ("Single GPU;100", "DDP (2GPU);190", "FSDP Full;180", "FSDP + MP;170")
    found = audited(tmp_path, "## Results (L40S, 2 GPUs)\n\n" + table("Config;Throughput (samples/s)", *rows))
    assert [speedups(one)[-1] for one in found] == [(2, 1.9), (2, 1.8), (2, 1.7)]
    assert any("as stated above" in note for note in found[0].source.notes)


def test_rows_of_other_words_get_no_devices_of_a_heading(tmp_path: Path) -> None:
    rows = ("Single GPU;100", "DDP (2GPU);190", "Anna's laptop;180")
    path = tmp_path / "table.md"
    path.write_text("## Results (L40S, 2 GPUs)\n\n" + table("Config;Throughput (samples/s)", *rows))
    with pytest.raises(UserError):
        read_published(path)


@pytest.mark.parametrize("heads", ["Single Thread;Multi Thread", "Serial;Parallel", "Sequential;Multi-threaded"])
def test_a_caption_says_how_many_threads_are_several(heads: str, tmp_path: Path) -> None:
    text = "**Results for 4 threads**\n\n" + table(
        f"Metric;{heads}", "*Execution Time*;40;11.43", "*Speedup*;1;3.5x"
    )
    (found,) = audited(tmp_path, text)
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (4, 3.5)], 2)


def test_a_serial_column_is_the_baseline_of_several_programs(tmp_path: Path) -> None:
    head = "particles;sequential [s];mpi_basic (4 ranks) [s];mpi_fast (4 ranks) [s];mpi_fast (16 ranks) [s]"
    found = audited(tmp_path, table(head, "500;40;20;11.43;5"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 2.0)], [(1, 1.0), (4, 3.5), (16, 8.0)]]


@pytest.mark.parametrize("header", ["1 x GTX 980;2 x GTX 980;4 x GTX 980", "single 1-card;two 1-card;four 1-card"])
def test_devices_in_words_of_headers(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"Model;{header}", "otter;100 img/s;190 img/s;350 img/s"))
    assert speedups(found) == ONCE


def test_a_step_time_with_an_arrow_beside_throughputs(tmp_path: Path) -> None:
    head = "Batch size;1 GPU;2 GPUs;Speedup;Step time, 1 → 2 GPUs"
    found = audited(
        tmp_path, table(head, "4;100 ± 2;190 ± 3;1.90×;20.0 → 21.1 ms", "8;200 ± 2;360 ± 3;1.80×;21 → 23 ms")
    )
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)], [(1, 1.0), (2, 1.8)]]
    assert found[0].source.column("throughput") is not None


def test_ratios_in_brackets_behind_times_of_a_row(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table("GPUs;1;2;4", "Training time;40h;21.05h (1.9x);11.43h (3.5x)", "Memory;1;1;1")
    )
    assert (speedups(found), found.checked.speedups) == (ONCE, 2)


def test_speedups_with_efficiencies_below_nodes(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GBS;2 nodes;4 nodes", "64;1.00x (100%);1.90x (95%)"))
    assert found.source.column("gpus") is None
    assert found.source.rows[-1].number("printed_efficiency") == pytest.approx(0.95)


def test_a_paragraph_defines_the_throughput(tmp_path: Path) -> None:
    text = (
        "Throughput is defined as TGS, the average number of tokens processed per GPU per second. "
        + "It was warm. " * 20
    )
    (found,) = audited(tmp_path, text + "\n\n" + table("Config;8 GPUs;16 GPUs;32 GPUs", "tp=1;400;380;350"))
    assert speedups(found) == [(8, 1.0), (16, 1.9), (32, 3.5)]


def test_an_efficiency_of_two_variants_is_none_of_scaling(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    rows = ("1;400;300;0.750", "2;600;540;0.900", "4;900;855;0.950", "8;1000;1010;1.010")
    path.write_text(table("nthr;none;locked;efficiency", *rows))
    with pytest.raises(UserError, match="none=throughput"):
        read_published(path)


def test_rates_of_two_processes_are_summed(tmp_path: Path) -> None:
    text = table("case;1 process (img/s);2 processes (img/s)", "otter;100;94 + 96")
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == ([(1, 1.0), (2, 1.9)], [])


def test_a_unit_in_a_heading_is_that_of_the_times(tmp_path: Path) -> None:
    text = "### Thread scaling (seconds)\n\n" + table("Filter;1 Thread;2 Threads;4 Threads", "Blur;40;21.05;11.43")
    (found,) = audited(tmp_path, text)
    assert (speedups(found), found.source.unknown_units) == (ONCE, frozenset())


@pytest.mark.parametrize("header", ["nthr", "num worker threads/cores", "Threads / Cores"])
def test_short_names_of_devices(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"{header};Time (s)", "1;40", "2;21.05", "4;11.43"))
    assert speedups(found) == ONCE


def test_steps_among_other_settings_of_a_heading_divide_nothing(tmp_path: Path) -> None:
    text = "### 1280x720 (129 frames, 50 steps) - Latency (seconds)\n\n" + table(
        "GPU Type;1 GPU;2 GPUs;4 GPUs", "H100;40;21.05;11.43"
    )
    (found,) = audited(tmp_path, text)
    assert found.table.scales[0].row.number("time_s") == 40


def test_the_size_of_a_problem_beside_processes(tmp_path: Path) -> None:
    rows = ("64;1;40", "64;4;11.43", "512;1;80", "512;4;40")
    found = audited(tmp_path, table("n;np;total_ms", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)], [(1, 1.0), (4, 2.0)]]


@pytest.mark.parametrize("header", ["单卡;TP=2;TP=4", "Single GPU;TP=2;TP=4"])
def test_one_device_beside_degrees(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"Model;{header}", "otter;40ms;21.05ms;11.43ms"))
    assert speedups(found) == ONCE


@pytest.mark.parametrize("first", ["Nombre de coeurs", "Anzahl der Kerne", "Número de núcleos"])
def test_numbers_of_devices_in_other_languages(first: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"{first};1;2;4", "*step*;40 s;21.05 s;11.43 s"))
    assert speedups(found) == ONCE


def test_threads_with_their_letter_in_labels(tmp_path: Path) -> None:
    rows = ("unpinned 4t;100", "unpinned 8t;190", "pinned 4t;110", "pinned 8t;215")
    found = audited(tmp_path, table("config;GFLOP/s", *rows))
    assert [speedups(one) for one in found] == [[(4, 1.0), (8, 1.9)], [(4, 1.0), (8, 1.95)]]


def test_a_price_per_hour_is_no_rate(tmp_path: Path) -> None:
    found = audited(tmp_path, table("GPUs;toks/sec;USD/hour", "2x H100;100;5.00", "4x H100;190;10.00"))
    assert [speedups(one) for one in found] == [[(2, 1.0), (4, 1.9)]]


@pytest.mark.parametrize(
    "header",
    [
        "1 GPU (8 experts);2 GPUs (16 experts);4 GPUs (32 experts)",
        "Rate on 1x H100 GPUs (GBS=8);Rate on 2x H100 GPUs (GBS=16);Rate on 4x H100 GPUs (GBS=32)",
    ],
)
def test_a_setting_that_changes_with_the_devices(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"Setup;{header}", "otter;100 img/s;190 img/s;350 img/s"))
    assert speedups(found) == ONCE


def test_factors_in_brackets_in_a_table_of_devices(tmp_path: Path) -> None:
    head = "GPU;Model 8B (1×) Tokens/s;Model 8B (2×) Tokens/s;Model 70B (1×) Tokens/s;Model 70B (2×) Tokens/s"
    found = audited(tmp_path, table(head, "RTX 5090;100;190;10;20"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)], [(1, 1.0), (2, 2.0)]]


def test_each_global_batch_is_a_series_of_its_own(tmp_path: Path) -> None:
    rows = ("768;256;100", "768;512;190", "6144;3072;900", "6144;6144;1710")
    found = audited(tmp_path, "Strong scaling:\n\n" + table("Batch;GPUs;Throughput (tok/s)", *rows))
    assert [speedups(one) for one in found] == [[(256, 1.0), (512, 1.9)], [(3072, 1.0), (6144, 1.9)]]


@pytest.mark.parametrize("kind", ["RTX A6000", "Quadro 8000", "RTX 6000", "GTX 1080", "GTX 980 Ti"])
def test_kinds_of_workstation_devices(kind: str, tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table(f"Model;1x {kind};2x {kind};4x {kind}", "otter;100 img/s;190 img/s;350 img/s")
    )
    assert speedups(found) == ONCE
