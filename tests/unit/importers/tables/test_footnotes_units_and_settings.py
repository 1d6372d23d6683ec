"""Footnotes, units in other languages, settings of some rows only, and text of other sections."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit, audit_file
from scalestudy.errors import UserError
from scalestudy.importers.cells.foreign_times import with_times_in_english
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import read_cell
from scalestudy.importers.raw import RawTable
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import reading_view
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table


def texts(found: list[Audit]) -> str:
    return "\n".join(str(remark) for one in found for remark in one.remarks)


def test_throughputs_with_commas_are_no_ids_of_devices(tmp_path: Path) -> None:
    rows = ("1;1.14;951;1.00x", "2;0.77;1,411;1.48x")
    (found,) = audited(tmp_path, table("GPUs;epoch time (s);throughput (samples/s);speed-up", *rows))
    assert [row.number("throughput") for row in found.source.rows] == [951, 1411]


def test_a_strategy_on_several_devices_is_no_baseline_of_others(tmp_path: Path) -> None:
    rows = ("Vanilla;1;50", "Vanilla;8;320", "LoRA;1;80", "LoRA;8;600", "Dreambooth;1;20")
    found = audited(tmp_path, table("Method;NPUs;img/s", *rows))
    assert [speedups(one)[-1] for one in found] == [(8, 6.4), (8, 7.5)]
    assert not any(one.table.other_bases for one in found)


def test_a_batch_above_another_table_is_not_of_this_one(tmp_path: Path) -> None:
    text = "# A\n\n## ResNet (batch size 256 per GPU)\n\n" + table("GPUs;img/s", "1;50", "2;95", "4;175")
    text += "\n## BERT (length 512)\n\n" + table("GPUs;samples/s", "1;50", "2;95", "4;175")
    assert [one.source.scaling for one in audited(tmp_path, text)] == ["weak", ""]


def test_cpus_beside_kinds_of_gpus_are_hardware(tmp_path: Path) -> None:
    rows = ("Serial CPU;756 min;1.00x", "8 CPUs (DDP);115.4 min;6.55x", "V100 GPU;8.56 min;88.3x")
    rows += ("2x V100;4.66 min;162.2x",)
    found = audited(tmp_path, table("Configuration;Training time;Speedup", *rows))
    assert [[scale.row.gpus for scale in one.table.scales] for one in found] == [[1, 8], [1, 2]]
    assert "confounded" not in kinds(found)


def test_cells_in_chinese_with_a_time_for_each_number_of_devices(tmp_path: Path) -> None:
    rows = ("速度;单卡：80毫秒/步;  8卡：100毫秒/步", "总时长;单卡：400分钟;  8卡：62.5分钟")
    text = "| 参数 | GPU |\n|---|---|\n" + "".join(f"| {row.replace(';', ' | ', 1)} |\n" for row in rows)
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (8, 6.4)]
    assert [row.number("step_time_s") for row in found.source.rows] == [0.08, 0.1]


def test_a_dash_instead_of_an_accuracy_behind_a_time(tmp_path: Path) -> None:
    rows = ("S;301h/-;162h/17.7%;1.86", "L;401h/-;178h/30.3%;2.25")
    found = audited(tmp_path, table("模型;单机8卡耗时/精度;3机8卡耗时/精度;加速比", *rows))
    assert [speedups(one) for one in found] == [[(8, 1.0), (24, 1.86)], [(8, 1.0), (24, 2.25)]]


def test_a_kind_in_front_of_nodes_and_cards(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("gpu;img/s", "A100*N1C8;400", "A100*N4C32;1400"))
    assert speedups(found) == [(8, 1.0), (32, 3.5)]


def test_a_rate_per_core_is_of_the_devices_if_another_rate_follows_from_it(tmp_path: Path) -> None:
    rows = ("8;34.63;718.44", "32;30.36;2519.3", "64;27.92;4634.1")
    (found,) = audited(tmp_path, table("#GPUs;Samples/sec/core;TFLOP/s", *rows))
    assert speedups(found) == [(8, 1.0), (32, 3.51), (64, 6.45)]
    (found,) = audited(
        tmp_path, table("#GPUs;Samples/sec/core;TFLOP/s", *(row + "1" for row in rows[:2]), "64;5;9")
    )
    assert "Samples/sec/core" in found.source.unread


def test_settings_in_brackets_behind_a_rate(tmp_path: Path) -> None:
    rows = ("1;97 img/s (batch 32)", "2;178 img/s (batch 64)")
    (found,) = audited(tmp_path, table("GPUs;Speed", *rows))
    assert any("(batch 32)" in note for note in found.source.notes)
    rows = ("1;209K tok/s", "4;763K tok/s", "16;438K tok/s (774M model)")
    (found,) = audited(tmp_path, table("GPUs;Throughput", *rows))
    assert [scale.row.gpus for scale in found.table.scales] == [1, 4]


def test_a_setting_that_was_compared_on_the_same_devices_is_one_elsewhere(tmp_path: Path) -> None:
    rows = ("A;on;16;100", "A;off;16;140", "B;on;32;100", "B;off;64;210", "C;on;8;50", "C;on;16;95")
    (found,) = audited(tmp_path, table("Model;On/off policy;GPUs;samples/s", *rows))
    assert speedups(found) == [(8, 1.0), (16, 1.9)]


def test_a_global_batch_that_is_a_little_off(tmp_path: Path) -> None:
    header = "GPUs;Batch / GPU;GBS;img/s"
    assert kinds(audited(tmp_path, table(header, "8;16;128;400", "64;16;1026;2800"))) == ["batch"]
    assert kinds(audited(tmp_path, table(header, "8;64;512;400", "64;64;4.1k;2800"))) == []


def test_tokens_are_not_held_against_samples(tmp_path: Path) -> None:
    rows = ("128;512;45.7;506", "256;512;44.2;262")
    found = audited(tmp_path, table("GPUs;Global batch;Tokens/s/GPU;Step time (s)", *rows))
    assert kinds(found) == []


@pytest.mark.parametrize("setting", ["AMP", "FP16", "mixed precision", "torch.compile"])
def test_a_precision_that_the_baseline_has_not_is_a_remark(tmp_path: Path, setting: str) -> None:
    rows = ("1 GPU;80 s;1.0x", "DDP (2 GPUs);44 s;1.82x", f"DDP + {setting} (2 GPUs);38 s;2.11x")
    found = audited(tmp_path, table("Setup;Epoch time;Speedup", *rows))
    assert kinds(found) == ["confounded"]
    assert setting.lower() in texts(found)
    assert sum(one.checked.speedups for one in found) > 0


def test_one_number_of_devices_with_speedups_over_another_run(tmp_path: Path) -> None:
    rows = ("1;4;21.9;2.73", "2;2;26.4;2.27")
    found = audited(tmp_path, table("# of nodes;GPUs per node;Time (min/epoch);Speed-up", *rows))
    assert "shows a time but no scaling; the printed speedup of 2.73 is relative to a run" in texts(found)


def test_captions_that_differ_in_their_batch_too(tmp_path: Path) -> None:
    parts = [
        f"**Table {at}** FSDP. Llama 8B. {gpus} GPUs. Global batch size {2 * gpus}.\n\n"
        + table("Technique;TPS/GPU", f"FSDP;{rate}", f"FSDP + compile;{rate + 900}")
        for at, (gpus, rate) in enumerate(((8, 5762), (128, 5605)), start=1)
    ]
    found = audited(tmp_path, "\n".join(parts))
    assert [[scale.row.gpus for scale in one.table.scales] for one in found] == [[8, 128], [8, 128]]


def test_a_degree_of_sharding_counts_beside_another_degree() -> None:
    assert [count_in_words(text).gpus for text in ("FSDP 8, CP 1", "FSDP 4, CP 2", "FSDP 2, TP 4")] == [8] * 3


def test_the_work_of_a_step_is_a_batch(tmp_path: Path) -> None:
    assert meaning_of("Samples/GPU/step").role == "batch_per_gpu"
    (found,) = audited(tmp_path, table(" ;1 GPU;8 GPUs", "Samples/GPU/step;32;4", "Wall time (s);39;56"))
    assert speedups(found) == [(1, 1.0), (8, 0.7)]


def test_chips_of_a_host(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Hosts;Chips/h;img/s", "1;8;50", "2;8;95", "4;8;175"))
    assert speedups(found) == [(8, 1.0), (16, 1.9), (32, 3.5)]


@pytest.mark.parametrize(
    ("marked", "note", "expected"),
    [
        ("Full *", "*= Uses PagedAdamW", ["confounded"]),
        ("Full <sup>†</sup>", "† with CPU offload", ["confounded"]),
        ("Full *", "* Uses PagedAdamW\n* Another point", []),  # a list
        ("Full", "*= Uses PagedAdamW", []),
    ],
)
def test_a_footnote_of_some_rows_is_a_remark(tmp_path: Path, marked: str, note: str, expected: list[str]) -> None:
    text = table("GPUs;Method;tok/s", f"1;{marked};702", "4;Full;1388") + f"\n{note}\n"
    found = audited(tmp_path, text)
    assert kinds(found) == expected
    assert ("PagedAdamW" in texts(found) or "offload" in texts(found)) == bool(expected)


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        *[("3분 10초", 190), ("1시간 35분", 5700), ("10分30秒", 630), ("1小时35分钟", 5700), ("1時間35分", 5700)],
        *[("2 часа 15 минут", 8100), ("1 ч 30 мин", 5400), ("2 Std. 15 Min.", 8100), ("2天3小时", 183600)],
        *[("95분", 5700), ("12秒", 12), ("3 Stunden", 10800), ("약 3분 10초", 190)],
    ],
)
def test_a_time_in_another_language(tmp_path: Path, cell: str, seconds: int) -> None:
    (found,) = audited(tmp_path, table("GPUs;Time per epoch", f"1;{cell}", f"2;{cell}"))
    assert found.source.rows[0].number("total_time_s") == pytest.approx(seconds)


@pytest.mark.parametrize("cell", ["2021年3月5日", "8 卡", "3 min", "第3天", "A100"])
def test_what_is_no_time_in_another_language_stays_as_it_is(cell: str) -> None:
    raw = RawTable(1, ("a",), ((2, (cell,)),))
    assert with_times_in_english(raw) == raw
    assert read_duration(cell) is None


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("2.88 M", 2.88e6),
        ("4.3 M tok/s", 4.3e6),
        ("2.5 million", 2.5e6),
        ("3.2万", 32000),
        ("8 MB", 8),
        ("14 ms", 14),
    ],
)
def test_factors_apart_from_their_numbers(cell: str, value: float) -> None:
    assert read_cell(cell).printed.value == pytest.approx(value)


def test_a_speedup_from_fewer_to_more_devices(tmp_path: Path) -> None:
    rows = ("A;64 → 2048 GPUs;21.7×", "B;32 → 1024 GPUs;22.4×")
    found = audited(tmp_path, table("Data set;GPUs;Speedup", *rows))
    assert [speedups(one) for one in found] == [[(64, 1.0), (2048, 21.7)], [(32, 1.0), (1024, 22.4)]]
    assert [round(one.table.scales[-1].efficiency.value, 3) for one in found] == [0.678, 0.7]


def test_cells_that_are_over_another_program_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    text = table("Data set;GPUs;Speedup", "A;64;3.5x vs. Other", "B;32;162x vs. Another")
    path.write_text(text + "\n" + table("GPUs;img/s", "1;50", "2;95"))
    assert all(one.line > 4 for one in read_published(path).tables)


def test_a_network_behind_hardware_is_no_other_hardware(tmp_path: Path) -> None:
    rows = ("1 node × 1 L20;2.783;1.00x", "2 nodes × 1 L20, TCP;4.789;1.72x")
    (found,) = audited(tmp_path, table("Topology;samples/s;Speedup", *rows))
    assert (found.remarks, speedups(found)) == ((), [(1, 1.0), (2, 1.72)])


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("The per-GPU batch shrinks as GPUs are added.", "strong"),
        ("The per-GPU batch size must be set by hand.", ""),
        ("The per-GPU batch size is 8.", "weak"),
        ("All rows are at effective batch size 64.", "strong"),
    ],
)
def test_what_a_text_says_of_a_batch(tmp_path: Path, said: str, kind: str) -> None:
    (found,) = audited(tmp_path, table("GPUs;steps/s", "1;1.36", "2;2.24", "4;3.94") + f"\n{said}\n")
    assert (found.source.scaling or "") == kind


def test_batches_per_device_in_cells(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Batch size;Epoch time (s)", "4;4 per GPU;400", "8;4 per GPU;210"))
    assert [row.number("batch_per_gpu") for row in found.source.rows] == [4, 4]


def test_an_efficiency_of_the_rounded_speedup_beside_it(tmp_path: Path) -> None:
    header = "GPUs;Time (s);Speedup;Efficiency"
    assert kinds(audited(tmp_path, table(header, "1;166.22;1.0x;100%", "4;45.43;3.7x;92%"))) == []
    assert kinds(audited(tmp_path, table(header, "1;166.22;1.0x;100%", "4;45.43;3.7x;95%"))) == ["efficiency"]


def test_the_only_speedup_of_1_is_that_of_the_baseline(tmp_path: Path) -> None:
    rows = ("1 GPU;~0.36x", "2 GPUs;~0.96x", "4 GPUs;1.0x (baseline)")
    (found,) = audited(tmp_path, table("Setup;Speedup vs. 4-GPU", *rows))
    assert [round(scale.efficiency.value, 2) for scale in found.table.scales] == [1.44, 1.92, 1.0]
    assert kinds([found]) == ["no base case"]
    assert "relative to line 5 with 1x" in texts([found])


def test_a_speedup_of_1_below_others_is_not_the_baseline(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Threads;Speedup", "1;0.52", "2;1.0", "4;1.95"))
    assert found.table.base_gpus == 1


def test_a_footnote_does_not_hide_the_kind_of_scaling(tmp_path: Path) -> None:
    rows = ("1 *;64;50;1.00", "2;32;95;1.90", "4;16;175;3.50")
    text = table("GPUs;Batch size per GPU;img/s;Weak scaling", *rows) + "\n* on another host\n"
    assert kinds(audited(tmp_path, text)) == ["label", "confounded"]


def test_the_fewest_devices_are_the_baseline_if_that_is_nearer(tmp_path: Path) -> None:
    rows = ("256;1.76e5;-", "512;3.56e5;100%", "1024;6.76e5;96%", "2048;1.34e6;95%", "4096;2.53e6;90%")
    (found,) = audited(tmp_path, table("GPUs;QPS;Scaling efficiency", *rows))
    assert (found.efficiencies.kind, found.efficiencies.outside) == ("smallest", ())


def test_a_time_that_rises_at_the_end_falls_in_some_rows(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPUs;Wall time", "1;46s", "4;11s", "8;30s"))
    file = read_published(path)
    (view,) = reading_view(file, *audit_file(file, "table"))
    assert "it falls in some rows with more devices" in " ".join(view["columns"].values())


def test_a_total_is_not_called_that_of_one_device_of_each_node(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("nodes;Tok/s/GPU;total tok/s", "256;2814;2.88 M", "512;2102;4.30 M"))
    assert not any("one device of each node" in note for note in found.source.notes)


def test_several_kinds_of_hardware_on_the_same_devices_are_no_series(tmp_path: Path) -> None:
    rows = ("DS;GB300;256;1233", "DS;GB200;256;1048", "DS;H100;1024;368", "Q;H100;8;400", "Q;H100;16;390")
    (found,) = audited(tmp_path, table("Model;System;#GPUs;TFLOPS/GPU", *rows))
    assert speedups(found) == [(8, 1.0), (16, 1.95)]


def test_a_measurement_that_may_be_zero_beside_ratios_ends_in_no_error(tmp_path: Path) -> None:
    rows = ("A;1;1;-", "B;1;10;10x", "C;1;20;20x", "A;2;1;-", "B;2;18;18x", "C;2;40;40x")
    assert audited(tmp_path, table("Variant;GPUs;img/s;Speedup", *rows))


def test_the_form_of_a_device_is_no_other_hardware_if_only_one_is_named(tmp_path: Path) -> None:
    rows = ("H100;1;275,900", "GH200;1;1,011,800", "H100 SXM5;8;2,149,500")
    (found,) = audited(tmp_path, table("GPU;Count;Tokens per sec", *rows))
    assert speedups(found) == [(1, 1.0), (8, 7.79)]
    rows = ("H100 PCIe;1;275,900", "H100;4;900,000", "H100 SXM5;8;2,149,500")
    (found,) = audited(tmp_path, table("GPU;Count;Tokens per sec", *rows))
    assert kinds([found]) == ["confounded"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ;1 Node (8 GPUs);2 Nodes (4 GPUs/node)", "name one number of devices, 8, and scaling needs two"),
        ("Size;A800-80GB GPUs;A;B;Speedup", "--column 'A=throughput' --column 'B=throughput'"),
    ],
)
def test_what_a_refusal_says(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "table.md"
    rows = ("Runtime (s);19750;13263",) if "Node" in text else ("7B;16;855;471;1.82x", "13B;32;1529;609;2.51x")
    path.write_text(table(text, *rows, *(("70B;64;2407;889;2.71x",) if "Size" in text else ())))
    with pytest.raises(UserError, match=said):
        read_published(path)


def test_degrees_below_a_larger_number_of_devices_are_none(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    rows = ("1395;PP=4/VPP=2;1312", "1396;PP=2/VPP=4;1318", "1397;PP=8/VPP=1;1017")
    path.write_text("## 1024 nodes (4096 GPUs)\n\n" + table("job;shape;Tok/s/GPU", *rows))
    with pytest.raises(UserError, match="no column of devices") as error:
        read_published(path)
    assert "job=gpus" not in str(error.value)


def test_degrees_of_data_parallelism_across_are_replicas(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Network;DP Degree: 1;DP Degree: 4", "default;15.16 s;16.17 s", "1 Gbps;22.9 s;33.39 s"))
    file = read_published(path)
    _, (asked, *_) = audit_file(file, "table")
    assert (asked.question.kind, asked.question.most) == ("time_s", 4)


def test_a_step_time_without_a_batch_names_no_other_column(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Model;GPU;Sec/step", "A;H100 x 1;4.7", "B;H100 x 2;9.5"))
    file = read_published(path)
    views = reading_view(file, *audit_file(file, "table"))
    assert "another column" not in str([view["columns"] for view in views])
