"""Ranges, pieces of hardware, remarks behind numbers, and which row printed ratios are over."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.cli.main import main
from scalestudy.errors import UserError
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.publish.audit import audit_view
from test_groups_and_quantities import rows_of
from test_printed_habits import audited, speedups, table


@pytest.mark.parametrize(
    "text",
    [
        table("nodes;BERT-large;scaling efficiency", "1;1210;100%", "2;2390;98.8%", "4;4700;97.1%"),
        table(";1 node;2 nodes;4 nodes", "BERT-large;1210;2390;4700", "scaling efficiency;100%;98.8%;97.1%"),
    ],
)
def test_numbers_that_explain_the_ratios_are_what_the_caption_says(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, f"Throughput in samples/second:\n\n{text}")
    assert speedups(found) == [(1, 1.0), (2, 1.98), (4, 3.88)]
    assert found.checked.efficiencies == 3


def test_numbers_that_do_not_explain_the_ratios_are_not(tmp_path: Path) -> None:
    text = table("nodes;steps;scaling efficiency", "1;1210;100%", "2;2390;88.8%", "4;4700;77.1%")
    (found,) = audited(tmp_path, f"Throughput in samples/second:\n\n{text}")
    assert found.table.base is None


def test_a_ratio_below_devices_with_a_name_is_of_these_devices(tmp_path: Path) -> None:
    rows = ("ResNet-50;388;2988;11650 (30.0x)", "ResNet-101;230;1790;7010 (30.5x)")
    found = audited(tmp_path, "### Throughput\n\n" + table("Model;1 V100;8 V100;32 V100", *rows))
    assert [one.checked.speedups for one in found] == [1, 1]


def test_pieces_of_kinds_of_hardware(tmp_path: Path) -> None:
    rows = ("GPU-1p;-;230", "GPU-8p;82.3;1700", "NPU-1p;-;276", "NPU-8p;82.45;2234")
    found = audited(tmp_path, table("name;Acc@1;FPS", *rows))
    assert [(one.case, speedups(one)[1]) for one in found] == [("GPU", (8, 7.39)), ("NPU", (8, 8.09))]


def test_setups_with_one_name_are_told_apart_by_their_hardware(tmp_path: Path) -> None:
    rows = (
        "Resource;Ascend 910; V100",
        "Speed;1pc: 200~250 ms/step, 8pcs: 100~150 ms/step;1pc: 115~125 ms/step, 8pcs: 150~200 ms/step",
        "Total time;1pc: 2.5 hours, 8pcs: 0.3 hours;1pc: 1.5 hours, 8pcs: 0.4 hours",
    )
    found = audited(tmp_path, table("Parameters;Face;Face", *rows))
    assert [one.case for one in found] == ["Face Ascend 910", "Face V100"]
    assert [[round(ratio, 2) for _, ratio in speedups(one)] for one in found] == [[1, 8.33], [1, 3.75]]


def test_batches_across_are_no_devices(tmp_path: Path) -> None:
    sizes = table("Batch size;32;64;128", "A;15.4;16.3;16.7", "B;16.0;17.0;17.6")
    devices = table("Trainer count;1;10;20", "A;15.4;140.2;250.8", "B;16.0;150.1;262.2")
    found, _ = rows_of(tmp_path, f"Samples/s on a number of trainers\n\n{sizes}\n\nSamples/s\n\n{devices}")
    assert [gpus for rows in found for gpus, _ in rows] == [1, 10, 20] * 2


def test_names_with_a_setting_below_devices(tmp_path: Path) -> None:
    blocks = {1: ("43", "30"), 2: ("28", "19"), 3: ("20", "14")}
    text = "".join(
        f"using {gpus} GPUs:\nbatch_size=64         {one} seconds\nbatch_size=248     {two} seconds\n\n"
        for gpus, (one, two) in blocks.items()
    )
    text += "with 1 GPU     GPU utilization: 80-90%\nwith 2 GPU     GPU utilization: 45-55%\n"
    found = audited(tmp_path, text)
    assert [one.case for one in found] == ["batch_size=64", "batch_size=248"]
    assert [gpus for gpus, _ in speedups(found[0])] == [1, 2, 3]


def test_efficiencies_over_the_row_with_100_per_cent(tmp_path: Path) -> None:
    rows = ("8;29860;108", "32;110373;100", "64;216507;{}", "128;423306;96")
    text = table("GPUs;tok/s;scaling eff %", *rows)
    (right,) = audited(tmp_path, text.replace("{}", "98"))
    assert not right.remarks
    assert audit_view([right])[0]["relative_efficiency"] == "line 4"
    (wrong,) = audited(tmp_path, text.replace("{}", "94"))
    assert [(remark.kind, remark.gpus) for remark in wrong.remarks] == [("efficiency", 64)]


def test_a_row_with_another_ratio_is_no_base_beside_one_with_1(tmp_path: Path) -> None:
    rows = ("256;1.76×10⁵;100%", "512;3.56×10⁵;99%", "1024;6.76×10⁵;96%")
    (found,) = audited(tmp_path, table("GPUs;samples/s;efficiency", *rows))
    assert [(remark.kind, remark.gpus) for remark in found.remarks] == [("efficiency", 512)]


@pytest.mark.parametrize("flops", [("193", "188", "186", "184"), ("1544", "12032", "95232", "188416")])
def test_flops_of_unknown_devices_are_left_out_beside_tokens_of_a_device(
    flops: tuple[str, ...], tmp_path: Path
) -> None:
    rows = ("8;4078", "64;3944", "512;3835", "1024;3625")
    own = [f"{row};{rate}" for row, rate in zip(rows, flops, strict=True)]
    (found,) = audited(tmp_path, table("GPUs;tokens/s/GPU;TFLOPS", *own))
    assert speedups(found)[-1] == (1024, 113.78)
    assert found.source.unread == ("TFLOPS",)


def test_remarks_behind_numbers_get_a_note(tmp_path: Path) -> None:
    rows = ("8;8322.9<sup>[BS=96]</sup>", "16;12100 (OOM)", "32;20123")
    _, notes = rows_of(tmp_path, table("GPUs;img/s", *rows))
    assert "'[BS=96]', is not read" in notes
    assert "'(OOM)', is not read" in notes


def test_failed_runs_below_devices_get_a_note(tmp_path: Path) -> None:
    _, notes = rows_of(tmp_path, table("img/s;1 GPU;8 GPUs", "small;410;3100", "large;OOM;700", "huge;90;680"))
    assert "failed runs in line 4" in notes


def test_columns_without_a_value_get_a_note(tmp_path: Path) -> None:
    _, notes = rows_of(tmp_path, table("GPUs;img/s;speedup", "1;410;", "8;3100;"))
    assert "no cell below 'speedup' has a value" in notes


def test_the_step_at_which_a_speed_was_reached_is_no_speed() -> None:
    assert meaning_of("final speed at step").role == "ignore"


def test_ranges_with_a_unit_have_one(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Time", "1;~15-17 min", "2;~8-9 min"))
    assert not found.source.unknown_units


def test_rows_that_one_column_lacks_are_named_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.md"
    rows = ("1;VGG;147;142", "8;VGG;1072;984", "1;ResNet;150;-", "8;ResNet;1100;990")
    path.write_text(table("GPUs;model;A img/s;B img/s", *rows), encoding="utf-8")
    main(["audit", str(path)])
    assert "line 6 was not compared for B img/s:" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("header", "rows", "expected"),
    [
        ("Tokens/s / MFU", ("8;9000 / 52%", "16;17500 / 51.2%"), [(8, 1.0), (16, 1.94)]),
        ("Latency (ms) / Throughput (img/s)", ("1;10 / 400", "2;10.4 / 780"), [(1, 1.0), (2, 1.95)]),
        ("Time (s) / Memory (GB)", ("8;90 / 12", "16;47 / 11.5"), [(8, 1.0), (16, 1.91)]),
        ("Time / epoch", ("8;90 s", "16;47 s"), [(8, 1.0), (16, 1.91)]),
    ],
)
def test_two_quantities_in_a_header(
    tmp_path: Path, header: str, rows: tuple[str, ...], expected: list[tuple[int, float]]
) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;{header}", *rows))
    assert speedups(found) == expected


@pytest.mark.parametrize("header", ["GPU-hours", "Node hours", "Total GPU days", "core-h"])
def test_times_of_all_devices_together_are_named(tmp_path: Path, header: str) -> None:
    with pytest.raises(UserError, match="add a column of the time of a run, which is that number divided by"):
        audited(tmp_path, table(f"GPUs;{header}", "8;100", "16;104", "32;112"))
