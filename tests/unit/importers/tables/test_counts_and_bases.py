"""Columns that count devices twice, and ratios and labels that change what a row is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.headers.meaning import meaning_of
from test_plain_tables import read, series


def kinds(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    """Return the remarks of all cases of a text: (kind, sentence)."""
    return [(remark.kind, remark.sentence) for audit in read(tmp_path, text)[0] for remark in audit.remarks]


def test_ranks_beyond_the_gpus_of_a_node_are_the_devices(tmp_path: Path) -> None:
    text = """
| num_gpus | num_ranks | total_time (s) |
|---|---|---|
| 1 | 1 | 800 |
| 2 | 2 | 410 |
| 4 | 4 | 210 |
| 4 | 8 | 109 |
| 4 | 16 | 58 |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"table": [(1, 1.0), (2, 1.95), (4, 3.81), (8, 7.34), (16, 13.79)]}


def test_ranks_that_share_gpus_are_not(tmp_path: Path) -> None:
    text = """
| GPUs | ranks | time (s) |
|---|---|---|
| 1 | 1 | 800 |
| 1 | 2 | 790 |
| 2 | 2 | 410 |
| 2 | 4 | 405 |
"""
    audits, _, _ = read(tmp_path, text)
    assert {scale.row.gpus for audit in audits for scale in audit.table.scales} == {1, 2}


def test_ratios_of_durations_on_the_same_devices_are_no_scaling(tmp_path: Path) -> None:
    text = """
| #GPU | Loader | AMP | Training Time | img/s | Speed Up |
|---|---|---|---|---|---|
| 1 | A | no | 40:00:00 | 30 | --- |
| 8 | A | no | 11:30:00 | 131 | 1x (base) |
| 8 | B | no | 6:24:00 | 210 | 1.8x |
| 8 | B | yes | 3:50:00 | 360 | 3x |
| 8 | C | yes | 3:17:00 | 425 | 3.5x |
"""
    audits, _, notes = read(tmp_path, text)
    assert not [remark for audit in audits for remark in audit.remarks if remark.kind == "speedup"]
    assert "Speed Up compares rows on the same number of devices" in notes


def test_the_time_and_the_throughput_of_strong_scaling_are_of_the_same_work(tmp_path: Path) -> None:
    text = """
Strong scaling

| GPUs | Epoch time (s) | Samples/s |
|---|---|---|
| 1 | 0.77 | 31.3 |
| 2 | 0.78 | 61.4 |
| 4 | 0.82 | 117.2 |
"""
    ((kind, sentence),) = kinds(tmp_path, text)
    assert kind == "label"
    assert "throughput times time, the work of a run, grows with the devices" in sentence
    assert not kinds(tmp_path, text.replace("0.78", "0.39").replace("0.82", "0.206"))
    assert not kinds(tmp_path, text.replace("Strong", "Weak"))


def test_a_sequence_length_that_changes_with_the_devices_is_another_work(tmp_path: Path) -> None:
    text = """
| SeqLen (K) | GPUs | TFLOPS / GPU |
|---|---|---|
| 8 | 2 | 671 |
| 16 | 4 | 667 |
| 32 | 8 | 660 |
"""
    ((kind, sentence),) = kinds(tmp_path, text)
    assert (kind, "the sequence length changes between rows (8 on 2, 16 on 4, 32 on 8)" in sentence) == (
        "confounded",
        True,
    )


def test_a_batch_that_does_not_say_whose_is_not_called_per_device(tmp_path: Path) -> None:
    text = "| GPUs | Batch size | img/s |\n|---|---|---|\n| 1 | 64 | 400 |\n| 2 | 96 | 780 |\n| 4 | 256 | 1500 |\n"
    ((kind, sentence),) = kinds(tmp_path, text)
    assert (kind, sentence.startswith("the batch changes between rows (64 on 1, 96 on 2")) == ("confounded", True)


