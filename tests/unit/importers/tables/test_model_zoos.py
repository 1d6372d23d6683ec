"""Tables as the model zoos of vendors print them: pieces, codes, products in names, ratios behind devices."""

from __future__ import annotations

from pathlib import Path

from test_groups_and_quantities import rows_of
from test_printed_habits import audited, speedups, table


def test_pieces_in_front_of_the_kind(tmp_path: Path) -> None:
    rows = ("1p-竞品A;-;13.6", "8p-竞品A;78.1;78.2", "1p-NPU;-;11.6", "8p-NPU;78.6;86.6")
    found = audited(tmp_path, table("NAME;mIoU;FPS", *rows))
    assert [(one.case, speedups(one)[1]) for one in found] == [("竞品A", (8, 5.75)), ("NPU", (8, 7.47))]


def test_devices_of_a_node_that_is_full_on_several(tmp_path: Path) -> None:
    rows = ("1;1;1437.2", "1;2;2832.6", "1;4;5696.8", "1;8;11328.8", "2;8;20316.8", "4;8;38160.6")
    found, _ = rows_of(tmp_path, table("num_of_node;num_of_gpu;images/s", *rows))
    assert [gpus for gpus, _ in found[0]] == [1, 2, 4, 8, 16, 32]


def test_shares_beside_efficiencies_are_no_speedups(tmp_path: Path) -> None:
    rows = ("1;1.00;", "8;0.99;", "16;0.88;0.90", "32;0.83;0.83")
    (found,) = audited(tmp_path, table("GPUs;并行效率;多机加速比", *rows))
    assert [remark.kind for remark in found.remarks] == ["no base case"]


def test_codes_of_nodes_at_the_end_of_labels(tmp_path: Path) -> None:
    rows = ("nl24_fp16_1n1g;46.91 samples/s", "nl24_fp16_1n4g;176.88 samples/s", "nl24_fp16_2n8g;675.87 samples/s")
    found, _ = rows_of(tmp_path, table("BERT;LiBai", *rows))
    assert [gpus for gpus, _ in found[0]] == [1, 4, 16]


def test_a_ratio_behind_each_number_of_nodes(tmp_path: Path) -> None:
    header = ";Throughput (12 nodes);Scalability (x);Throughput (16 nodes);Scalability (x)"
    found = audited(
        tmp_path, table(header, "ResNet18;915.43;10.15x;1191.73;13.21x", "Bert;20479.7;9.08x;26798;11.88x")
    )
    assert [[remark.kind for remark in one.remarks] for one in found] == [["no base case"]] * 2


def test_a_header_with_its_devices_in_brackets(tmp_path: Path) -> None:
    rows = ("resnet50;1;22.5", "resnet50;4;7.1")
    (found,) = audited(tmp_path, table("model;DDP(GPUs);latency per epoch(min)", *rows))
    assert speedups(found) == [(1, 1.0), (4, 3.17)]


def test_the_batch_and_the_devices_behind_a_name(tmp_path: Path) -> None:
    rows = ("r50(512*8);~5900", "r50(512*16);~11000", "r100(128*16);~5200", "r100(128*32);~9800")
    found = audited(tmp_path, table("Backbone(bs*gpus);Throughput", *rows))
    assert [[gpus for gpus, _ in speedups(one)] for one in found] == [[8, 16], [16, 32]]
    assert {row.number("batch_per_gpu") for row in found[0].source.rows} == {128, 512}


def test_products_across_below_a_word_for_nodes(tmp_path: Path) -> None:
    rows = ("32;349;2488.5;4629.7;9093.4", "64;362;2643.8;5325.4;10536.8")
    found, _ = rows_of(tmp_path, "Images/s\n\n" + table("batch / node;1 x 1;1 x 8;2 x 8;4 x 8", *rows))
    assert [gpus for gpus, _ in found[0]] == [1, 8, 16, 32] * 2


def test_a_row_called_baseline_is_the_only_one(tmp_path: Path) -> None:
    rows = ("baseline;95.9 samples/s", "pipeline-1;81.8 samples/s", "pipeline-2;135.5 samples/s")
    rows += ("pipeline-4;266.0 samples/s", "pipeline-8;411.7 samples/s")
    (found,) = audited(tmp_path, table("Experiment;Throughput", *rows))
    assert not found.remarks


def test_placements_beside_a_base_without_nodes(tmp_path: Path) -> None:
    rows = ("benchmark;V100;332/s", "DDP;2 V100 x2 x 1 node;516/s", "DDP;1 V100 x1 x 2 node;513/s")
    rows += ("DDP;1 V100 x1 x 4 node;880/s", "DDP;4 V100 x4 x 1 node;131/s")
    found = audited(tmp_path, table("Name;GPU type&num;Throughput", *rows))
    assert not [remark for one in found for remark in one.remarks if remark.kind == "printed twice"]


def test_totals_in_chinese(tmp_path: Path) -> None:
    rows = ("8;8;64;37.5s", "16;8;128;38.1s", "48;8;384;39.5s")
    (found,) = audited(tmp_path, table("总GPU;Batch/GPU;有效Batch;每步耗时", *rows))
    assert [row.number("global_batch") for row in found.source.rows] == [64, 128, 384]
