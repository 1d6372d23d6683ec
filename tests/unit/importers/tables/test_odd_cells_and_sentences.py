"""Cells that people decorate, rows that are none of the series, and sentences with measurements."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.reading import read_published
from test_plain_tables import read
from test_printed_habits import RATES, audited, beside, speedups, table

ONCE = [(1, 1.0), (2, 1.9), (4, 3.5)]


@pytest.mark.parametrize("labels", ["1;2;4 \u2705", "1;2;\U0001f680 4", "1;2;4\u2020", "n=1;n=2;n=4"])
def test_decorated_devices(tmp_path: Path, labels: str) -> None:
    (audit,) = audited(tmp_path, table("GPUs;img/s", *beside(labels, RATES)))
    assert speedups(audit) == ONCE


@pytest.mark.parametrize("last", ["1435,", "1435 \u2705", "\U0001f3c6 1435", "1435 \u2191"])
def test_decorated_numbers(tmp_path: Path, last: str) -> None:
    (audit,) = audited(tmp_path, table("GPUs;img/s", "1;410", "2;779", f"4;{last}"))
    assert speedups(audit) == ONCE


@pytest.mark.parametrize("middle", ["2", "2\u2020", "2 (PCIe)"])
def test_a_bare_number_among_headers_of_devices(tmp_path: Path, middle: str) -> None:
    (audit,) = audited(tmp_path, table(f"Metric;1 GPU;{middle};4 GPUs", "img/s;410;779;1435"))
    assert speedups(audit) == ONCE


def test_a_year_among_headers_of_devices_is_no_number_of_them(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, table("Model;1 GPU;2024;4 GPUs", "A;410 img/s;1;1435 img/s"))
    assert speedups(audit) == [(1, 1.0), (4, 3.5)]


def test_what_was_not_measured_yet_is_one_cell_of_its_row(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, table("Metric;1 GPU;2 GPUs;4 GPUs", "img/s;410;779;TBD"))
    assert speedups(audit) == [(1, 1.0), (2, 1.9)]


def test_runs_of_other_authors_are_no_scale_of_ours(tmp_path: Path) -> None:
    rows = ["1;410", "2;779", "4;1435", "4 (Smith et al.);1700"]
    (audit,) = audited(tmp_path, table("GPUs;img/s", *rows))
    assert speedups(audit) == ONCE


def test_epochs_and_steps_are_no_times(tmp_path: Path) -> None:
    rows = ["1;20 hours", "2;10.5 hours", "4;~300 epochs"]
    (audit,) = audited(tmp_path, table("GPUs;Wall-clock", *rows))
    assert speedups(audit) == [(1, 1.0), (2, 1.9)]
    assert quantity_of("7.4 steps") == ""


def test_a_number_that_the_baseline_does_not_share_is_reported(tmp_path: Path) -> None:
    rows = ["1.000;1;110", "0.500;2;80", "0.300;2;51", "0.250;4;62", "0.125;4;34"]
    audits, _, _ = read(tmp_path, table("Steps scaler;GPUs;Elapsed time (min)", *rows))
    said = {(remark.kind, remark.sentence) for audit in audits for remark in audit.remarks}
    text = "the steps scaler is 1.000 on 1 and 0.500 on more devices, so the work may differ"
    assert ("confounded", text) in said


def test_two_baselines_in_one_line_are_told_apart_by_their_names(tmp_path: Path) -> None:
    audits, _, _ = read(tmp_path, table("Case;1 GPU (A100);2 GPUs (A100);1 GPU (T4 spot)", "A;71 s;40 s;90 s"))
    sentences = [remark.sentence for audit in audits for remark in audit.remarks]
    assert not any("relative to line 3 on 1 and" in sentence for sentence in sentences)


def test_work_of_each_rank_that_is_constant_is_weak_scaling(tmp_path: Path) -> None:
    rows = [f"{size};{ranks};{time}" for size in (1, 16) for ranks, time in ((2, 0.08), (4, 0.09), (8, 0.1))]
    audits, asked, _ = read(tmp_path, table("Input/rank;Ranks;Time (ms)", *rows))
    assert not asked
    assert [round(audit.table.scales[-1].speedup.value, 1) for audit in audits] == [3.2, 3.2]


def test_a_list_of_stars_below_a_table_has_no_footnotes(tmp_path: Path) -> None:
    text = (
        table("GPUs;img/s", "1;410", "2;779*", "4;1435*")
        + "\nNotes:\n\n* NCCL settings are default\n\n* Ethernet\n"
    )
    (audit,) = audited(tmp_path, text)
    assert not audit.remarks


def test_ratios_that_name_what_they_are_over_are_of_no_devices() -> None:
    assert count_of_header("Scaling Efficiency (vs 1 GPU)") is None
    found = count_of_header("8 GPU speedup over 1 GPU")
    assert found and found[0].gpus == 8


def test_a_dictionary_that_python_prints(tmp_path: Path) -> None:
    text = (
        "{'bert': {'1n1g': {'img/s': 410, 'speedup': 1.0},\n          '1n2g': {'img/s': 779, 'speedup': 1.9}}}\n"
    )
    (audit,) = audited(tmp_path, text)
    assert speedups(audit) == [(1, 1.0), (2, 1.9)]


def test_a_dictionary_with_code_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text("{'a': __import__('os').getcwd(), '1 GPU': 2}\n", encoding="utf-8")
    with pytest.raises(UserError):
        read_published(path)


def test_several_named_values_in_a_line(tmp_path: Path) -> None:
    text = "# 1 gpu\nTotal time: 69.03 seconds, Train 1 epoch 13.08 seconds\n"
    text += "# 4 gpus\nTotal time: 30.10 seconds, Train 1 epoch 4.11 seconds\n"
    (audit,) = audited(tmp_path, text)
    assert speedups(audit) == [(1, 1.0), (4, 2.29)]


def test_a_unit_in_one_cell_is_that_of_the_column_beside_it(tmp_path: Path) -> None:
    rows = ["1;294 ms/step;310;5%", "2;176;158;11%", "4;126;77.0;63%"]
    found = audited(tmp_path, table("GPUs;mpi4jax;jax/NCCL;advantage", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 2.33), (4, 4.03)]


def test_instances_that_say_their_devices(tmp_path: Path) -> None:
    rows = ["gpu_1x_h100_sxm5;410", "gpu_8x_h100_sxm5;2870"]
    (audit,) = audited(tmp_path, table("Instance;img/s", *rows))
    assert speedups(audit) == [(1, 1.0), (8, 7.0)]


def test_a_list_with_an_unknown_measurement_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "lists.md"
    path.write_text("num_gpu = [2, 4, 8]\nmp = [371.9, 448.8, 493.3]\n", encoding="utf-8")
    with pytest.raises(UserError, match="--column 'mp=total_time_s'"):
        read_published(path)


@pytest.mark.parametrize(
    "text",
    [
        "I use DDP and the training time of two GPUs is 21min and that of one GPU is 40min in an epoch. Why?",
        "Training a 2d model takes around 40s per epoch using a single GPU vs. 21s using 2 GPUs. All are busy.",
        "I noticed that 2 GPUs finish in 21 s, compared to 40 s with 1 GPU.",
        "With 1 GPU it takes 40 seconds per iteration, and with 2 GPUs 21 seconds per iteration. Usage is 95%.",
        "Throughput on 1 GPU is 21 images per second, and 40 images per second on 2 GPUs.",
    ],
)
def test_sentences_with_measurements(tmp_path: Path, text: str) -> None:
    path = tmp_path / "issue.md"
    path.write_text(f"# Multi GPU is slow\n\n{text}\n", encoding="utf-8")
    (found,) = read_published(path).tables
    values = {row.gpus: next(iter(row.numbers.values())).value for row in found.rows}
    assert sorted(values) == [1, 2]
    assert max(values[2] / values[1], values[1] / values[2]) == pytest.approx(40 / 21)


def test_a_paragraph_is_not_called_a_table(tmp_path: Path) -> None:
    path = tmp_path / "issue.md"
    path.write_text(
        "I have a cluster of nodes, but the training, which I started, is slow on it.\n", encoding="utf-8"
    )
    with pytest.raises(UserError, match="none was recognised"):
        read_published(path)