def test_units_below_a_batch_are_what_a_column_measures(tmp_path: Path) -> None:
    text = """
| | Batch size = 16 |
|---|---|
| 1 node | 1.05 it/s |
| 2 nodes | 1.98 it/s |
| 4 nodes | 3.60 it/s |
"""
    (audit,), _, _ = read(tmp_path, text, **{"Batch size = 16": "steps_per_s"})
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.89), (4, 3.43)]}
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.89), (4, 3.43)]}


def test_the_parts_of_a_time_are_left_out_beside_their_total(tmp_path: Path) -> None:
    text = """
| procs | T_comp (s) | T_comm (s) | T_total (s) | S | E |
|---|---|---|---|---|---|
| 1 | 58.1 | 0 | 58.1 | 1.00 | 1.00 |
| 4 | 14.7 | 1.2 | 15.9 | 3.65 | 0.91 |
| 16 | 3.8 | 1.9 | 5.7 | 10.2 | 0.64 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (4, 3.65), (16, 10.19)]}
    assert (audit.checked.speedups, audit.checked.efficiencies, audit.remarks) == (3, 3, ())


def test_tasks_beside_nodes_are_the_devices(tmp_path: Path) -> None:
    text = """
| Nodes | Tasks | Elapsed (s) |
|---|---|---|
| 1 | 1 | 120 |
| 1 | 24 | 10 |
| 2 | 48 | 6 |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"table": [(1, 1.0), (24, 12.0), (48, 20.0)]}


def test_ranks_times_threads_in_russian(tmp_path: Path) -> None:
    text = """
| # | Рангов | Потоков | Время (с) |
|---|---|---|---|
| 1 | 1 | 1 | 44.0 |
| 2 | 1 | 12 | 8.0 |
| 4 | 2 | 12 | 4.4 |
"""
    audits, _, _ = read(tmp_path, text)
    assert {pair for pairs in series(audits).values() for pair in pairs} >= {(1, 1.0), (12, 5.5), (24, 10.0)}


def test_the_number_of_a_row_is_not_suggested_as_devices(tmp_path: Path) -> None:
    text = "| # | Kind | Time (s) |\n|---|---|---|\n| 1 | a | 40 |\n| 2 | b | 21 |\n| 4 | c | 11 |\n"
    with pytest.raises(UserError, match="add a column with the number of devices of each row"):
        read(tmp_path, text)


def test_a_speedup_that_is_printed_for_one_device_only_compares_nothing(tmp_path: Path) -> None:
    rows = "".join(
        f"| {size} | 1 | {time} | 1 |\n| {size} | 2 | {time / 2 + 0.1:.2f} | N/A |\n"
        for size, time in (("a", 4.0), ("b", 8.0), ("c", 16.0), ("d", 32.0))
    )
    audits, _, notes = read(tmp_path, f"| input | Threads | Time (s) | Speedup |\n|---|---|---|---|\n{rows}")
    assert len(audits) == 4
    assert not notes


def test_a_time_that_grows_is_said_as_a_time(tmp_path: Path) -> None:
    text = "| Threads | Time (s) |\n|---|---|\n| 1 | 40 |\n| 2 | 21 |\n| 4 | 12 |\n| 8 | 13.5 |\n"
    ((kind, sentence),) = kinds(tmp_path, text)
    assert kind == "turns back"
    assert sentence.startswith("the time grows from 4 to 8 devices (12 to 13.5)")


def test_n_is_the_devices_if_a_header_is_their_speedup(tmp_path: Path) -> None:
    text = (
        "| n | T(n) | T(1)/T(n) |\n|---|---|---|\n| 1 | 100.2 | 1.00 |\n| 2 | 52.0 | 1.93 |\n| 4 | 27.9 | 3.59 |\n"
    )
    (audit,), _, _ = read(tmp_path, text)
    assert (series([audit]), audit.remarks) == ({"table": [(1, 1.0), (2, 1.93), (4, 3.59)]}, ())


