"""One table in the ways in which people print it: headers, cells, labels, languages, layouts."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit, audit_file
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published

ONCE = [(1, 1.0), (2, 1.9), (4, 3.5)]
RATES, TIMES = ("410", "779", "1435"), ("100", "52.6", "28.57")


def audited(tmp_path: Path, text: str, name: str = "table.md") -> list[Audit]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found, asked = audit_file(read_published(path), "table")
    assert not asked
    return found


def speedups(audit: Audit) -> list[tuple[int, float]]:
    return [(scale.row.gpus, round(scale.speedup.value, 2)) for scale in audit.table.scales]


def table(header: str, *rows: str) -> str:
    lines = [f"| {line.replace(';', ' | ')} |" for line in (header, *rows)]
    return "\n".join([lines[0], "|" + "---|" * (header.count(";") + 1), *lines[1:]]) + "\n"


def beside(labels: str, numbers: tuple[str, ...]) -> list[str]:
    return [f"{label};{number}" for label, number in zip(labels.split(";"), numbers, strict=True)]


@pytest.mark.parametrize(
    "header",
    [
        *(
            "Number of V100s",
            "A100s",
            "# A100-80GB",
            "GPUs A100",
            "TPU v3 cores",
            "Gaudi2 cards",
            "XPUs",
            "GPUs (total)",
        ),
        *(
            "Ranks (GPUs)",
            "NPUs (Ascend 910)",
            "How many GPUs",
            "DP",
            "data parallel size",
            "nproc_per_node",
            "VMs",
        ),
        *("GPU 개수", "GPU台数", "Число GPU", "Numero di GPU", "GPU sayısı", "加速卡数量"),
    ],
)
def test_headers_of_devices(tmp_path: Path, header: str) -> None:
    (audit,) = audited(tmp_path, table(f"{header};img/s", *beside("1;2;4", RATES)))
    assert speedups(audit) == ONCE


@pytest.mark.parametrize(
    "header",
    [
        *("total TFLOPS", "samples s^-1", "samples·s⁻¹", "每秒样本数", "処理速度", "처리량", "vitesse (img/s)"),
        *(
            "Days to train",
            "total_seconds",
            "cost time",
            "cost(s)",
            "T",
            "Время (с)",
            "学習時間",
            "Zeit pro Epoche",
        ),
    ],
)
def test_headers_of_measurements(tmp_path: Path, header: str) -> None:
    rate = any(word in header for word in ("FLOPS", "s^-1", "⁻¹", "样本", "処理速度", "처리량", "vitesse"))
    (audit,) = audited(tmp_path, table(f"GPUs;{header}", *beside("1;2;4", RATES if rate else TIMES)))
    assert speedups(audit) == ONCE


@pytest.mark.parametrize(
    "header",
    [
        *(
            "vs. 1×",
            "relative to 1 GPU",
            "Scaling factor",
            "Improvement",
            "Ratio",
            "Multiplier",
            "Compared to 1 GPU",
        ),
        *("速度向上", "속도 향상", "Hızlanma", "Ganho"),
    ],
)
def test_headers_of_speedups(tmp_path: Path, header: str) -> None:
    rows = [f"{row};{ratio}x" for row, ratio in zip(beside("1;2;4", RATES), ("1.0", "1.9", "3.5"), strict=True)]
    (audit,) = audited(tmp_path, table(f"GPUs;img/s;{header}", *rows))
    assert (audit.checked.speedups, audit.remarks) == (3, ())


@pytest.mark.parametrize("header", ["Linear %", "of ideal", "Linearity", "% of expected", "线性度", "효율"])
def test_headers_of_efficiencies(tmp_path: Path, header: str) -> None:
    rows = [f"{row};{share}" for row, share in zip(beside("1;2;4", RATES), ("100%", "95%", "87.5%"), strict=True)]
    (audit,) = audited(tmp_path, table(f"GPUs;img/s;{header}", *rows))
    assert (audit.checked.efficiencies, audit.remarks) == (3, ())


def test_a_ratio_that_is_not_1_on_the_fewest_devices_is_left_out(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, table("GPUs;img/s;Ratio", "1;410;2.5", "2;779;2.4", "4;1435;2.2"))
    assert audit.source.unread == ("Ratio",)


@pytest.mark.parametrize(
    ("cells", "sizes"),
    [
        ("1*A100;2*A100;4*A100", (1, 2, 4)),
        ("A100*1;A100*2;A100*4", (1, 2, 4)),
        ("1*8;2*8;4*8", (8, 16, 32)),
        ("**8**;**16**;**32**", (8, 16, 32)),
        ("8A100;16A100;32A100", (8, 16, 32)),
        ("1N8G;2N16G;4N32G", (8, 16, 32)),
        ("1n8g;2n8g;4n8g", (8, 16, 32)),
        ("1node-8gpu;2node-8gpu;4node-8gpu", (8, 16, 32)),
        ("DGX (8 GPUs);2x DGX (16 GPUs);4x DGX (32 GPUs)", (8, 16, 32)),
        ("single GPU;dual GPU;quad GPU", (1, 2, 4)),
        ("One GPU;Two GPUs;Four GPUs", (1, 2, 4)),
        ("v3-8;v3-16;v3-32", (8, 16, 32)),
        ("v4-8;v4-16;v5p-32", (4, 8, 16)),
        ("0;0,1;0,1,2,3", (1, 2, 4)),
        ("4;4,5;4,5,6,7", (1, 2, 4)),
        ("[0];[0,1];[0,1,2,3]", (1, 2, 4)),
        ("cuda:0;cuda:0,1;cuda:0-3", (1, 2, 4)),
        ("1,024;2,048;4,096", (1024, 2048, 4096)),
        ("2^0;2^1;2^2", (1, 2, 4)),
        ("x1;x2;x4", (1, 2, 4)),
        ("单卡;双卡;四卡", (1, 2, 4)),
        ("1机8卡;2机16卡;4机32卡", (8, 16, 32)),
        ("1 RTX 3090;2 RTX 3090;4 RTX 3090", (1, 2, 4)),
    ],
)
def test_cells_of_devices(tmp_path: Path, cells: str, sizes: tuple[int, ...]) -> None:
    (audit,) = audited(tmp_path, table("GPUs;img/s", *beside(cells, RATES)))
    assert speedups(audit) == [(size, speedup) for size, (_, speedup) in zip(sizes, ONCE, strict=True)]


@pytest.mark.parametrize("header", ["Setup", "Method", "Hardware", ""])
@pytest.mark.parametrize(
    "labels",
    [
        "Baseline;DDP 2 GPUs;DDP 4 GPUs",
        "no DDP;2-GPU DDP;4-GPU DDP",
        "Local;Distributed (2 CPU);Distributed (4 CPU)",
        "Single-GPU;Multi-GPU (2x);Multi-GPU (4x)",
        "RTX 3090;2x RTX 3090;4x RTX 3090",
        "V100;2 V100;4 V100",
        "DP1;DP2;DP4",
        "tp1pp1dp1;tp1pp1dp2;tp2pp1dp2",
        "one device;two devices;four devices",
        "FSDP-1;FSDP-2;FSDP-4",
    ],
)
def test_labels_that_name_devices(tmp_path: Path, header: str, labels: str) -> None:
    found = audited(tmp_path, table(f"{header};img/s", *beside(labels, RATES)))
    assert [speedups(audit) for audit in found if len(audit.table.scales) > 1] == [ONCE]


def test_a_baseline_beside_labels_of_one_device_is_not_guessed(tmp_path: Path) -> None:
    """It may be on one device, or on as many as its neighbour."""
    with pytest.raises(UserError, match="no column of devices"):
        audited(tmp_path, table("Setup;img/s", *beside("Baseline;DDP 1 GPU;DDP 4 GPUs", RATES)))


def test_a_product_of_degrees_is_the_number_of_devices(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, table("TP;PP;DP;tok/s", "1;1;1;410", "1;1;2;779", "2;1;2;1435"))
    assert speedups(audit) == ONCE
    (audit,) = audited(tmp_path, table("GPU;Count;tok/s", *(f"A100;{row}" for row in beside("1;2;4", RATES))))
    assert speedups(audit) == ONCE


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("Throughput", "410 img/s (1.00x);779 img/s (1.90x);1435 img/s (3.50x)"),
        ("Throughput", "410;779 (1.9x);1435 (3.5x)"),
        ("Throughput", "410 / 1.0x;779 / 1.9x;1435 / 3.5x"),
        ("Throughput", "410 (100%);779 (95%);1435 (87.5%)"),
        ("Throughput (speedup)", "410 (1.0);779 (1.9);1435 (3.5)"),
        ("Time, s (speedup)", "100 (1.0);52.6 (1.9);28.57 (3.5)"),
        ("Throughput (efficiency)", "410 (1.0);779 (0.95);1435 (0.875)"),
    ],
)
def test_a_ratio_in_the_cell_of_its_measurement(tmp_path: Path, header: str, cells: str) -> None:
    (audit,) = audited(tmp_path, table(f"GPUs;{header}", *beside("1;2;4", tuple(cells.split(";")))))
    assert (speedups(audit), audit.remarks) == (ONCE, ())
    assert audit.checked.speedups + audit.checked.efficiencies >= 2


@pytest.mark.parametrize("cells", ["-;+90%;+250%", "baseline;+90%;+250%", "0%;90%;250%"])
def test_gains_are_speedups_less_one(tmp_path: Path, cells: str) -> None:
    rows = [f"{row};{gain}" for row, gain in zip(beside("1;2;4", RATES), cells.split(";"), strict=True)]
    (audit,) = audited(tmp_path, table("GPUs;img/s;Speedup", *rows))
    assert (audit.remarks, audit.checked.speedups >= 2) == ((), True)
    rows[-1] = "4;1435;+350%"
    (audit,) = audited(tmp_path, table("GPUs;img/s;Speedup", *rows))
    assert [(remark.kind, remark.gpus) for remark in audit.remarks] == [("speedup", 4)]


@pytest.mark.parametrize(
    "cells", ["409 / 411;778 / 780;1434 / 1436", "409, 411;778, 780;1434, 1436", "409–411;778–780;1434–1436"]
)
def test_several_measurements_in_a_cell_are_their_mean(tmp_path: Path, cells: str) -> None:
    (audit,) = audited(tmp_path, table("GPUs;img/s", *beside("1;2;4", tuple(cells.split(";")))))
    assert speedups(audit) == ONCE
    first = cells.split(";")[0]
    assert audit.source.notes == (f"cells with several numbers are read as their mean, such as '{first}' as 410",)


def test_two_quantities_in_a_cell_are_not_averaged(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, table("GPUs;Time", *beside("1;2", ("60 s / 52 GB", "40 s / 44 GB"))))
    assert speedups(audit) == [(1, 1.0), (2, 1.5)]


@pytest.mark.parametrize(
    "cells",
    [
        "1:40:00;52:36;28:34.2",
        "01:40;00:52.6;00:28.57",
        "1h40m;52m36s;28m34s",
        "0h100m;0h52.6m;0h28.57m",
        "4d 4h;2d 4.6h;1d 4.57h",
        '1\'40";52.6";28.57"',
    ],
)
def test_durations(tmp_path: Path, cells: str) -> None:
    (audit,) = audited(tmp_path, table("GPUs;Time", *beside("1;2;4", tuple(cells.split(";")))))
    assert speedups(audit) == ONCE


FRAME = """\
   gpus  throughput  speedup
