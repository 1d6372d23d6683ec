"""Tables as programs, lab reports and consoles print them: groups, sizes above devices, parts of a node."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file, with_answer
from scalestudy.importers.reading import read_published
from test_printed_habits import speedups

STRONG_AND_WEAK = """| Nodes | Strong scaling time (s) | Weak scaling time (s) |
|---|---|---|
| 1 | 420.0 | 7.00 |
| 2 | 215.0 | 7.20 |
| 8 | 60.0 | 7.50 |
"""
GROUPS = """| | Fixed size | | Fixed size per core | |
|---|---|---|---|---|
| **Cores** | **Time (s)** | **Speedup** | **Time (s)** | **Eff. (%)** |
| 1 | 420.0 | 1.0 | 7.00 | 100 |
| 4 | 110.0 | 3.8 | 7.20 | 97 |
| 16 | 30.0 | 14.0 | 7.50 | 93 |
"""
BELOW_NAMES = """| | Castle | | | Forest | | |
|---|---|---|---|---|---|---|
| Threads | 1 | 2 | 8 | 1 | 2 | 8 |
| fps | 20.0 | 38.0 | 130.0 | 9.0 | 17.0 | 60.0 |
"""
MACHINES = """| | North-1 | North-2 | North-4 | South-1 | South-2 | South-4 |
|---|---|---|---|---|---|---|
| Run time (s) | 88.0 | 45.0 | 24.0 | 70.0 | 36.0 | 19.0 |
"""
NAMES = """name,devices,real_time,time_unit,items_per_second
fit/1,1,200.0,ms,320
fit/2,2,104.0,ms,615
predict/1,1,50.0,ms,1280
predict/2,2,27.0,ms,2370
"""
HOSTS = """| Hardware | Time (s) |
|---|---|
| 1 core | 900.0 |
| 16 cores | 70.0 |
| 1 GPU | 20.0 |
| 2 GPUs | 11.0 |
"""
INSTANCES = """| Workers | Time (s) |
|---|---|
| 1 (g4dn.xlarge) | 900 |
| 4 (g4dn.12xlarge) | 250 |
| 8 (2x g4dn.12xlarge) | 140 |
"""
PLACED = """| Cores | Wall time (s) |
|---|---|
| 1 | 9000 |
| 16 | 900 |
| 2x8 | 700 |
"""
TRANSPOSED = """### Strong scaling

| Vertices | 100 | 200 | 400 |
|---|---|---|---|
| Number of threads | 1 | 2 | 4 |
| Time (s) | 1.0 | 1.1 | 1.3 |
"""
CONSOLE = """x <- 3
# study cores time_seconds time_minutes
# 1  all     1       3000.0        50.00
# 2  all     2       1600.0        26.67
# 3  all     4        900.0        15.00 # the best
"""
TWO_LABELS = """| System size | # of models | GPUs | Performance (ns/day) |
|---|---|---|---|
| 10k | 1 | 1 | 5.0 |
| 10k | 1 | 2 | 8.0 |
| 10k | 4 | 1 | 2.0 |
| 10k | 4 | 2 | 3.5 |
| 90k | 1 | 1 | 1.0 |
| 90k | 1 | 2 | 1.9 |
| 90k | 4 | 1 | 0.4 |
| 90k | 4 | 2 | 0.7 |
"""
VARIANTS = """| kernel | VM, 1 thread | VM, 4 threads | JIT, 1 thread | JIT, 4 threads | C loop, 1 thread |
|---|---|---|---|---|---|
| blur | 80.0 ms | 21.0 ms | 20.0 ms | 6.0 ms | 12.0 ms |
"""
BESIDE_PICTURES = """Elapsed time with 2 threads: 1740 ms
Elapsed time with 4 threads: 900 ms
Elapsed time with 8 threads: 500 ms