def test_a_clock_of_three_parts_has_its_unit(tmp_path: Path) -> None:
    text = "| Processes | Elapsed |\n|---|---|\n| 1 | 00:14:20 |\n| 2 | 00:07:31 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert not audit.source.unknown_units


def test_floating_point_operations_per_device_are_not_held_against_tokens_of_all(tmp_path: Path) -> None:
    text = """
| GPUs | Accum | TFLOPs/GPU | tokens/s job |
|---|---|---|---|
| 4 | 1 | 478.6 | 668,120 |
| 8 | 1 | 342.5 | 951,024 |
| 16 | 1 | 415.5 | 1,911,440 |
"""
    assert not [kind for kind, _ in kinds(tmp_path, text) if kind == "throughput per device"]
    of_one_unit = text.replace("TFLOPs/GPU", "tokens/s/GPU")
    assert [kind for kind, _ in kinds(tmp_path, of_one_unit)].count("throughput per device") == 3


def test_times_of_set_numbers_of_iterations_are_divided_by_them(tmp_path: Path) -> None:
    text = """
| GPUs | Iterations | Total Time (s) |
|---|---|---|
| 8 | 200 | 4000 |
| 16 | 500 | 5200 |
| 32 | 5,000 | 26500 |
"""
    (audit,), _, notes = read(tmp_path, text)
    assert series([audit]) == {"table": [(8, 1.0), (16, 1.92), (32, 3.77)]}
    assert "the times are of different numbers of Iterations and are divided by them" in notes


def test_fewer_steps_of_larger_batches_and_those_of_a_solver_are_not_set(tmp_path: Path) -> None:
    for steps in (("1000", "500", "250"), ("427", "428", "431")):
        rows = "".join(f"| {2**at} | {count} | {800 / 2**at} |\n" for at, count in enumerate(steps))
        audits, _, notes = read(tmp_path, f"| GPUs | Iterations | Total time (s) |\n|---|---|---|\n{rows}")
        assert series(audits) == {"table": [(1, 1.0), (2, 2.0), (4, 4.0)]}
        assert not notes


def test_names_of_hosts_are_no_hardware(tmp_path: Path) -> None:
    text = """
| N | nodes | samples/s | speedup |
|---|---|---|---|
| 1 | host-2-20 | 63.6 | 1.00x |
| 2 | host-2-[20,25] | 121.5 | 1.91x |
| 3 | host-2-[10,20,25] | 166.6 | 2.62x |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert (audit.checked.speedups, audit.remarks) == (3, ())


def test_a_baseline_that_was_scaled_itself_is_a_series(tmp_path: Path) -> None:
    text = """
Throughput (examples/s)

| method | 1 GPU | 8 GPU | speed up |
|---|---|---|---|
| base | 118.5 | 865.6 | 7.3 |
| amp+xla | 400 | 2720.8 | 6.8 |
| speed up | 3.37 | 3.14 | |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"base": [(1, 1.0), (8, 7.3)], "amp+xla": [(1, 1.0), (8, 6.8)]}
    assert [(audit.checked.speedups, audit.remarks) for audit in audits] == [(1, ()), (1, ())]


def test_scaling_above_numbers_that_no_speedup_reaches_is_of_measurements(tmp_path: Path) -> None:
    text = """
Performance (tokens/second)

| Size | 1 GPU | 8 GPU Strong Scaling | 8 GPU Efficiency |
|---|---|---|---|
| 125M | 50K | 320K | 80% |
| 350M | 30K | 210K | 88% |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"125M": [(1, 1.0), (8, 6.4)], "350M": [(1, 1.0), (8, 7.0)]}
    assert [(audit.checked.efficiencies, audit.remarks) for audit in audits] == [(1, ()), (1, ())]


def test_a_share_of_parameters_is_no_efficiency(tmp_path: Path) -> None:
    text = """
