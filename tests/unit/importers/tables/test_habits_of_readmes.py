"""Habits of READMEs on trainings: spreads, dashes, parts, placements, several works, runs below headings."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.devices.counted import counted_in
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import reading_view
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


@pytest.mark.parametrize("header", ["p05-p95 tokens/s", "IQR (img/s)", "95% CI", "Range (img/s)", "min-max (s)"])
def test_a_range_of_measurements_is_none(header: str) -> None:
    assert meaning_of(header).role == "ignore"


@pytest.mark.parametrize("header", ["Throughput (img/s) ± std", "Step time ± sd (ms)", "Time (s) +/- std"])
def test_a_measurement_with_its_spread_is_one(header: str) -> None:
    assert meaning_of(header).role in ("throughput", "step_time_s", "time_s")


@pytest.mark.parametrize("header", ["Micro Num", "num micro-batches", "# microbatches", "Micro batch count"])
def test_the_number_of_micro_batches_is_accumulation(header: str) -> None:
    assert meaning_of(header).role == "accumulation"


def test_a_spread_behind_rates_is_named(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;img/s", "1;50+/-2", "2;95+/-3", "4;175"))
    assert speedups(found) == ONCE
    assert "the spread behind numbers, such as '± 2', is not read" in found.source.notes


def test_a_unit_in_the_cell_and_in_the_header_counts_once(tmp_path: Path) -> None:
    text = "- **1 GPU:** 100 episodes/hour\n- **2 GPUs (DDP):** 190 episodes/hour\n"
    text += "- **4 GPUs (DDP):** 350 episodes/hour\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert found.source.rows[0].numbers["throughput"].value == pytest.approx(100 / 3600)


def test_a_time_with_a_dash_for_the_accuracy(tmp_path: Path) -> None:
    header = "Model;8 GPU training time / Accuracy;3x8 GPU training time / Accuracy;Acceleration ratio"
    found = audited(tmp_path, table(header, "S;301h/-;162h/17.7%;1.86", "L;400h/30.1%;178h/-;2.25"))
    assert [speedups(one)[-1] for one in found] == [(24, 1.86), (24, 2.25)]
    assert kinds(found) == []


def test_speedups_below_one_that_follow_are_read(tmp_path: Path) -> None:
    rows = ("1;50,943;1.00x;100%", "2;50,828;1.00x;49.9%", "4;2,836;0.06x;1.4%")
    (found,) = audited(tmp_path, table("GPUs;tokens/s;speedup;efficiency", *rows))
    assert (found.checked.speedups, found.checked.efficiencies) == (3, 3)


def test_compute_and_communication_alone_are_no_times_of_a_run(tmp_path: Path) -> None:
    first = table("GPUs;Time (s)", "1;100", "2;52.6", "4;28.57")
    second = table("Setup;Compute(s);Comm(s)", "2-GPU;15.5;11.4", "4-GPU;15.4;23.8")
    (found,) = audited(tmp_path, f"{first}\n\n{second}")
    assert speedups(found) == ONCE


def test_two_placements_are_two_series_with_one_base(tmp_path: Path) -> None:
    rows = ("1;`[0]`;50", "2;`[6,7]`;95", "4;`[0,1,2,3]`;175", "4;`[4,5,6,7]`;170")
    found = audited(tmp_path, table("DDP GPUs;Devices;Training samples/s", *rows))
    assert [speedups(one) for one in found] == [ONCE, [(1, 1.0), (2, 1.9), (4, 3.4)]]
    assert kinds(found) == []


def test_models_on_one_number_of_devices_each_are_no_series(tmp_path: Path) -> None:
    rows = ("T5-Base;32;618k", "T5-Large;32;90.4k", "T5-3B;512;282.8k", "T5-11B;512;84.8k")
    found = audited(tmp_path, table("Model;TPU cores;tokens/s", *rows))
    assert kinds(found) == ["one scale"] * 4


def test_another_data_set_in_each_row_is_no_scaling(tmp_path: Path) -> None:
    rows = ("COCO (118K);4;1,234", "Open Images;8;2,156", "Custom (10M);16;3,987")
    (found,) = audited(tmp_path, table("Dataset Size;Nodes;Images/sec", *rows))
    (remark,) = found.remarks
    assert (remark.kind, "Open Images on 8" in remark.sentence) == ("confounded", True)


def test_rows_of_two_kinds_of_batches_are_compared_with_both(tmp_path: Path) -> None:
    rows = ("r50(512*8);5900", "r50(512*16);11000", "r50(128*32);17000")
    found = audited(tmp_path, table("Backbone(bs*gpus);Throughput", *rows))
    assert [speedups(one) for one in found] == [[(8, 1.0), (16, 1.86)], [(8, 1.0), (32, 2.88)]]
    assert kinds(found) == []


def test_processes_on_one_device_are_named(tmp_path: Path) -> None:
    rows = ("1;100", "2;52.6", "4;28.57")
    (found,) = audited(tmp_path, table("Client processes on one GPU;Total runtime (s)", *rows))
    assert any("does not show scaling over devices" in note for note in found.source.notes)


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("## Single GPU", "## DDP 2 GPU", "## DDP 4 GPU"),
        ("**One GPU**", "**DDP, two GPUs**", "**DDP, four GPUs**"),
        ("__Training on a single GPU__", "__Training on two GPUs__", "__Training on four GPUs__"),
    ],
)
def test_runs_below_headings(first: str, second: str, third: str, tmp_path: Path) -> None:
    runs = [
        f"{title}\n\n```\npython train.py\n```\nAccuracy: **27 %** \\\nOne epoch: **{time}** seconds\n"
        for title, time in ((first, "100"), (second, "52.6"), (third, "28.57"))
    ]
    (found,) = audited(tmp_path, "# Training of a network\n\n" + "\n\n".join(runs))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_the_ratio_of_a_second_quantity_across_is_named(tmp_path: Path) -> None:
    rows = ("Runtime;2789.8s;1476.3s;1.89x", "Throughput;3.585 samples/sec;6.773 samples/sec;1.89x")
    (found,) = audited(tmp_path, table("Metric;1 GPU;2 GPU;Speedup", *rows))
    assert found.checked.speedups == 1
    assert any(note.startswith("the ratio of Runtime") for note in found.source.notes)


def test_what_a_run_had_beside_its_devices_is_named(tmp_path: Path) -> None:
    own = table("Time (s);1xV100;4xV100;4xV100+UCX", "encoding;302;108;46.4", "features;62;17;3.3")
    found = audited(tmp_path, own)
    assert {speedups(one)[-1] for one in found} >= {(4, 2.8), (4, 3.65)}
    assert all("20 cores" not in one.case for one in found)


def test_the_batch_of_each_device_in_labels(tmp_path: Path) -> None:
    rows = (
        "Single A100, batch=256;1.2 ms",
        "DDP 2x A100, batch=256 each;1.26 ms",
        "DDP 4x A100, batch=256 each;1.37 ms",
    )
    (found,) = audited(tmp_path, table("Configuration;Time per Step", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.9), (4, 3.5)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We fixed the batch size per GPU.", "weak"),
        ("- **Batch Size:** 8 per GPU", "weak"),
        ("- Batch per GPU: 8", "weak"),
        ("The global batch size is 4096.", "strong"),
        ("One GPU has a global batch size of 4, two have a global batch size of 8.", ""),
        ("The batch is 8 per GPU, and the global batch size is 64 on all.", ""),
        ("Batch size 8 per GPU here. Batch size 16 per GPU there.", ""),
    ],
)
def test_the_text_of_a_file_says_which_batch_is_constant(text: str, kind: str, tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, f"# Setup\n\n{text}\n\n## Results\n\n" + table("GPUs;img/s", "1;50", "2;95", "4;175")
    )
    assert (speedups(found), found.scaling) == (ONCE, kind)


@pytest.mark.parametrize("title", ["**Linear scaling (ideal):**", "Ideal:", "Perfect scaling"])
def test_an_ideal_list_is_left_out(title: str, tmp_path: Path) -> None:
    ideal = "1 GPU: 50 img/s\n2 GPUs: 100 img/s (2.0x)\n4 GPUs: 200 img/s (4.0x)"
    real = "1 GPU: 50 img/s\n2 GPUs: 95 img/s (1.9x)\n4 GPUs: 175 img/s (3.5x)"
    (found,) = audited(tmp_path, f"{title}\n\n```\n{ideal}\n```\n\n**Measured:**\n\n```\n{real}\n```\n")
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert any("ideal" in note for note in found.source.notes)


def test_a_time_in_two_units_is_one(tmp_path: Path) -> None:
    rows = ("1;73.00s (1.22 min);1.00x", "2;46.47s (0.77 min);1.57x", "8;18.20s (0.30 min);4.01x")
    (found,) = audited(tmp_path, table("GPUs;Training Time;Speedup", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.57), (8, 4.01)]


def test_devices_in_front_of_rates(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Run;1x tokens/s;2x tokens/s;4x tokens/s", "bf16;50k;95k;175k"))
    assert speedups(found) == ONCE


def test_nodes_with_a_remark_have_the_devices_of_one_node(tmp_path: Path) -> None:
    rows = ("1 node, 8 GPU (NVLink);50;1.00x", "2 nodes, sockets;40;0.80x", "2 nodes, 8 NICs + GDR;95;1.90x")
    (found,) = audited(tmp_path, table("Config;img/s;Scaling vs 1 node", *rows))
    assert speedups(found) == [(8, 1.0), (16, 0.8), (16, 1.9)]


def test_degrees_on_a_constant_number_of_devices_are_no_scale(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("FSDP;CP;TPS/GPU", "8;1;76", "4;2;47", "2;4;31", "1;8;16"))
    with pytest.raises(UserError, match="no column of devices"):
        read_published(path)


@pytest.mark.parametrize("heading", ["### GPU weak scaling (FP16)", "### Scaling efficiency, steady state"])
def test_numbers_that_are_no_ratios_are_not_those_of_the_heading(heading: str, tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(f"{heading}\n\n" + table("GPUs;Conda;NGC", "1;0.31;0.59", "2;0.57;1.07", "4;1.12;1.55"))
    with pytest.raises(UserError, match="Conda=throughput"):
        read_published(path)


def test_a_sentence_on_efficiency_is_no_header_of_rates_across(tmp_path: Path) -> None:
    rows = ("small;949K;3141K;3.31x;82.7%", "large;121K;411K;3.40x;85.0%")
    text = (
        table("Model;1 GPU;4 GPUs;Speedup;Efficiency", *rows)
        + "\nFinding: larger models scale with more efficiency!\n"
    )
    found = audited(tmp_path, text)
    assert [speedups(one)[-1] for one in found] == [(4, 3.31), (4, 3.4)]
    assert kinds(found) == []


def test_times_below_a_batch_size_are_not_those_of_a_step() -> None:
    assert meaning_of("Batch-size 64 Time(sec)").role == "time_s"
    assert meaning_of("Time per batch (s)").role == "step_time_s"


def test_a_cut_ratio_beside_a_rounded_one_is_a_contradiction(tmp_path: Path) -> None:
    rows = ("1;1034.64;1", "16;6358.43;6.15", "32;10633.22;10.2")
    (found,) = audited(tmp_path, table("GPUs;samples/s;speedup", *rows))
    assert [(remark.kind, remark.gpus) for remark in found.remarks] == [("speedup", 32)]
    rows = ("1;1034.64;1", "16;6358.43;6.14", "32;10633.22;10.2")
    (found,) = audited(tmp_path, table("GPUs;samples/s;speedup", *rows))
    assert kinds([found]) == [], "all are cut"


def test_degrees_in_labels_beside_nodes_are_the_devices(tmp_path: Path) -> None:
    rows = ("TP8 PP1 DP1;1;50k", "TP8 PP1 DP2;2;95k", "TP8 PP1 DP4;4;175k", "TP8 PP2 DP2;4;160k")
    (found,) = audited(tmp_path, table("Parallelism;Nodes;Tokens/s", *rows))
    assert speedups(found) == [(8, 1.0), (16, 1.9), (32, 3.5)]
    assert kinds([found]) == []


def test_the_cores_of_a_host_beside_its_gpus_are_no_strategy(tmp_path: Path) -> None:
    rows = ("16 CPU, 1 GPU;50", "32 CPU, 2 GPU;95", "64 CPU, 4 GPU;175")
    (found,) = audited(tmp_path, table("Devices;img/s", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_the_time_of_a_million_steps() -> None:
    assert meaning_of("Time (min) for 1M steps").factor == pytest.approx(1e-6)


def test_the_title_of_the_next_table_is_no_caption_of_this_one(tmp_path: Path) -> None:
    rows = ("1;50", "2;95", "4;175")
    text = "\n".join(f"**{kind} Scaling**\n\n{table('GPUs;img/s', *rows)}" for kind in ("Strong", "Weak"))
    assert [one.scaling for one in audited(tmp_path, text)] == ["strong", "weak"]


def test_a_header_of_the_numbers_above_numbers_of_cards(tmp_path: Path) -> None:
    rows = ("1 card;50;10", "2 cards;95;19", "4 cards;175;35")
    found = audited(tmp_path, table("Training speed <br> (images/second);AlexNet;VGGNet", *rows))
    assert [(one.case, speedups(one)) for one in found] == [("alexnet", ONCE), ("vggnet", ONCE)]


def test_one_device_of_a_kind_beside_two(tmp_path: Path) -> None:
    rows = ("T4;40", "T4 x2;60", "2080Ti;81", "2080Ti x2;140", "K80;11")
    found = audited(tmp_path, table("GPUs;images/sec", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.5)], [(1, 1.0), (2, 1.73)]]


def test_hardware_with_the_devices_of_its_row_is_one(tmp_path: Path) -> None:
    rows = ("Hardware;1× RTX 4090;2× RTX 4090", "Throughput;6614 img/s;11390 img/s")
    (found,) = audited(tmp_path, table("Metric;1 GPU;2 GPUs", *rows))
    assert (speedups(found), kinds([found])) == ([(1, 1.0), (2, 1.72)], [])


def test_letters_in_front_of_nodes_and_devices_of_each(tmp_path: Path) -> None:
    rows = ("N=1;M=1;100 s", "N=1;M=2;52.6 s", "N=2;M=2;28.57 s")
    (found,) = audited(tmp_path, table("#Nodes;#GPUs per node;runtime", *rows))
    assert speedups(found) == ONCE


def test_two_ratios_in_brackets_are_no_interval(tmp_path: Path) -> None:
    rows = ("1;3.523", "8;23.28 (6.61x, 83 % scaling efficiency)")
    (found,) = audited(tmp_path, table("GPUs;samples/s", *rows))
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (8, 6.61)], 1)
    assert not any("±" in note for note in found.source.notes)


def test_nodes_across_with_a_way(tmp_path: Path) -> None:
    rows = ("tok/s;16,700;35,000", "Speedup;-;2.1x")
    (found,) = audited(tmp_path, table("Metric;1 Machine;2 Machines (DDP v2)", *rows))
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (2, 2.1)], 1)


def test_times_below_a_speed_of_an_epoch(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Speed/epoch", "1 TitanX;0.70 hr", "8 TitanX;0.10 hr"))
    assert speedups(found) == [(1, 1.0), (8, 7.0)]


def test_batches_that_grow_with_the_devices_for_some_rows(tmp_path: Path) -> None:
    rows = ("1;1;100 s", "1;4;80 s", "2;8;50 s", "4;16;25 s")
    (found,) = audited(tmp_path, table("#GPUs;batch size;time/epoch", *rows))
    assert (speedups(found), found.case) == ([(1, 1.0), (2, 1.6), (4, 3.2)], "batch per device 4")


def test_a_ratio_above_its_rounding_is_a_contradiction(tmp_path: Path) -> None:
    rows = ("8;36,421;100%", "16;70,234;96.4%", "32;133,892;92.0%")
    (found,) = audited(tmp_path, table("GPUs;Throughput (img/s);Efficiency", *rows))
    assert [(remark.kind, remark.gpus) for remark in found.remarks] == [("efficiency", 32)]
    zeros = ("1;12,300;100%", "16;172,000;88%")
    (found,) = audited(tmp_path, table("GPUs;Throughput (img/s);Efficiency", *zeros))
    assert kinds([found]) == [], "12,250 and 172,500 give 88.0 %"


def test_ratios_behind_the_times_of_two_programs_are_those_of_each(tmp_path: Path) -> None:
    header = "Devices;Pyg's Epoch Time;Pyg's Scalability;Quiver's Epoch Time;Quiver's Scalability"
    rows = ("1;36.5;1.0;11.1;1.0", "2;30;1.22;5.8;1.91", "3;27.7;1.32;4.7;2.71", "4;28.2;1.29;3.25;3.42")
    pyg, quiver = audited(tmp_path, table(header, *rows))
    assert (pyg.checked.speedups, [one.kind for one in pyg.remarks]) == (4, ["turns back"])
    assert [(one.kind, one.gpus) for one in quiver.remarks] == [("speedup", 3)]


def test_a_rate_that_the_text_multiplies_with_devices_is_per_device(tmp_path: Path) -> None:
    text = "Expected on 256 GPUs: 3.6M tokens/s (14,123 × 256 GPUs).\n"
    (found,) = audited(tmp_path, table("GPUs;Tokens/s", "8;14,700", "128;14,123") + f"\n{text}")
    assert speedups(found) == [(8, 1.0), (128, 15.37)]


def test_a_rate_times_a_time_is_work_that_grows(tmp_path: Path) -> None:
    header = "DDP;GPUs;Samples per epoch;s per epoch;tok/s"
    rows = ("No DDP;1;408;4.93;5296.6", "Naive DDP;2;816;13.227;3948.3")
    (found,) = audited(tmp_path, table(header, *rows))
    assert speedups(found) == [(1, 1.0), (2, 0.75)]


def test_a_size_that_grows_as_the_devices_is_weak_scaling(tmp_path: Path) -> None:
    rows = ("1;10 GB (26M rows);310.22 s", "10;100 GB (260M rows);326.86 s")
    (found,) = audited(tmp_path, table("Workers;Data Size;Performance", *rows))
    assert (speedups(found), found.scaling) == ([(1, 1.0), (10, 9.49)], "weak")


def test_a_noun_in_the_middle_above_numbers_of_nodes(tmp_path: Path) -> None:
    own = "|    |    |    | Nodes |    |\n|----|----|----|-------|----|\n|    |    | 1 | 2 | 4 |\n"
    own += (
        "|    | Tokens per Second | 50 | 95 | 175 |\n| 5B | Perfect Linear Scaling (Tokens) | 50 | 100 | 200 |\n"
    )
    own += "|    | Speed-up | 1x | 1.90x | 3.50x |\n"
    (found,) = audited(tmp_path, own)
    assert (speedups(found), found.checked.speedups, kinds([found])) == (ONCE, 3, [])


def test_codes_of_nodes_and_cards_with_their_product(tmp_path: Path) -> None:
    rows = ("A100单机单卡（1x1）;50", "A100单机8卡（1x8）;350", "A100两机8卡（2x8）;650")
    (found,) = audited(tmp_path, table("配置;p_whole", *rows))
    assert (speedups(found), kinds([found])) == ([(1, 1.0), (8, 7.0), (16, 13.0)], [])


def test_remarks_behind_batches_tell_rows_apart(tmp_path: Path) -> None:
    rows = ("2;64 (4 chunks);50;1.0x", "4;128 (4 chunks);95;1.9x", "4;128 (2 chunks);80;1.6x")
    found = audited(tmp_path, table("GPUs;Batch size;img/s;Speedup", *rows))
    assert "twice" not in " ".join(kinds(found))


def test_names_of_slices_and_kinds_with_their_number(tmp_path: Path) -> None:
    rows = ("TPU v3-32;2.1h", "TPU v3-8;4.4h", "v100_x8;13.2h")
    (found,) = audited(tmp_path, table("Name;Walltime", *rows))
    assert speedups(found) == [(8, 1.0), (32, 2.1)]


def test_the_heading_above_a_block_of_code_says_the_kind_of_scaling(tmp_path: Path) -> None:
    rows = "procs,train_time,speedup\n1,100,1.00\n2,52.6,1.90\n4,28.57,3.50"
    (found,) = audited(tmp_path, f"# A\n\n## Strong scaling\n\nConfig: relu\n\n```csv\n{rows}\n```\n")
    assert (speedups(found), found.scaling) == (ONCE, "strong")


def test_a_second_line_of_headers_below_cells_over_both_lines(tmp_path: Path) -> None:
    html = "<table><tr><th rowspan=2>Method</th><th rowspan=2>GPUs</th><th colspan=2>Length</th></tr>"
    html += "<tr><th>256</th><th>512</th></tr>"
    html += "<tr><td>LoRA</td><td>1</td><td>20.1G / 1.0s/it</td><td>20.4G / 2.0s/it</td></tr>"
    html += "<tr><td>LoRA</td><td>2</td><td>20.1G / 0.5s/it</td><td>20.4G / 1.25s/it</td></tr></table>"
    found = audited(tmp_path, html)
    assert [speedups(one)[-1] for one in found] == [(2, 2.0), (2, 1.6)]
    assert any("memory" in name for name in found[0].source.unread)


def test_another_strategy_that_is_faster_says_nothing_of_the_work(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    rows = ("7B;LoRA;1;1.2", "7B;LoRA;4;2.1", "72B;Q-LoRA;1;27.4", "72B;LoRA + ZeRO-3;4;17.6")
    path.write_text(table("Model;Method;GPUs;s/it", *rows))
    _, asked = audit_file(read_published(path), "table")
    assert asked


def test_one_row_with_a_multiple_of_its_global_batch_is_a_contradiction(tmp_path: Path) -> None:
    rows = ("4;8;32;50", "8;8;64;95", "16;8;512;175")
    (found,) = audited(tmp_path, table("GPUs;micro batch size;global batch size;img/s", *rows))
    assert [(remark.kind, remark.gpus) for remark in found.remarks] == [("batch", 16)]


def test_numbers_of_jobs_as_nodes_end_in_no_error(tmp_path: Path) -> None:
    rows = ("7580161;50;1", "7580162;95;2", "7580163;175;3")
    found = audited(tmp_path, table("nodes;img/s;x", *rows))
    assert all("devices" in note or "nodes" in note for one in found for note in one.source.notes)


def test_a_rate_of_zero_beside_one_of_each_device_ends_in_no_error(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;tok/s per GPU;Total tok/s", "1;0;50", "2;48;96", "4;44;176"))
    assert found.table.scales


def test_a_list_of_processors_counts_processors(tmp_path: Path) -> None:
    text = "num_cpu: 1 Time Taken 100\nnum_cpu: 2 Time Taken 52.6\nnum_cpu: 4 Time Taken 28.57\n"
    (found,) = audited(tmp_path, text)
    assert (speedups(found), counted_in(found.source)) == (ONCE, "CPUs")


def test_a_time_that_falls_in_some_rows_only_is_said_to_do_so(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Model;1 GPU;2 GPUs", "small;1.15 s;1.50 s", "large;0.57 s;0.30 s"))
    file = read_published(path)
    audits, asked = audit_file(file, "table")
    (view,) = reading_view(file, audits, asked)
    assert "it falls in some rows with more devices" in " ".join(view["columns"].values())
