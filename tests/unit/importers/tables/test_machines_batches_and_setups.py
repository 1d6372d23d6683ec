"""What rows are of: machines, batches in headers, setups that may not be compared, shares of the peak."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.published import BY_TEXT
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table

TWICE = [(1, 1.0), (2, 1.9)]


def test_machines_are_nodes_of_the_devices_beside_them(tmp_path: Path) -> None:
    rows = ("1 x NVIDIA DGX-1;8;100", "4 x NVIDIA DGX-1;8;28", "1 x NVIDIA DGX-2;16;50", "4 x NVIDIA DGX-2;16;14")
    found = audited(tmp_path, table("System;GPUs;Time to train (hours)", *rows))
    assert [speedups(one) for one in found] == [[(8, 1.0), (32, 3.57)], [(16, 1.0), (64, 3.57)]]


def test_devices_that_grow_with_the_machines_stay_those_of_all(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("System;GPUs;img/s", "1 x DGX-1;8;410", "2 x DGX-1;16;779"))
    assert speedups(found) == [(8, 1.0), (16, 1.9)]


def test_a_batch_in_headers_of_devices_is_a_column(tmp_path: Path) -> None:
    text = table(
        "Model;Throughput on 64x H100 GPUs (GBS=128);Throughput on 128x H100 GPUs (GBS=256)",
        *("Training step time (seconds per step);14.72;14.73", "Throughput in tokens per second;71235;142373"),
    )
    (found,) = audited(tmp_path, text)
    assert [row.number("global_batch") for row in found.source.rows] == [128, 256]


def test_another_number_of_layers_is_another_model(tmp_path: Path) -> None:
    rows = ("32;7;116632", "96;21;117965", "576;126;120022", "1152;126;235660")
    found = audited(tmp_path, table("GPUs;Layers;tokens/s", *rows))
    assert [speedups(one) for one in found] == [[(576, 1.0), (1152, 1.96)]]


def test_degrees_that_follow_and_accumulation_tell_series_apart(tmp_path: Path) -> None:
    rows = ("DP=4, PP=1, TP=4;4;4;128000", "DP=4, PP=1, TP=4;4;1;108000", "DP=8, PP=1, TP=4;8;4;253000")
    found = audited(tmp_path, table("Settings;Nodes;Gradient accumulation;tokens/s", *rows))
    assert [speedups(one) for one in found] == [[(4, 1.0), (8, 1.98)]]


def test_a_run_on_a_processor_is_no_scale_of_those_on_gpus(tmp_path: Path) -> None:
    for name in ("Intel Xeon (32 cores)", "CPU (16 cores)", "AMD EPYC 7742"):
        found = audited(tmp_path, table("Hardware;Time (s)", f"{name};2000", "1 GPU;100", "2 GPUs;52.6"))
        assert TWICE in [speedups(one) for one in found]


def test_dp_beside_other_strategies_is_one(tmp_path: Path) -> None:
    text = "Throughput (img/s):\n\n" + table("GPUs;Horovod;DP", "1;410;300", "2;779;570")
    assert [speedups(one) for one in audited(tmp_path, text)] == [TWICE, TWICE]


def test_a_quotation_mark_in_csv_repeats_the_cell_above(tmp_path: Path) -> None:
    text = 'Model,GPUs,img/s\nA,1,410\n",2,779\nB,1,100\n",2,190\n'
    assert [speedups(one) for one in audited(tmp_path, text)] == [TWICE, TWICE]


def test_a_ratio_of_two_on_two_devices_is_over_one(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Speedup", "2;~2x", "4;~4x"))
    assert (found.table.base_gpus, kinds([found])) == (1, ["no base case"])


@pytest.mark.parametrize("sentence", ["This is near perfect weak scaling.", "Local batch size (per device) is 1."])
def test_the_kind_of_scaling_is_known_from_the_text(tmp_path: Path, sentence: str) -> None:
    text = f"{sentence}\n\nSee the script for details.\n\n" + table("GPUs;tokens/s/GPU", "8;410", "64;400")
    (found,) = audited(tmp_path, text)
    assert (found.scaling, found.source.scaling_by) == ("weak", BY_TEXT)


@pytest.mark.parametrize(
    "text",
    [
        table(";1 GPU;2 GPUs", "MFU (%);50;47.5", "Memory (GB);20;21"),
        "MFU:\n\n" + table("Model;1 GPU;2 GPUs", "A;50%;47.5%"),
        "MFU (%):\n\n- 1 GPU: 50\n- 2 GPUs: 47.5\n",
        "### 1 GPU\n\n"
        + table("Model;MFU", "A;50%", "B;40%")
        + "\n### 2 GPUs\n\n"
        + table("Model;MFU", "A;47.5%", "B;38%"),
    ],
    ids=["row", "caption", "list", "sections"],
)
def test_the_share_of_the_peak_is_the_rate_of_a_device_wherever_it_stands(tmp_path: Path, text: str) -> None:
    assert {tuple(speedups(one)) for one in audited(tmp_path, text)} == {tuple(TWICE)}


def test_an_ideal_rate_leads_to_no_remark(tmp_path: Path) -> None:
    rows = ("4;325.9;325.9", "8;635.1;651.8", "16;1238;1304")
    (found,) = audited(tmp_path, table("GPUs;tokens/s;Linear scaling", *rows))
    assert (kinds([found]), found.checked.speedups) == ([], 0)


def test_a_ratio_of_two_systems_below_a_caption_is_no_speedup(tmp_path: Path) -> None:
    text = "Epoch time (s):\n\n" + table(
        "GPUs;Ours;Baseline;Speedup", "1;609.0;557.1;1.09x", "4;161.5;151.1;1.07x"
    )
    assert [speedups(one)[-1] for one in audited(tmp_path, text)] == [(4, 3.77), (4, 3.69)]


def test_a_row_that_goes_over_into_the_next_column_is_read(tmp_path: Path) -> None:
    text = "GPUs    Throughput    Efficiency\n----    ----------    ----------\n  64    100 samples/s   100%\n"
    (found,) = audited(tmp_path, text + " 128    198 samples/s    99%\n1024   1472 samples/s    92%\n")
    assert [gpus for gpus, _ in speedups(found)] == [64, 128, 1024]


def test_empty_lines_between_all_rows_separate_nothing(tmp_path: Path) -> None:
    text = table("GPUs;img/s", "1;410", "2;779")
    (found,) = audited(tmp_path, text.replace("\n", "\n\n"))
    assert [(row.line, row.gpus) for row in found.source.rows] == [(5, 1), (7, 2)]
    (both,) = [audited(tmp_path, f"{text}\n{table('GPUs;img/s', '1;100', '4;390')}".replace("\n", "\n\n"))]
    assert [speedups(one)[-1] for one in both] == [(2, 1.9), (4, 3.9)]


def test_speedups_below_one_that_agree_with_efficiencies_are_read(tmp_path: Path) -> None:
    rows = ("8;1234;1012;0.82x;41%", "16;2422;2039;0.84x;42%")
    found = audited(tmp_path, table("Batch size;1 GPU;2 GPUs;Speedup;Efficiency", *rows))
    assert [one.checked.speedups for one in found] == [1, 1]


def test_a_rate_in_another_unit_than_its_header_is_shown_with_it(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;episodes/hour;Time (min)", "1;360;20", "2;720;10"))
    units = {one.header: found.source.unit_of(one) for one in found.source.columns}
    assert units == {"GPUs": "", "episodes/hour": "episodes/s", "Time (min)": "s"}