0     1       410.0      1.0
1     2       779.0      1.9
2     4      1435.0      3.5
"""
NAMED = """\
      throughput  speedup
gpus
1          410.0      1.0
2          779.0      1.9
4         1435.0      3.5
"""
COUNTS = r"""\begin{tabular}{l|c|c|c} & \multicolumn{3}{c}{Number of GPUs} \\
Model & 1 & 2 & 4 \\ \hline A (img/s) & 410 & 779 & 1{,}435 \\ \end{tabular}"""


@pytest.mark.parametrize(
    "text",
    [
        FRAME,
        NAMED,
        COUNTS,
        "[options=header]\n|===\n|GPUs |img/s\n\n|1 |410\n|2 |779\n|4 |1435\n|===\n",
        "|===\n|GPUs |img/s\n\n|1\n|410\n\n|2\n|779\n\n|4\n|1435\n|===\n",
        "Results:\n\n- 1 GPU: 410 img/s\n- 2 GPUs: 779 img/s (1.9x)\n- 4 GPUs: 1435 img/s (3.5x)\n",
        "* 1 GPU: 100 s/epoch\n* 2 GPUs: 52.6 s/epoch\n* 4 GPUs: 28.57 s/epoch\n",
        "gpus=1 throughput=410 img/s\ngpus=2 throughput=779 img/s\ngpus=4 throughput=1435 img/s\n",
        "GPUs: 1, Throughput: 410 img/s\nGPUs: 2, Throughput: 779 img/s\nGPUs: 4, Throughput: 1435 img/s\n",
        table("Metric;GPUs;Value", "Throughput;1;410", "Throughput;2;779", "Throughput;4;1435"),
        table("gpus;metric;value", "1;throughput;410", "1;memory;9", "2;throughput;779", "4;throughput;1435"),
        table("GPUs;img/s;GPUs;img/s", "1;410;4;1435", "2;779;;"),
        table("Throughput (img/s);1 GPU;2 GPU;4 GPU", "ResNet;410;779;1435"),
        table("Model;n=1;n=2;n=4", "A;410 img/s;779 img/s;1435 img/s"),
        table("Model;1 node;2 nodes;4 nodes", "A;410 img/s;779 img/s;1435 img/s"),
        table("GPUs;MFU", "1;50%", "2;47.5%", "4;43.75%"),
        table("Model;GPUs;img/s", "ResNet;1;410", '";2;779', "^^;4;1435"),
    ],
)
def test_layouts(tmp_path: Path, text: str) -> None:
    (audit,) = audited(tmp_path, text)
    assert (speedups(audit), audit.remarks) == (ONCE, ())


def test_nodes_across_with_their_devices(tmp_path: Path) -> None:
    text = table(
        "Framework;1 node (8 GPUs);2 nodes (16 GPUs);4 nodes (32 GPUs)", "A;410 img/s;779 img/s;1435 img/s"
    )
    (audit,) = audited(tmp_path, text)
    assert speedups(audit) == [(8, 1.0), (16, 1.9), (32, 3.5)]


@pytest.mark.parametrize("words", [("strong", "weak"), ("strong scaling", "weak scaling")])
def test_weak_and_strong_rows_of_a_column_are_two_series(tmp_path: Path, words: tuple[str, str]) -> None:
    rows = [f"{words[0]};{row}" for row in beside("1;2;4", TIMES)]
    rows += [f"{words[1]};{row}" for row in beside("1;2;4", ("100", "105.26", "114.29"))]
    assert [speedups(audit) for audit in audited(tmp_path, table("Mode;GPUs;Time (s)", *rows))] == [ONCE, ONCE]


def test_series_across_with_speedups_in_their_cells(tmp_path: Path) -> None:
    text = table("Model;1 GPU;2 GPUs;4 GPUs", "A;410;779 (1.9x);1435 (3.5x)", "B;100;190 (1.9x);350 (3.5x)")
    found = audited(tmp_path, text)
    assert [speedups(audit) for audit in found] == [ONCE, ONCE]
    assert [audit.checked.speedups for audit in found] == [2, 2]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("GPUs;samples/s", ("1;about 410", "2;approx. 779", "4;roughly 1435")),
        ("Nodes;samples/s", ("1 XYZ Spark node;410", "2 XYZ Spark nodes;779", "4 XYZ Spark nodes;1435")),
        (
            "HW configuration;samples/s",
            ("1 XYZ Spark node;410", "2 XYZ Spark nodes;779", "4 XYZ Spark nodes;1435"),
        ),
        ("GPUs;Training time reduction", ("1;Baseline (1.0x)", "2;1.9x", "4;3.5x")),
        ("GPUs;train samples/s;train steps/s", ("1;410;4.1", "2;779;3.9", "4;1435;3.6")),
        ("GPUs;Throughput (total, wall-clock)", ("1;410 samples/s", "2;779 samples/s", "4;1435 samples/s")),
    ],
)
def test_further_forms(tmp_path: Path, header: str, rows: tuple[str, ...]) -> None:
    (audit,) = audited(tmp_path, table(header, *rows))
    assert speedups(audit) == ONCE


def test_nodes_beside_devices_across(tmp_path: Path) -> None:
    text = table("Part;1 GPU;4 GPUs, 1 node;8 GPUs, 2 nodes", "solve;8.0 ms;2.5 ms (3.2×);1.6 ms (5.0×)")
    (audit,) = audited(tmp_path, text)
    assert speedups(audit) == [(1, 1.0), (4, 3.2), (8, 5.0)]
    assert (audit.checked.speedups, audit.remarks) == (2, ())


def test_a_strategy_across_with_its_devices(tmp_path: Path) -> None:
    text = table(
        "Metric;Single GPU;DDP (2xT4)", "Step time;55 ms;81 ms", "NCCL as % of time;-;44%", "Speedup;1.0x;1.36x"
    )
    (audit,) = audited(tmp_path, text)
    assert (speedups(audit), audit.checked.speedups, audit.remarks) == ([(1, 1.0), (2, 1.36)], 2, ())


def test_a_range_of_efficiencies_is_in_per_cent(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, table("GPUs;img/s;Efficiency", "1;410;100%", "2;779;94-96%", "4;1435;85-90%"))
    assert (audit.checked.efficiencies, audit.remarks) == (3, ())


def test_a_variant_behind_the_number_of_devices_is_no_hardware(tmp_path: Path) -> None:
    rows = ("1 GPU;200 img/s", "4 GPUs;700 img/s", "4 GPUs + AMP;1,200 img/s")
    (audit,) = audited(tmp_path, table("Configuration;Throughput", *rows))
    assert [row.labels for row in audit.source.rows] == [{}, {}, {"strategy": "+ AMP"}]
    assert [scale.row.gpus for scale in audit.table.scales] == [1, 4, 4]


def test_the_parts_of_a_step_are_of_the_work_of_the_step(tmp_path: Path) -> None:
    rows = ("1;534.5s;228.3s", "2;386.9s;225.3s", "4;298.4s;219.3s")
    found = audited(tmp_path, table("GPUs;step;rollout", *rows))
    assert [round(audit.table.scales[-1].speedup.value, 2) for audit in found] == [1.79, 1.04]


def test_a_column_amp_of_numbers_is_one_of_several_measurements(tmp_path: Path) -> None:
    """As a label it would have another value in each row."""
    lines = ("1 GPU;371;760;1044", "4 GPUs;1402;2790;3795")
    found = audited(tmp_path, "img/s\n\n" + table("Devices;fp32;amp;amp + channels_last", *lines))
    assert [(audit.case, len(audit.remarks)) for audit in found] == [
        ("fp32", 0),
        ("mixed amp", 0),
        ("mixed amp + channels last", 0),
    ]