| GPUs | Trainable | samples/s |
|---|---|---|
| 1 | 240.6 M (99.5%) | 8.9 |
| 2 | 2.4 M (0.3%) | 17.1 |
| 4 | 240.6 M (99.5%) | 33.5 |
"""
    audits, _, _ = read(tmp_path, text)
    assert all(audit.checked.efficiencies == 0 for audit in audits)


def test_devices_of_a_base_that_is_not_measured_are_one(tmp_path: Path) -> None:
    text = """
| Configuration | Training speed |
|---|---|
| Single GPU | 1x |
| 2 GPUs | 1.8x |
| 4 GPUs | 6.5x |
"""
    sentences = [sentence for kind, sentence in kinds(tmp_path, text) if kind == "faster than its devices"]
    assert len(sentences) == 1
    assert sentences[0].startswith("6.5 times the baseline on 4 times its devices")


def test_a_column_that_does_not_exist_is_answered_with_those_that_do(tmp_path: Path) -> None:
    text = "| Size | 1 GPU | 8 GPU |\n|---|---|---|\n| 125M | 50 img/s | 320 img/s |\n"
    with pytest.raises(UserError, match="has no such column; as they are read, its columns are Size, gpus, img/s"):
        read(tmp_path, text, **{"8 GPU": "throughput"})


def test_a_column_names_what_each_row_measures(tmp_path: Path) -> None:
    text = """
| precision | metric | 8 GPUs | 16 GPUs |
|---|---|---|---|
| full | images/sec | 338 | 671 |
| full | hours/epoch | 1.052 | 0.530 |
| half | images/sec | 563 | 1114 |
| half | hours/epoch | 0.631 | 0.319 |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"full": [(8, 1.0), (16, 1.99)], "half": [(8, 1.0), (16, 1.98)]}
    assert not [remark for audit in audits for remark in audit.remarks]


def test_a_header_of_two_lines_above_the_rule(tmp_path: Path) -> None:
    text = """
| Model | GPUs | Micro | TFlops | TFlops |
| size  |      |    BS |   /GPU |      % |
| ---:  | ---: |  ---: |  ----: |  ----: |
| 1.7B  |   32 |    16 |    137 |    44% |
| 1.7B  |   64 |    16 |    134 |    43% |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(32, 1.0), (64, 1.96)]}
    assert audit.source.unread == ("TFlops %",)


def test_a_strategy_behind_the_hardware_is_no_hardware(tmp_path: Path) -> None:
    text = """
| Configuration | Training time | Speedup |
|---|---|---|
| Baseline (1x T4) | ~2259 seconds | 1x |
| Optimized (4x T4s) | ~650 seconds | ~3.5x |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert (audit.checked.speedups, audit.remarks) == (2, ())
    text = "| Setup | img/s |\n|---|---|\n| 1x A100 | 45 |\n| 2x A100 DDP | 84 |\n| 4x A100 DDP | 160 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert {row.label("hardware") for row in audit.source.rows} == {"A100"}
    assert audit.remarks == ()


