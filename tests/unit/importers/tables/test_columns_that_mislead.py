"""Columns and rows that look like devices, speedups or measurements, but are something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import TIMES, audited, beside, speedups, table

ONCE = [(1, 1.0), (2, 1.9), (4, 3.5)]


def test_a_ratio_of_two_of_three_times_is_no_speedup_over_devices(tmp_path: Path) -> None:
    rows = ("245;198;312;4;0.79x", "3847;3203;1156;8;3.33x", "15234;12891;3247;12;4.69x")
    path = tmp_path / "table.md"
    path.write_text(table("BFS (us);DFS (us);Parallel (us);Threads;Speedup", *rows))
    file = read_published(path)
    assert not any(row.printed_speedup for one in file.tables for row in one.rows)


def test_a_serial_run_beside_a_parallel_run_on_one_core_is_the_baseline(tmp_path: Path) -> None:
    rows = (
        "Sequential (1 core);100;1.00x;100%",
        "Parallel (1 core);98;1.02x;102%",
        "Parallel (2 cores);52.6;1.90x;95%",
        "Parallel (4 cores);28.57;3.50x;87.5%",
    )
    (found,) = audited(tmp_path, table("Configuration;Time (ms);Speedup;Efficiency", *rows))
    assert [remark.kind for remark in found.remarks] == []
    assert found.checked.efficiencies == 3


def test_the_size_of_a_problem_below_scale_is_no_ratio(tmp_path: Path) -> None:
    rows = ("100K;1;800K jobs/day", "1M;10;8M jobs/day", "10M;50;40M jobs/day")
    (found,) = audited(tmp_path, table("Scale;Workers;Capacity", *rows))
    assert speedups(found) == [(1, 1.0), (10, 10.0), (50, 50.0)]
    assert found.checked.speedups == 0


def test_prefixes_that_differ_are_not_left_out(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Nodes;Throughput", "1;850 Mbps", "2;1.7 Gbps"))
    assert speedups(found) == [(1, 1.0), (2, 2.0)]


def test_formulas_in_headers(tmp_path: Path) -> None:
    rows = [
        f"{n};{t};{s};{e}"
        for n, t, s, e in zip("124", TIMES, ("1.0", "1.9", "3.5"), ("1", "0.95", "0.875"), strict=True)
    ]
    (found,) = audited(tmp_path, table("p;Tp (s);Sp = T1/Tp;Ep = Sp/p", *rows))
    assert (found.checked.speedups, found.checked.efficiencies) == (3, 3)
    assert not found.remarks


def test_times_of_the_processor_and_of_the_gpu_are_two_series(tmp_path: Path) -> None:
    first, second = audited(tmp_path, table("GPUs;CPU time (s);CUDA time (s)", "1;24;0.9", "4;6;0.3"))
    assert speedups(first) == [(1, 1.0), (4, 4.0)]
    assert speedups(second) == [(1, 1.0), (4, 3.0)]


def test_a_line_of_headers_above_equal_headers(tmp_path: Path) -> None:
    text = (
        "                Init    Train   Speedup\n"
        "        GPUs    time(s) time(s) (train)\n\n"
        "        1       68      100     1.00\n"
        "        2       142     52.6    1.90\n"
        "        4       75      28.57   3.50\n"
    )
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert found.checked.speedups == 3


def test_commands_with_their_devices_above_a_rate(tmp_path: Path) -> None:
    text = "".join(
        f"```\npython generate.py --model /m --devices {n} --strategy x\n```\n"
        f"-> Token generation rate: **{r} tokens/sec**\n\n"
        for n, r in (("1", "41.0"), ("2", "77.9"), ("4", "143.5"))
    )
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


def test_a_wide_range_has_a_speedup(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Workers;Time", "2;1-2 min", "4;35-45 s"))
    assert speedups(found) == [(2, 1.0), (4, 2.25)]


def test_how_a_batch_is_split_is_not_asked_about(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Batch split;img/s", "1;N/A;410", "2;16+16;779", "4;8+8+8+8;1435"))
    assert speedups(found) == ONCE


def test_expected_speedups_are_refused_with_the_option_that_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPUs;Expected Speedup", *beside("1;2;4", ("1x", "1.9x", "3.5x"))))
    with pytest.raises(UserError, match="--column 'Expected Speedup=printed_speedup'"):
        read_published(path)


@pytest.mark.parametrize(
    ("cells", "devices"),
    [
        ("1 node, 8 GPUs;2 nodes, 16 GPUs;4 nodes, 32 GPUs", [8, 16, 32]),
        ("1 node, 8 GPUs;2 nodes, 8 GPUs;4 nodes, 8 GPUs", [8, 16, 32]),
        ("1 node with 8 GPUs;2 nodes of 8 GPUs each;4 nodes of 8 GPUs each", [8, 16, 32]),
    ],
    ids=["of-all", "of-each", "each"],
)
def test_nodes_and_devices_in_labels(tmp_path: Path, cells: str, devices: list[int]) -> None:
    (found,) = audited(tmp_path, table("Setup;Time (s)", *beside(cells, TIMES)))
    assert [gpus for gpus, _ in speedups(found)] == devices


def test_a_multiple_of_real_time_is_no_speedup(tmp_path: Path) -> None:
    rows = ("1;0.41x;41.0", "2;0.779x;77.9", "4;1.435x;143.5")
    (found,) = audited(tmp_path, table("Threads;Speed;FPS", *rows))
    assert speedups(found) == ONCE
    assert not found.remarks


def test_degrees_behind_hardware_are_no_other_hardware(tmp_path: Path) -> None:
    cells = "1xH100 TP1;2xH100 TP2;4xH100 TP4"
    (found,) = audited(
        tmp_path,
        table("Config;Time", *beside(cells, ("1h 40m per epoch", "52m 36s per epoch", "28m 34s per epoch"))),
    )
    assert speedups(found) == ONCE
    assert not found.remarks


def test_processes_with_threads_of_short_names(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("MPI;OMP;t / s", "1;1;100", "1;2;52.6", "2;2;28.57"))
    assert speedups(found) == ONCE


def test_ids_with_a_dash_are_ids_beside_lists(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;tok/s", "4;410", "4,5;779", "4\u20137;1435"))
    assert speedups(found) == ONCE


def test_programs_that_differ_are_no_series(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("code;fit [s];threads", "alpha;118.4;1", "beta;58.1;16", "gamma;1.7;24"))
    assert [remark.kind for remark in found.remarks] == ["confounded"]


def test_variants_in_front_of_the_number_of_devices_are_series(tmp_path: Path) -> None:
    rows = (
        "1 GPU;100 s;1.00x",
        "DDP (2 GPUs);52.6 s;1.90x",
        "FSDP (2 GPUs);62.5 s;1.60x",
        "DDP (4 GPUs);28.57 s;3.50x",
        "FSDP (4 GPUs);40 s;2.50x",
    )
    found = audited(tmp_path, table("Setup;Time;Speedup", *rows))
    assert [speedups(one) for one in found] == [ONCE, [(1, 1.0), (2, 1.6), (4, 2.5)]]
    assert not any(one.remarks for one in found)


@pytest.mark.parametrize("first", [0, 1])
def test_columns_that_may_be_single_devices_are_asked_about(tmp_path: Path, first: int) -> None:
    path = tmp_path / "table.md"
    names = [f"GPU{first}", f"GPU{first + 1}"]
    path.write_text(table("Bench;Metric;" + ";".join(names), "A;img/s;10;19", "B;img/s;20;39"))
    with pytest.raises(UserError, match=rf"if {', '.join(names)} are numbers of devices, not names of single"):
        read_published(path)
    path.write_text(table("Bench;Metric;1 GPU;2 GPU", "A;img/s;10;19", "B;img/s;20;39"))
    (read,) = read_published(path, Corrections({"value": "throughput"})).tables
    found = [(row.gpus, row.numbers["throughput"].value) for row in read.rows]
    assert found == [(1, 10), (2, 19), (1, 20), (2, 39)]


def test_a_label_tells_rows_apart_whose_devices_are_in_words(tmp_path: Path) -> None:
    """The rows of two GPUs were called the same configuration, and their mean was used."""
    rows = ["plain;1 GPU (base);100", "by layer;2 GPUs;190", "by batch;2 GPUs;160", "by head;2 GPUs;110"]
    found = audited(tmp_path, table("Split;Setup;img/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)], [(1, 1.0), (2, 1.6)], [(1, 1.0), (2, 1.1)]]


def test_a_column_of_numbers_does_not_tell_rows_apart_whose_devices_are_in_words(tmp_path: Path) -> None:
    rows = ["1;1 GPU;100", "2;2 GPUs;190", "3;2 GPUs;188"]
    found = audited(tmp_path, table("test;Setup;img/s", *rows))
    assert not any("test" in row.labels for one in found for row in one.source.rows)


def test_a_column_that_counts_the_rows_is_no_series(tmp_path: Path) -> None:
    rows = [f"{at};{row}" for at, row in enumerate(("7B;4;1435", "7B;2;779", "7B;1;410", "13B;4;700"))]
    (found,) = audited(tmp_path, table("Exp;Model;GPUs;img/s", *rows))
    assert speedups(found) == ONCE


@pytest.mark.parametrize("one", ["Baseline (1 GPU)", "DDP (1 GPU)"])
def test_one_device_in_brackets_is_a_row_like_the_others(tmp_path: Path, one: str) -> None:
    """The row was left out without a word, so that the speedups were relative to two devices."""
    rows = [f"{one};410;1x", "2 GPUs;779;1.9x", "4 GPUs;1435;3.5x", "8 GPUs;2460;6x"]
    (found,) = audited(tmp_path, table("Mode;img/s;Speedup", *rows))
    assert speedups(found) == [*ONCE, (8, 6.0)]


def test_hardware_with_its_number_is_read_before_a_degree_of_parallelism(tmp_path: Path) -> None:
    rows = ["16;1536xA100;410", "32;3072xA100;779"]
    (found,) = audited(tmp_path, table("DP size;Config;img/s", *rows))
    assert speedups(found) == [(1536, 1.0), (3072, 1.9)]


def test_two_strategies_across_on_as_many_devices_are_not_mixed(tmp_path: Path) -> None:
    text = table(
        "Measure;single GPU;DP (2 GPU);DDP (2 GPU)", "Throughput (img/s);410;656;779", "Memory (GB);9;9;9"
    )
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.6)], [(1, 1.0), (2, 1.9)]]


@pytest.mark.parametrize("header", ["S", "E"])
def test_a_column_named_by_one_capital_letter_is_a_ratio_if_it_begins_with_one(
    tmp_path: Path, header: str
) -> None:
    ratios = ("1.0", "1.9", "3.5") if header == "S" else ("1.00", "0.95", "0.875")
    rows = [
        f"{one};{rate};{ratio}" for one, rate, ratio in zip("124", ("410", "779", "1435"), ratios, strict=True)
    ]
    (found,) = audited(tmp_path, table(f"GPUs;img/s;{header}", *rows))
    assert found.checked.speedups + found.checked.efficiencies == 3
    (found,) = audited(
        tmp_path, table(f"GPUs;img/s;{header}", *[row.replace(ratios[0], "64") for row in rows[:1]], *rows[1:])
    )
    assert found.checked.speedups + found.checked.efficiencies == 0


def test_a_single_process_without_ddp_is_the_baseline(tmp_path: Path) -> None:
    rows = ["1 GPU (no DDP);410", "2 GPUs (DDP);779", "4 GPUs (DDP);1435"]
    (found,) = audited(tmp_path, table("Config;img/s", *rows))
    assert speedups(found) == ONCE
    assert not found.remarks


def test_a_utilization_is_not_read_beside_a_time_that_its_unit_names(tmp_path: Path) -> None:
    """MFU was read as the throughput, since no header but `[s]` named the time."""
    rows = [f"{size};{time_s};{used}" for size, time_s, used in (("1", "100", "40%"), ("2", "52.6", "55%"))]
    (found,) = audited(tmp_path, table("Ranks;Solve [s];MFU", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.9)]


def test_an_empty_cell_below_a_strategy_is_of_the_same_strategy(tmp_path: Path) -> None:
    rows = ["DDP;1;410", ";2;779", ";4;1435", "FSDP;1;400", ";2;640", ";4;1000"]
    found = audited(tmp_path, table("Strategy;GPUs;img/s", *rows))
    assert [speedups(one) for one in found] == [ONCE, [(1, 1.0), (2, 1.6), (4, 2.5)]]


def test_a_ratio_is_not_of_a_time_whose_unit_is_in_its_cells(tmp_path: Path) -> None:
    """The speedup of the training was held against the total time, which contradicted it."""
    rows = ["1;163;231 s;1.00", "2;93;235 s;1.75", "4;47;122 s;3.47"]
    found = audited(tmp_path, table("GPUs;Train time (s);Total time;Speedup (train)", *rows))
    assert "speedup" not in [remark.kind for one in found for remark in one.remarks]


def test_a_change_is_read_beside_devices_in_words_and_a_row_of_means(tmp_path: Path) -> None:
    rows = ["DDP: 1 GPU;410;1.0x", "DDP: 2 GPUs;779;1.9x", "DDP: 4 GPUs;1435;3.5x"]
    (found,) = audited(tmp_path, table("Method;img/s;Change", *rows))
    assert found.checked.speedups == 3
    rows = ["A;1;410;1.0x", "A;2;779;1.9x", "A;4;1435;3.5x", "Mean;;875;"]
    (found,) = audited(tmp_path, table("Model;GPUs;img/s;Change", *rows))
    assert found.checked.speedups == 3


def test_a_strategy_with_its_devices_may_be_in_any_column(tmp_path: Path) -> None:
    rows = ["a;x;y;DDP (1 GPU);410", "a;x;y;DDP (2 GPUs);779", "a;x;y;DDP (4 GPUs);1435"]
    (found,) = audited(tmp_path, table("Data;Version;Site;Strategy;img/s", *rows))
    assert speedups(found) == ONCE


@pytest.mark.parametrize("header", ["Linear speedup", "Perfect scaling", "Linear scaling"])
def test_an_ideal_speedup_is_not_held_against_the_measured_one(tmp_path: Path, header: str) -> None:
    text = table(f"GPUs;img/s;{header}", "1;410;1.0x", "2;779;2.0x", "4;1435;4.0x")
    (found,) = audited(tmp_path, text)
    assert not found.remarks
    text = table(f"GPUs;img/s;{header}", "1;410;1x", "2;779;1.9x", "4;1435;3.5x")
    (found,) = audited(tmp_path, text)
    assert found.checked.speedups == 3, "a measured one"


@pytest.mark.parametrize("header", ["Change", "Improvement", "vs baseline"])
def test_a_change_of_a_time_is_no_speedup(tmp_path: Path, header: str) -> None:
    rows = ["1;100;\u2014", "2;52.6;-47%", "4;28.57;-71%"]
    (found,) = audited(tmp_path, table(f"GPUs;Epoch time (s);{header}", *rows))
    assert speedups(found) == ONCE
    assert not found.remarks


@pytest.mark.parametrize("nothing", ["\u2014", "N/A", "-"])
def test_one_device_with_a_dash_as_strategy_is_the_baseline(tmp_path: Path, nothing: str) -> None:
    rows = [f"1;{nothing};410", "2;DDP;779", "4;DDP;1435"]
    (found,) = audited(tmp_path, table("GPUs;Mode;img/s", *rows))
    assert speedups(found) == ONCE
    assert not found.remarks


def test_the_gpus_of_a_node_beside_the_nodes(tmp_path: Path) -> None:
    rows = ("1;1;100", "1;2;190", "2;1;190", "2;2;350")
    found = audited(tmp_path, table("node;gpu;img/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)], ONCE]


def test_several_gpus_with_their_number_in_brackets_beside_a_single_gpu(tmp_path: Path) -> None:
    rows = ("Latency;100 ms;52.6 ms;1.90x faster", "Throughput;10.0 img/s;19.0 img/s;1.90x higher")
    (found,) = audited(tmp_path, table("Metric;Single GPU;Multi-GPU (2);Improvement", *rows))
    assert speedups(found) == ONCE[:2]


@pytest.mark.parametrize("cells", ["1n (4);2n (8);4n (16)", "1 (4 GPUs);2 (8 GPUs);4 (16 GPUs)"])
def test_nodes_with_their_devices_in_brackets(tmp_path: Path, cells: str) -> None:
    (found,) = audited(tmp_path, table("Nodes (GPUs);Time (s)", *beside(cells, TIMES)))
    assert speedups(found) == [(4, 1.0), (8, 1.9), (16, 3.5)]


def test_a_time_of_steps_without_a_unit(tmp_path: Path) -> None:
    rows = ("1;100.0;98.0;2.0%", "2;52.6;48.6;7.6%", "4;28.57;22.0;23%")
    (found,) = audited(tmp_path, table("devices;step;local;share", *rows))
    assert speedups(found) == ONCE


def test_steps_without_a_fraction_are_their_number(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("devices;steps;share", "1;1000;2%", "2;500;3%"))
    with pytest.raises(UserError, match="no column of a throughput") as raised:
        read_published(path)
    assert "share" not in str(raised.value).split("add")[-1]


def test_times_with_a_remark_and_as_ranges(tmp_path: Path) -> None:
    rows = ("A;1;~100 h (of which 60 h in stage 1)", "A;2;50-54 h (25-27 h in stage 1)", "A;4;28 h avg (14 h)")
    (found,) = audited(tmp_path, table("method;GPUs used;per-iter", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.92), (4, 3.57)]


def test_several_numbers_that_differ_are_asked_for_one(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPUs;s/it", "4;109.9, 27.3, 25.4", "8;83.0, 15.7, 14.7"))
    with pytest.raises(
        UserError, match=r"has several numbers that differ \(write one of them, such as the median\)"
    ):
        read_published(path)


def test_a_row_of_devices_is_the_header_of_columns_named_otherwise(tmp_path: Path) -> None:
    rows = ("GPUs;1;2", "Batch global;128;128", "Tiempo total;100.0 s;52.6 s", "Test accuracy;90 %;91 %")
    (found,) = audited(tmp_path, table("Métrica;Secuencial;DDP 2 GPUs", *rows))
    assert speedups(found) == ONCE[:2]
    rows = ("Wall time;100.0 s;52.6 s;28.57 s", "Number of GPUs;1;2;4")
    (found,) = audited(tmp_path, table("Metric;Baseline;Ours;Ours large", *rows))
    assert speedups(found) == ONCE


def test_a_row_of_devices_of_another_hardware_is_confounded(tmp_path: Path) -> None:
    rows = ("GPUs;1;2", "Total time;100.0 s;52.6 s")
    found = audited(tmp_path, table("Metric;V100 run;A100 run", *rows))
    assert kinds(found) == ["confounded"]


def test_a_row_of_gpu_times_beside_one_of_cpu_times_is_no_number_of_devices(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Run;small;large", "CPUs;120;240", "GPUs;12;24"), encoding="utf-8")
    with pytest.raises(UserError):
        read_published(path)


def test_a_speedup_belongs_to_the_times_that_it_follows_from(tmp_path: Path) -> None:
    rows = ("1 GPU;274.4828;1.0000x;1019.3152", "2 GPU DDP;176.4142;1.5559x;658.1723")
    found = audited(tmp_path, table("Setup;Epoch Time Sec;Speedup;Total Train Time Sec", *rows))
    assert kinds(found) == []
    assert [one.checked.speedups for one in found] == [2, 0]


def test_ids_of_devices_across_are_no_numbers_of_devices(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPU;0;1;2;3", "ms/step;419.54;419.48;419.56;421.50"), encoding="utf-8")
    with pytest.raises(UserError):
        read_published(path)


def test_a_speedup_that_names_a_time_is_checked_with_it(tmp_path: Path) -> None:
    rows = ("single;1;1292;1.00x;1985;1.00x", "hybrid;4;746;0.58x;3378;0.59x")
    found = audited(tmp_path, table("Strategy;GPUs;ex/s;Speedup;Wall (s);Wall speedup", *rows))
    assert set(kinds(found)) == {"negative scaling"}
    assert [one.checked.speedups for one in found] == [2, 2]


def test_the_work_of_a_model_beside_a_rate_is_no_throughput(tmp_path: Path) -> None:
    rows = ("small;3.6;1;510", "small;3.6;8;3900", "large;9.1;1;205", "large;9.1;8;1600")
    found = audited(tmp_path, table("Model;FLOPs (G);GPUs;img/s", *rows))
    assert kinds(found) == [] and len(found) == 2
    alone = ("1;3.6;510", "2;3.6;1000", "4;3.6;1950")
    assert len(audited(tmp_path, table("GPUs;GFLOPs;img/s", *alone))) == 1


def test_a_rate_in_flops_that_grows_is_a_throughput(tmp_path: Path) -> None:
    rows = ("1;150;9000", "2;296;17800", "4;580;35000")
    found = audited(tmp_path, table("GPUs;TFLOPs;tokens/s", *rows))
    assert len(found) == 2 and [len(one.table.scales) for one in found] == [3, 3]


@pytest.mark.parametrize(
    "header",
    [
        "data_time_ms",
        "optimizer time (ms)",
        "h2d_time_s",
        "all_reduce_latency_ms",
        "logging time (s)",
        "flops_per_token",
    ],
)
def test_a_part_of_a_step_and_the_work_of_a_token_are_no_measurements_of_scaling(
    tmp_path: Path, header: str
) -> None:
    found = audited(tmp_path, table(f"gpus;epoch time (s);{header}", "1;400;5", "2;210;5", "4;109;6"))
    assert kinds(found) == [] and len(found) == 1
