"""Settings beside the batch, numbered names, failed rows, phases of a training, and nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.cli.main import main
from test_groups_and_quantities import rows_of
from test_printed_habits import audited, speedups, table
from test_ratios_of_other_systems import refused


def test_micro_batches_times_accumulation(tmp_path: Path) -> None:
    rows = ("4;3 x 4;3.22;14.9;100 %", "8;3 x 2;1.64;29.2;98 %", "16;3 x 1;0.82;58.5;98 %")
    (found,) = audited(tmp_path, table("#GPUs;micro x accum;s/step;samples/s;efficiency", *rows))
    assert {column.role for column in found.source.columns} >= {"batch_per_gpu", "accumulation"}
    assert not found.remarks


def test_the_batches_of_a_device_and_of_all_in_one_cell(tmp_path: Path) -> None:
    rows = ("64;1/64;1.95", "32;2/64;2.20", "8;8/64;2.11")
    (found,) = audited(tmp_path, table("GPUs;local/global batch;samples/s/GPU", *rows))
    assert [(row.number("batch_per_gpu"), row.number("global_batch")) for row in found.source.rows] == [
        (1, 64),
        (2, 64),
        (8, 64),
    ]


def test_numbered_names_are_no_devices(tmp_path: Path) -> None:
    rows = ("P1b baseline (1N DDP);38.5", "P4 DDP, big bucket;46.1", "P6 FSDP full_shard;119.2", "P7 FSDP;119.5")
    assert "names no number of devices" in refused(tmp_path, table("Config;samp/s", *rows))


def test_rows_whose_exit_code_says_that_they_failed_are_left_out(tmp_path: Path) -> None:
    rows = ("1;120;0", "24;14;0", "48;8;0", "96;2;1 (Fail)")
    (found,) = audited(tmp_path, table("Tasks;Elapsed (s);Exit code", *rows))
    assert [gpus for gpus, _ in speedups(found)] == [1, 24, 48]


def test_times_of_communication_beside_two_wholes_are_left_out(tmp_path: Path) -> None:
    header = "Ranks;Blocking total s;Overlap total s;Blocking comm s;Exposed overlap comm s"
    found = audited(tmp_path, table(header, "4;20.99;20.87;1.04;0.87", "8;10.51;10.45;0.68;0.66"))
    assert [one.case for one in found] == ["blocking", "overlap"]


def test_values_whose_unit_is_in_front(tmp_path: Path) -> None:
    blocks = {1: ("4156.19", "4174.25"), 2: ("2622.80", "2566.23"), 8: ("2789.92", "2729.27")}
    text = "".join(
        f"--- {cores} core ---\nplain:   run time (s): {one}\nwith_ssd: run time (s): {two}\n\n"
        for cores, (one, two) in blocks.items()
    )
    found = audited(tmp_path, text)
    assert [(one.case, speedups(one)[1]) for one in found] == [("plain", (2, 1.58)), ("with_ssd", (2, 1.63))]


def test_scaling_in_the_title_of_a_document_says_nothing_of_counters(tmp_path: Path) -> None:
    times = table("Ranks;Runtime (s);Speedup", "1;748.9;1.0", "2;443.4;1.69")
    counters = table("Ranks;Accepted states;Rejected states", "1;2;3", "2;2;3", "4;2;3")
    found = audited(tmp_path, f"# Scaling of the solver\n\n## Times\n\n{times}\n## Reach\n\n{counters}")
    assert len(found) == 1


def test_small_factors_keep_a_digit(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("MPI ranks;items/s", "1;480000", "2;768"))
    assert "0.002 times the work of 1, an efficiency of 0.08 %" in found.remarks[0].sentence


def test_a_validation_is_not_scaled_beside_a_training(tmp_path: Path) -> None:
    rows = ("Training throughput (samples/s);97;760;2700", "Validation throughput;147;195;465")
    (found,) = audited(
        tmp_path, table("Metric;1 node (1000 steps);10 nodes (100 steps);50 nodes (20 steps)", *rows)
    )
    assert speedups(found) == [(1, 1.0), (10, 7.84), (50, 27.84)]


def test_labels_of_machines_are_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Machine;Time cost", "single machine;39h", "4 machines;13h"), encoding="utf-8")
    assert main(["audit", str(path)]) == 0
    output = capsys.readouterr().out
    assert "Machine: number of nodes" in output
    assert "Baseline: 1 node" in output


def test_rates_of_a_device_beside_nodes_get_a_note(tmp_path: Path) -> None:
    _, notes = rows_of(tmp_path, table("Training config;tokens/s/GPU", "5 nodes;2040", "40 nodes;1910"))
    assert "one device of each node" in notes


def test_a_list_of_ways_is_a_legend_of_headers(tmp_path: Path) -> None:
    ways = "- `vanilla`: 1 GPU\n- `DP`: 2 GPUs with DataParallel\n- `DDP + AMP`: 2 GPUs with autocast\n"
    found = audited(tmp_path, table(";vanilla;DP;DDP+AMP", "10 epochs/s;82.95;78.88;37.96") + f"\n{ways}")
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.05)], [(1, 1.0), (2, 2.19)]]


def test_nodes_of_parameter_servers_are_no_factor(tmp_path: Path) -> None:
    rows = ("AR;3;3;2979", "AR;5;5;3607", "AR;7;7;4193", "PS;3;5;3013", "PS;5;7;3924")
    found = audited(tmp_path, table("Strategy;Workers;Nodes;Samples/sec", *rows))
    assert [[gpus for gpus, _ in speedups(one)] for one in found] == [[3, 5, 7], [3, 5]]


def test_slices_are_kinds_of_hardware(tmp_path: Path) -> None:
    rows = (
        "v5p-64;32;333k;31%",
        "v6e-32;32;213k;10%",
        "v5p-32;16;198k;37%",
        "v6e-16;16;130k;12%",
        "v5p-16;8;102k;38%",
    )
    found = audited(tmp_path, table("slice;chips;tok/s;mfu", *rows))
    assert [(one.case, [gpus for gpus, _ in speedups(one)]) for one in found] == [
        ("v5p", [8, 16, 32]),
        ("v6e", [16, 32]),
    ]


def test_names_of_machines_do_not_hide_the_kind_of_device(tmp_path: Path) -> None:
    rows = ("a3-8g;8×H100 80 GB;685", "a3-2g;2×H100 80 GB;335", "a2;1×A100 80 GB;~120 (est.)", "g2;1×L4 24 GB;35")
    (found,) = audited(tmp_path, table("machine;GPUs;samples/s", *rows))
    assert [gpus for gpus, _ in speedups(found)] == [2, 8]
    assert any("is an estimate" in note for note in found.source.notes)


def test_parts_of_a_text_in_brackets_are_no_hardware(tmp_path: Path) -> None:
    rows = (
        "Single GPU (Part 1);7367 img/s",
        "4 GPUs on 1 node (Part 2);24000 img/s",
        "8 GPUs (Part 3);37294 img/s",
    )
    (found,) = audited(tmp_path, table("Configuration;Throughput", *rows))
    assert not found.remarks


def test_an_improvement_beside_devices_across_is_named(tmp_path: Path) -> None:
    text = table("Metric;1x T4;4x T4s;Improvement", "Training time;2259 seconds;~650 seconds;~71% faster")
    _, notes = rows_of(tmp_path, text)
    assert "Improvement is of no number of devices" in notes


def test_labels_that_begin_with_their_nodes(tmp_path: Path) -> None:
    rows = ("2n bf16 default;2;2038", "4n bf16 default;4;2024", "**4n + FP8**;4;**2311** (+14 %)")
    (found,) = audited(tmp_path, table("Config;Nodes;tok/s/GPU", *rows))
    assert [gpus for gpus, _ in speedups(found)] == [2, 4]


def test_a_share_of_the_peak_behind_a_time_is_no_efficiency(tmp_path: Path) -> None:
    text = table(";1 GPU;2 GPU;4 GPU", "weak, ms / MFU;195.5 / 34.8%;249.9 / 27.2%;274.6 / 24.8%")
    (found,) = audited(tmp_path, f"FSDP step time, weak scaling\n\n{text}")
    assert not found.checked.efficiencies