@pytest.mark.parametrize(
    ("total", "ratio", "values"),
    [
        ("total", "speed-up", ("1.0", "3.56", "9.30")),
        ("total", "efficiency", ("100%", "89%", "58.1%")),
    ],
)
def test_a_column_that_explains_the_printed_ratios_is_the_measurement(
    tmp_path: Path, total: str, ratio: str, values: tuple[str, str, str]
) -> None:
    text = f"""
| procs | compute | comm | {total} | {ratio} |
|---|---|---|---|---|
| 1 | 120.0 | 0.0 | 120.0 | {values[0]} |
| 4 | 30.5 | 3.2 | 33.7 | {values[1]} |
| 16 | 7.9 | 5.0 | 12.9 | {values[2]} |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert (series([audit]), audit.remarks) == ({"table": [(1, 1.0), (4, 3.56), (16, 9.3)]}, ())


def test_a_column_that_explains_them_by_chance_is_not(tmp_path: Path) -> None:
    text = (
        "| procs | a | speedup |\n|---|---|---|\n| 1 | 120.0 | 1.0 |\n| 4 | 90.0 | 3.56 |\n| 16 | 60.0 | 9.30 |\n"
    )
    (audit,), _, _ = read(tmp_path, text)
    assert [remark.kind for remark in audit.remarks] == ["no base case"]


def test_a_factor_in_front_of_the_work_is_its_factor() -> None:
    assert (meaning_of("M reads/h").unit, round(meaning_of("M reads/h").factor, 3)) == ("reads/s", 277.778)


def test_tokens_per_gpu_are_not_held_against_floating_point_operations(tmp_path: Path) -> None:
    rows = "| 8 | 3314 | 193 |\n| 16 | 3268 | 191 |\n| 1024 | 3163 | 184 |\n"
    text = f"| GPU Num | TGS | TFLOPS |\n|---|---|---|\n{rows}"
    audits, asked, _ = read(tmp_path, text)
    assert not asked
    assert not [remark for audit in audits for remark in audit.remarks]
    assert {pairs[-1] for pairs in series(audits).values()} == {(1024, 122.17)}


def test_a_column_of_words_is_no_time(tmp_path: Path) -> None:
    text = """
| Execution | GPUs | targets/sec | Speedup |
|---|---|---|---|
| 2B2 5M historical | 1 | 123.6 | 1.00 |
| 2B2A canonical | 4 | 468.7 | 3.79 |
"""
    (audit,), _, notes = read(tmp_path, text)
    assert (audit.checked.speedups, audit.remarks) == (2, ())
    assert not notes


def test_rows_that_end_before_the_devices_are_no_error(tmp_path: Path) -> None:
    text = (
        "| Iterations | Total time (s) | GPUs |\n|---|---|---|\n| 100 | 40 | 1 |\n| 200 | 41 |\n| 400 | 42 | 4 |\n"
    )
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"table": [(1, 1.0), (4, 3.81)]}


PARAMETERS = """
| machine | GPUs | PS | images/sec | speedup | efficiency |
|---|---|---|---|---|---|
| a | 1 | GPU | 41.69 | 1.00x | 100.00% |
| a | 2 | CPU | 71.72 | 1.72x | 86.02% |
| b | 1 | GPU | 54.52 | 1.00x | 100.00% |
| b | 2 | CPU | 55.09 | 1.01x | 50.52% |
| b | 4 | CPU | 66.55 | 1.22x | 30.52% |
| b | 2 | GPU | 67.34 | 1.24x | 61.76% |
| b | 4 | GPU | 61.40 | 1.13x | 28.15% |
"""


def test_a_row_with_another_label_is_the_baseline_of_the_ratios_that_follow_from_it(tmp_path: Path) -> None:
    audits, _, _ = read(
        tmp_path, PARAMETERS.replace("| a | 2 | CPU", "| a | 2 | GPU | 70.00 | 1.68x | |\n| a | 2 | CPU")
    )
    assert series(audits) == {
        "a GPU": [(1, 1.0), (2, 1.68)],
        "a CPU": [(1, 1.0), (2, 1.72)],
        "b GPU": [(1, 1.0), (2, 1.24), (4, 1.13)],
        "b CPU": [(1, 1.0), (2, 1.01), (4, 1.22)],
    }
    assert [audit.checked.speedups for audit in audits] == [2, 2, 3, 3]


def test_a_row_of_another_strategy_is_no_such_baseline(tmp_path: Path) -> None:
    text = PARAMETERS.replace("PS", "strategy").replace("CPU", "FSDP").replace("| GPU |", "| DDP |")
    audits, _, _ = read(tmp_path, text)
    assert series(audits)["b FSDP"] == [(2, 1.0), (4, 1.21)]