| Before | After |
|---|---|
| ![](a.jpg) | ![](b.jpg) |
"""


def audits(tmp_path: Path, text: str, ending: str = "md") -> dict:
    path = tmp_path / f"table.{ending}"
    path.write_text(text, encoding="utf-8")
    found, asked = audit_file(read_published(path), "table")
    assert not asked
    return {one.case: one for one in found}


def scales(tmp_path: Path, text: str, ending: str = "md") -> list[list[int]]:
    return [[scale.row.gpus for scale in one.table.scales] for one in audits(tmp_path, text, ending).values()]


def test_times_whose_headers_name_the_kind_of_scaling(tmp_path: Path) -> None:
    strong, weak = audits(tmp_path, STRONG_AND_WEAK).values()
    assert (strong.scaling, weak.scaling) == ("strong", "weak")
    assert speedups(strong)[-1] == (8, pytest.approx(7.0))
    assert speedups(weak)[-1] == (8, pytest.approx(7.47, abs=0.01))
    ratio = STRONG_AND_WEAK.replace("time (s)", "factor")
    assert not any(
        "time_s" in scale.row.numbers for one in audits(tmp_path, ratio).values() for scale in one.table.scales
    )


def test_ratios_belong_to_the_group_above_them(tmp_path: Path) -> None:
    strong, weak = audits(tmp_path, GROUPS).values()
    assert not strong.remarks and not weak.remarks
    assert strong.table.scales[-1].row.printed_efficiency is None
    assert weak.scaling == "weak" and weak.checked.efficiencies == 3


def test_numbers_of_devices_below_each_of_several_names(tmp_path: Path) -> None:
    castle, forest = audits(tmp_path, BELOW_NAMES).values()
    assert speedups(castle) == [(1, 1.0), (2, pytest.approx(1.9)), (8, pytest.approx(6.5))]
    assert speedups(forest)[-1] == (8, pytest.approx(6.67, abs=0.01))


def test_two_machines_with_the_same_numbers_behind_their_names(tmp_path: Path) -> None:
    assert list(audits(tmp_path, MACHINES)) == ["north", "south"]
    other = MACHINES.replace("South-4 |", "South-8 |").replace("South-2", "South-3")
    assert list(audits(tmp_path, other)) == ["table"]  # the second is another kind of number


def test_the_number_of_devices_at_the_end_of_names(tmp_path: Path) -> None:
    assert list(audits(tmp_path, NAMES, "csv")) == ["fit", "predict"]


def test_cores_and_gpus_in_one_column_are_two_kinds_of_hardware(tmp_path: Path) -> None:
    assert scales(tmp_path, HOSTS) == [[1, 16], [1, 2]]


def test_instances_of_one_family_are_one_kind_of_hardware(tmp_path: Path) -> None:
    assert scales(tmp_path, INSTANCES) == [[1, 4, 8]]


def test_one_number_of_cores_on_one_node_and_on_two(tmp_path: Path) -> None:
    one, two = audits(tmp_path, PLACED).values()
    assert not one.remarks
    assert [speedups(each)[-1][1] for each in (one, two)] == [10.0, pytest.approx(12.86, abs=0.01)]


def test_a_line_of_sizes_above_the_devices(tmp_path: Path) -> None:
    (found,) = audits(tmp_path, TRANSPOSED).values()
    assert [scale.row.gpus for scale in found.table.scales] == [1, 2, 4]
    assert "Vertices grows as the devices do" in found.remarks[0].sentence
    (constant,) = audits(tmp_path, TRANSPOSED.replace("400 |", "600 |")).values()
    assert all(remark.kind != "label" for remark in constant.remarks)


def test_a_data_frame_of_r_in_comments_with_its_time_in_two_units(tmp_path: Path) -> None:
    (found,) = audits(tmp_path, CONSOLE, "txt").values()
    assert speedups(found) == [(1, 1.0), (2, 1.87), (4, pytest.approx(3.33, abs=0.01))]


def test_two_columns_that_only_together_tell_rows_apart(tmp_path: Path) -> None:
    assert scales(tmp_path, TWO_LABELS) == [[1, 2]] * 4


def test_a_variant_on_one_number_of_devices_is_named_and_not_shown(tmp_path: Path) -> None:
    found = audits(tmp_path, VARIANTS)
    assert scales(tmp_path, VARIANTS) == [[1, 4], [1, 4]]
    assert any(
        "'c loop' is on one number of devices only" in note for one in found.values() for note in one.source.notes
    )


def test_lines_of_devices_beside_a_table_of_something_else(tmp_path: Path) -> None:
    assert scales(tmp_path, BESIDE_PICTURES) == [[2, 4, 8]]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (
            "On 1 GPU an epoch takes 2 h 5 min. With 2 GPUs it drops to 65 min and with 4 GPUs to 34.5 min.",
            [7500, 3900, 2070],
        ),
        ("Training takes 8.0 h on one V100, 4.2 h on two and 2.3 h on four.", [28800, 15120, 8280]),
    ],
)
def test_sentences_with_hours_and_minutes_and_devices_named_once(text: str, seconds: list, tmp_path: Path) -> None:
    (found,) = audits(tmp_path, text).values()
    times = [scale.row.number("time_s") for scale in found.table.scales]
    assert times == pytest.approx(seconds)


def test_a_serial_row_is_not_averaged_with_that_of_one_thread(tmp_path: Path) -> None:
    text = "| Threads | Time (s) |\n|---|---|\n| Serial | 10.0 |\n| 1 | 12.0 |\n| 2 | 6.0 |\n"
    (found,) = audits(tmp_path, text).values()
    assert speedups(found) == [(1, 1.0), (2, 2.0)]


def test_the_rate_of_a_device_in_the_unit_of_the_total_is_checked(tmp_path: Path) -> None:
    header = "| GPUs | TFLOPS/GPU | samples/sec/GPU | total samples/sec |\n|---|---|---|---|\n"
    (found,) = audits(tmp_path, f"{header}| 4 | 39.0 | 4.10 | 16.40 |\n| 8 | 38.0 | 4.00 | 42.00 |\n").values()
    assert "throughput per device" in {remark.kind for remark in found.remarks}


def test_tensor_parallelism_within_nodes_does_not_divide_the_nodes(tmp_path: Path) -> None:
    header = "| Instances | TP | GBS | seq/s |\n|---|---|---|---|\n"
    (found,) = audits(tmp_path, f"{header}| 4 | 8 | 256 | 40.0 |\n| 8 | 8 | 512 | 79.0 |\n").values()
    assert not found.remarks


def test_batches_that_do_not_divide_by_the_devices_are_nearly_constant(tmp_path: Path) -> None:
    header = "| GPUs | batch / GPU | seq/s |\n|---|---|---|\n"
    (near,) = audits(tmp_path, f"{header}| 144 | 14 | 7200 |\n| 256 | 8 | 9700 |\n").values()
    (far,) = audits(tmp_path, f"{header}| 144 | 14 | 7200 |\n| 256 | 12 | 9700 |\n").values()
    assert [{remark.kind for remark in one.remarks} for one in (near, far)] == [set(), {"confounded"}]


def test_an_answer_is_for_the_table_that_asks(tmp_path: Path) -> None:
    header = "| GPUs | Time (s) |\n|---|---|\n"
    text = f"{header}| 1 | 40 |\n| 4 | 11 |\n\nGrown:\n\n{header}| 1 | 40 |\n| 4 | 43 |\n"
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    found, asked = audit_file(with_answer(read_published(path), "weak"), "table")
    assert not asked
    assert [one.scaling for one in found] == ["", "weak"]


@pytest.mark.parametrize(
    ("cells", "value"),
    [("9:25 (565)", 565.0), ("1:02:05 (3725 s)", 3725.0), ("約24.1s", 24.1), ("ca. 24.1 s", 24.1)],
)
def test_times_with_seconds_behind_them_and_words_for_about(cells: str, value: float, tmp_path: Path) -> None:
    text = f"| Threads | Time (s) |\n|---|---|\n| 1 | {cells} |\n| 2 | 14.0 |\n"
    (found,) = audits(tmp_path, text).values()
    assert found.table.scales[0].row.number("time_s") == pytest.approx(value)


@pytest.mark.parametrize("header", ["CPU/wall", "CPU / wall time", "CPU time / elapsed"])
def test_the_share_of_busy_processors_is_no_time(header: str, tmp_path: Path) -> None:
    text = f"| Threads | Wall time (s) | {header} |\n|---|---|---|\n| 1 | 40 | 0.9 |\n| 4 | 15 | 3.1 |\n"
    assert scales(tmp_path, text) == [[1, 4]]


def test_ratios_of_several_sizes_in_one_cell(tmp_path: Path) -> None:
    rows = "| A | 20.0 ms | 10.5 ms | 6.0 ms | 95% / 83% |\n| B | 80.0 ms | 41.0 ms | 22.0 ms | 98% / 81% |\n"
    text = f"| case | 1 GPU | 2 GPUs | 4 GPUs | efficiency 2 / 4 |\n|---|---|---|---|---|\n{rows}"
    first, second = audits(tmp_path, text).values()
    assert (first.checked.efficiencies, first.remarks) == (2, ())
    assert [(remark.kind, remark.gpus) for remark in second.remarks] == [("efficiency", 4)]


def test_times_below_batch_and_labels_that_begin_with_numbers(tmp_path: Path) -> None:
    text = "| Threads | layer batch | speedup |\n|---|---|---|\n| 1 | 1800 ms | 1.00 |\n| 4 | 560 ms | 3.21 |\n"
    (found,) = audits(tmp_path, text).values()
    assert found.table.scales[1].row.number("time_s") == pytest.approx(0.56)
    rows = "| 300 lines, cold | 74.0 s | 38.0 s |\n| 300 lines, warm | 7.0 s | 4.0 s |\n"
    labelled = f"| Input and run | Serial | 8-worker pool |\n|---|---|---|\n{rows}"
    assert scales(tmp_path, labelled) == [[1, 8], [1, 8]]
