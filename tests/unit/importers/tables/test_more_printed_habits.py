"""Forms of tables that were misread or refused once, with the speedups and remarks that a reader expects."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit, audit_file
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_printed_habits import audited, speedups, table

ONCE = [(1, 1.0), (2, 1.9), (4, 3.5)]


def kinds(audits: list[Audit]) -> list[str]:
    return [remark.kind for audit in audits for remark in audit.remarks]


def test_hardware_across_names_the_devices(tmp_path: Path) -> None:
    """What the cells are follows from the printed ratio."""
    (found,) = audited(tmp_path, table("Model;1 V100;4 V100;8 V100;Scaling (8)", "VGG16;155;540;980;6.32x"))
    assert speedups(found) == [(1, 1.0), (4, 3.48), (8, 6.32)]
    (found,) = audited(tmp_path, table(" ;T4 x1;T4 x2;speed up", "train (it/s);2.1;1.9;1.81x"))
    assert speedups(found) == [(1, 1.0), (2, 1.81)]


def test_a_second_row_of_headers_may_have_the_devices(tmp_path: Path) -> None:
    text = (
        "<table><tr><th rowspan=2>Model</th><th colspan=3>Throughput (seq/s)</th><th rowspan=2>Scaling</th></tr>"
        "<tr><th>8 GPUs</th><th>32 GPUs</th><th>64 GPUs</th></tr>"
        "<tr><td>BERT-L</td><td>420</td><td>1,610</td><td>3,100</td><td>92%</td></tr></table>"
    )
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(8, 1.0), (32, 3.83), (64, 7.38)]
    assert found.checked.efficiencies == 1


@pytest.mark.parametrize(
    "lines",
    [
        [
            "- 1 GPU: 1,020 samples/sec",
            "- 2 GPUs: 1,938 samples/sec (1.90x)",
            "- 4 GPUs: 3,570 samples/sec (3.50x)",
        ],
        [f"  GPUs={n}  time/epoch={s}s  acc=0.91" for n, s in ((1, "61.20"), (2, "32.21"), (4, "17.49"))],
        [f"gpus={n}, throughput={x}" for n, x in ((1, "1,020"), (2, "1,938"), (4, "3,570"))],
    ],
    ids=["items", "pairs-with-spaces", "pairs-with-thousands"],
)
def test_lists_with_thousands_and_spaces(tmp_path: Path, lines: list[str]) -> None:
    (found,) = audited(tmp_path, "\n".join(lines))
    assert speedups(found) == ONCE
    assert not found.remarks


@pytest.mark.parametrize(
    ("header", "labels"),
    [
        ("Config;step (ms)", ["world=1, bs=32", "world=2, bs=32", "world=4, bs=32"]),
        ("Scale;seconds", ["1 node", "2 nodes", "4 nodes"]),
    ],
)
def test_labels_that_name_devices(tmp_path: Path, header: str, labels: list[str]) -> None:
    rows = [f"{label};{time}" for label, time in zip(labels, ("100", "52.6", "28.57"), strict=True)]
    (found,) = audited(tmp_path, table(header, *rows))
    assert speedups(found) == ONCE


def test_an_ideal_column_is_no_speedup(tmp_path: Path) -> None:
    header = "GPUs;Throughput (imgs/sec);Linear scaling (imgs/sec);% of linear"
    (found,) = audited(
        tmp_path, table(header, "8;2,780;2,780;100", "16;5,410;5,560;97.3", "32;10,460;11,120;94.1")
    )
    assert not found.remarks
    assert (found.checked.speedups, found.checked.efficiencies) == (0, 3)


def test_the_time_of_processors_is_left_out_beside_that_of_the_clock(tmp_path: Path) -> None:
    rows = ["1;812;812;1.00", "2;418;836;1.94", "4;221;884;3.67"]
    (found,) = audited(tmp_path, table("# procs;wall time [s];CPU time [s];speed-up", *rows))
    assert not found.remarks
    assert found.checked.speedups == 3


@pytest.mark.parametrize(
    "labels",
    [
        ["1 GPU", "DDP, 8 GPU", "FSDP full shard, 8 GPU"],
        ["1 GPU (Baseline)", "8 GPUs (DDP)", "8 GPUs + FSDP"],
        ["1 GPU", "8 GPUs (NVLink)", "8 GPUs (PCIe)"],
    ],
)
def test_one_device_is_the_baseline_of_several_ways(tmp_path: Path, labels: list[str]) -> None:
    rows = [f"{label};{rate}" for label, rate in zip(labels, ("12.1", "92.0", "85.3"), strict=True)]
    found = audited(tmp_path, table("Mode;samples / sec", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (8, 7.6)], [(1, 1.0), (8, 7.05)]]
    assert kinds(found) == []


def test_a_baseline_of_another_name_is_that_of_the_rest(tmp_path: Path) -> None:
    rows = ["baseline;1 x RTX 3090;45 min", "ddp;2 x RTX 3090;24 min", "ddp;4 x RTX 3090;13 min"]
    (found,) = audited(tmp_path, table("Experiment;Hardware;Epoch time", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.88), (4, 3.46)]


def test_words_in_brackets_are_a_comment_if_nothing_else_has_as_many_devices(tmp_path: Path) -> None:
    rows = ["2 (library default);155.7", "4;307.9", "12 (= core count);806.2"]
    (found,) = audited(tmp_path, table("num_workers;Throughput (img/s)", *rows))
    assert speedups(found) == [(2, 1.0), (4, 1.98), (12, 5.18)]
    assert kinds([found]) == []


def test_precisions_and_sizes_of_instances_are_no_other_hardware(tmp_path: Path) -> None:
    rows = ["Single GPU (fp16);18m 20s", "2x GPU DDP (fp16);9m 39s", "4x GPU DDP (fp16);5m 14s"]
    assert kinds(audited(tmp_path, table("Setup;Epoch time", *rows))) == []
    rows = ["p3.2xlarge;1 x V100;14 hrs", "p3.8xlarge;4 x V100;3 hrs 50 min", "p3.16xlarge;8 x V100;2 hrs 5 min"]
    assert kinds(audited(tmp_path, table("Instance;GPUs;Training time", *rows))) == []
    rows = ["A100;1;410", "H100;2;1435"]
    assert kinds(audited(tmp_path, table("Device;GPUs;img/s", *rows))) == ["confounded"]


@pytest.mark.parametrize("header", ["Normalized", "Scaling factor"])
def test_ratios_that_begin_with_one(tmp_path: Path, header: str) -> None:
    rows = [
        "1 node (8 GPUs);23.1k tok/s;1.0",
        "2 nodes (16 GPUs);45.0k tok/s;1.95",
        "4 nodes (32 GPUs);87.2k tok/s;3.77",
    ]
    (found,) = audited(tmp_path, table(f"Cluster;Throughput;{header}", *rows))
    assert found.checked.speedups == 3


def test_a_throughput_of_a_node(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Nodes;Samples/sec/node", "1;1205", "4;1098"))
    assert speedups(found) == [(1, 1.0), (4, 3.64)]
    path = tmp_path / "both.md"
    path.write_text(table("Nodes;GPUs;Samples/sec/node;Samples/sec", "1;8;1205;1205", "4;32;1098;4392"))
    (found,), _ = audit_file(read_published(path), "table")
    assert speedups(found) == [(8, 1.0), (32, 3.64)]


def test_a_batch_of_a_card(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("卡数;单卡batch;吞吐 (samples/s)", "1;64;780", "4;64;3010"))
    assert [scale.row.batch_per_gpu for scale in found.table.scales] == [64, 64]
    (found,) = audited(tmp_path, table("Accelerator;Samples/sec/accel", "TPU v3-8;306", "TPU v3-32;297"))
    assert speedups(found) == [(8, 1.0), (32, 3.88)]


def test_a_statistic_is_not_proposed_as_the_devices(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Config;step (ms);p95", "small;98.1;101", "large;103.7;110"))
    with pytest.raises(UserError, match="add a column with the number of devices"):
        read_published(path)


def test_names_of_programs_are_labels_if_all_cells_have_one_unit(tmp_path: Path) -> None:
    rows = [
        "Python SDK, 4 workers;73 rps;-;34 ms",
        "Batch gateway;193 rps;389 rps;56 ms",
        "ONNX Runtime;400 rps;774 rps;16 ms",
    ]
    found = audited(tmp_path, table("Stack;1 GPU;2 GPUs;Single request", *rows))
    assert [speedups(one) for one in found if len(one.table.scales) > 1] == [
        [(1, 1.0), (2, 2.02)],
        [(1, 1.0), (2, 1.94)],
    ]


@pytest.mark.parametrize(("label", "status"), [("Target Phase 2", "-"), ("Large run", "🔜 Planned")])
def test_plans_and_targets_are_left_out(tmp_path: Path, label: str, status: str) -> None:
    rows = ["Baseline run;32;8,200;Stable", "Mid-scale;64;16,100;Completed", f"{label};1024;~250,000;{status}"]
    (found,) = audited(tmp_path, table("Test;GPUs;Samples/sec;Status", *rows))
    assert speedups(found) == [(32, 1.0), (64, 1.96)]
    (found,) = audited(tmp_path, table("Run;GPUs;Samples/sec", "target;32;8,200", "target;64;16,100"))
    assert speedups(found) == [(32, 1.0), (64, 1.96)], "a name that all rows have"
