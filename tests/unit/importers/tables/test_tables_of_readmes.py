"""Forms of tables that READMEs print: nodes with their devices, serial beside parallel times, units around."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table

RUNS = ("1;40", "2;21.05", "4;11.43")
OF_NODES = [(8, 1.0), (16, 1.9), (32, 3.5)]


@pytest.mark.parametrize(
    "header",
    [
        "1 node (8 GPUs);2 nodes;4 nodes",
        "1 node (8 V100);2 nodes;4 nodes",
        "1 node (8 GPUs);2 nodes (16 GPUs);4 nodes (32 GPUs)",
    ],
)
def test_one_header_says_how_many_devices_a_node_has(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"Framework;{header}", "Otter;40 min;21.05 min;11.43 min"))
    assert (speedups(found), kinds([found])) == (OF_NODES, [])
    assert found.source.column("nodes") is None


def test_machines_of_several_threads_each(tmp_path: Path) -> None:
    rows = ("1 x 16 threads;40 s;1", "2 x 16 threads;21.05 s;1.9", "4 x 16 threads;11.43 s;3.5")
    (found,) = audited(tmp_path, table("Machines;Time;Speed-up", *rows))
    assert (speedups(found), kinds([found])) == ([(16, 1.0), (32, 1.9), (64, 3.5)], [])


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (
            "Cluster;Workers;Runtime",
            ("1 g5.12xlarge;4;40 s", "2 g5.12xlarge;8;21.05 s", "4 g5.12xlarge;16;11.43 s"),
        ),
        (
            "Config;Time (s)",
            ("4× RTX 4090;40", "8× RTX 4090 (PCIe 4.0 x8);21.05", "16× RTX 4090 (PCIe 4.0 x8);11.43"),
        ),
        (
            "Setup;Wall time",
            ("4 x V100;40 h", "8 x V100 (DDP, 2 nodes);21.05 h", "16 x V100 (DDP, 2 nodes);11.43 h"),
        ),
    ],
)
def test_number_and_link_of_devices_are_no_other_hardware(header: str, rows: tuple[str], tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(header, *rows))
    assert (speedups(found), kinds([found])) == ([(4, 1.0), (8, 1.9), (16, 3.5)], [])


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (
            table("Step;Sequential (ms);Parallel (ms);Threads;Speedup", "a;40;11.43;4;3.5x", "b;20;10;4;2x"),
            "Threads",
        ),
        (
            "On 4 threads:\n\n" + table("Step;Serial (s);OpenMP (s);Speedup", "a;40;11.43;3.5", "b;20;10;2"),
            "threads",
        ),
    ],
)
def test_a_serial_and_a_parallel_time_in_each_row(text: str, column: str, tmp_path: Path) -> None:
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)], [(1, 1.0), (4, 2.0)]]
    assert [one.checked.speedups for one in found] == [1, 1]
    assert found[0].source.column("gpus").header == column


@pytest.mark.parametrize("unit", ["(ms)", "(s)"])
def test_a_serial_column_has_the_unit_of_all(unit: str, tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table(f"Graph;Seq {unit};2 threads;4 threads;Max speedup", "a;40;21.05;11.43;3.5x")
    )
    assert (speedups(found), found.checked.speedups, kinds([found])) == (ONCE, 1, [])


def test_a_speedup_for_each_number_of_threads(tmp_path: Path) -> None:
    head = "Size;1 thread;2 threads;4 threads;Speedup 2;Speedup 4"
    (found,) = audited(tmp_path, table(head, "10;40;21.05;11.43;~1.9;~3.5"))
    assert (speedups(found), found.checked.speedups, kinds([found])) == (ONCE, 2, [])


def test_times_of_another_program_behind_the_devices_are_left_out(tmp_path: Path) -> None:
    text = table("Size;Serial;OpenMP (2);OpenMP (4);CUDA", "512;40 s;21.05 s;11.43 s;0.4 s")
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert any("CUDA" in note for note in found.source.notes)


def test_a_row_of_a_gpu_beside_threads_is_left_out(tmp_path: Path) -> None:
    rows = ("1 thread on CPU;40 s;1.0x", "4 threads on CPU;11.43 s;3.5x", "Using GPU (CUDA);0.4 s;100x")
    (found,) = audited(tmp_path, table("Device;Time to render;Speedup", *rows))
    assert (speedups(found), kinds([found])) == ([(1, 1.0), (4, 3.5)], [])


@pytest.mark.parametrize(
    "below",
    ["img/s, higher is better.", "(img/s)", "Throughput (img/s) of a ResNet-50.", "</td>\n</table>\n(img/s)"],
)
def test_a_unit_below_the_table(below: str, tmp_path: Path) -> None:
    text = table("Strategy;GPUs=1;GPUs=2;GPUs=4", "DDP;100;190;350") + f"\n{below}\n"
    (found,) = audited(tmp_path, text)
    assert (speedups(found), found.source.column("throughput").unit) == (ONCE, "img/s")


def test_a_unit_in_a_list_above_the_table(tmp_path: Path) -> None:
    text = "- **单位**：`images/sec`\n\n- FP32\n\n" + table("Setting;Otter;Egret", "GPU=1;100;80", "GPU=4;350;280")
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)]] * 2


def test_a_sentence_of_a_paragraph_says_what_the_values_are(tmp_path: Path) -> None:
    above = "We ran it twice. Values are mean wall-clock seconds\nof ten repeats. Logs are there.\n\n"
    (found,) = audited(tmp_path, above + table("Input;1 thread;2 threads;4 threads", "a;40;21.05;11.43"))
    assert (speedups(found), found.source.unknown_units) == (ONCE, frozenset())


def test_rows_of_times_whose_unit_is_in_the_first_header(tmp_path: Path) -> None:
    rows = ("small, map only;40;21.05;11.43", "small, process wall;80;42.1;22.86")
    found = audited(tmp_path, table("Workload, milliseconds;1 thread;2 threads;4 threads", *rows))
    assert [speedups(one) for one in found] == [ONCE, ONCE]
    assert found[0].table.scales[0].row.number("time_s") == pytest.approx(0.04)


def test_a_total_time_beside_that_of_an_iteration(tmp_path: Path) -> None:
    rows = ("1× 3090;3.4 s;40 h", "2× 3090 DDP;3.5 s;21.05 h", "4× 3090 DDP;3.7 s;11.43 h")
    (found,) = audited(tmp_path, table("Setting;Time/iter;Total", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])


@pytest.mark.parametrize("name", ["imgs/GPU", "per-gpu bsz", "Num envs/worker"])
def test_the_work_of_a_device_is_its_batch(name: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"{name};#GPU;time (s/iter)", "2;8;0.400", "2;16;0.421", "2;32;0.457"))
    assert (speedups(found), kinds([found])) == (OF_NODES, [])


def test_latency_beside_a_batch_is_that_of_a_step(tmp_path: Path) -> None:
    rows = ("n1g1;64;40", "n1g2;128;42.1", "n1g4;256;45.72", "n2g4;512;80")
    (found,) = audited(tmp_path, table("gpu;batch_size;latency(ms)", *rows))
    assert (speedups(found), kinds([found])) == ([*ONCE, (8, 4.0)], [])


def test_speedups_belong_to_the_times_that_they_follow_from(tmp_path: Path) -> None:
    rows = ("1;50 s;40 s;1.0x", "2;40 s;21.05 s;1.9x", "4;30 s;11.43 s;3.5x")
    cold, warm = audited(tmp_path, table("GPUs;epoch 0 (cold);epoch 1+ (warm);speedup vs 1 GPU", *rows))
    assert (cold.checked.speedups, warm.checked.speedups, kinds([cold, warm])) == (0, 3, [])


@pytest.mark.parametrize("second", ["3.4K", "71%"])
def test_a_second_number_in_cells_of_times(second: str, tmp_path: Path) -> None:
    separator = ", " if second.endswith("K") else "/"
    cells = ";".join(f"{time}s{separator}{second}" for time in ("40", "21.05", "11.43"))
    header = ";".join(f"{count} GPU time / Accuracy" for count in (1, 2, 4))
    (found,) = audited(tmp_path, table(f"Model;{header}", f"a;{cells}"))
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert "Accuracy" in found.source.unread


def test_a_range_of_efficiencies_is_of_all_devices_of_a_row(tmp_path: Path) -> None:
    text = table("Strategy;1 GPU;2 GPUs;4 GPUs;Efficiency", "DDP;1.0x;1.9x;3.5x;85-95%")
    (found,) = audited(tmp_path, text)
    assert all(scale.row.printed_efficiency is None for scale in found.table.scales)
    assert any("range" in note for note in found.source.notes)


def test_dashes_mean_the_cell_above(tmp_path: Path) -> None:
    rows = ("TitanX;1;32;none;40", "-;2;-;local;50", "-;4;-;-;60", "-;2;-;device;21.05", "-;4;-;-;11.43")
    slow, fast = audited(tmp_path, table("Cluster;# GPUs;batch size;kvstore;epoch time", *rows))
    assert (speedups(slow), speedups(fast)) == ([(1, 1.0), (2, 0.8), (4, 0.67)], ONCE)


def test_names_that_end_with_their_batch(tmp_path: Path) -> None:
    sizes = ((2, "256", 100), (4, "512", 190), (8, "1K", 350))
    rows = [
        f"{name}-{batch};{gpus};{batch};{rate}/s" for name in ("whole", "parts") for gpus, batch, rate in sizes
    ]
    found = audited(tmp_path, table("Experiment;GPUs;Batch size;Throughput", *rows))
    assert [speedups(one) for one in found] == [[(2, 1.0), (4, 1.9), (8, 3.5)]] * 2
    assert found[0].table.scales[-1].row.number("batch") == 1024


def test_a_failed_run_is_named(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Threads;Time (s)", "1;40", "2;OOM", "4;11.43"))
    assert any("OOM" in note for note in found.source.notes)


@pytest.mark.parametrize(
    "text",
    [
        table("-np;T_comm (s);T_comp (s);T_total (s)", "1;0;40;40", "2;1;20.05;21.05", "4;1;10.43;11.43"),
        table("NP or NT;MPI (s)", *RUNS),
        table("Trabajadores;Tiempos (s)", *RUNS),
        table(";Time (ms);Speed-up", "p = 1;40;1", "p = 2;21.05;1.9", "p = 4;11.43;3.5"),
        table("nbgpus;cputime (in s)", *RUNS),
        "".join(
            f"test sum_{n}_threads ... bench:  {t} ns/iter (+/- 12)\n"
            for n, t in ((1, "40,000"), (2, "21,050"), (4, "11,430"))
        ),
    ],
)
def test_further_names_of_devices_and_times(text: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == (ONCE, [])


MODEL_ZOO = """| Parameters | Ascend | GPU |
| --- | --- | --- |
| Resource | Ascend 910, 192 cores | V100 |
| Speed | 1pc: 97 ms/step{sign} 4pcs: 99 ms/step | 1pc: 180 ms/step{sign} 4pcs: 190 ms/step |
| Total time | 1pc: 40 min{sign} 4pcs: 11.43 min | 1pc: 80 mins{sign} 4pcs: 22.86 mins |
"""


@pytest.mark.parametrize("sign", [";", ",", "\uff1b", " "])
def test_cells_that_list_a_measurement_for_each_number_of_devices(sign: str, tmp_path: Path) -> None:
    found = audited(tmp_path, MODEL_ZOO.format(sign=sign))
    assert [(one.source.rows[0].label("setup"), speedups(one)) for one in found] == [
        ("Ascend", [(1, 1.0), (4, 3.5)]),
        ("Ascend", [(1, 1.0), (4, 3.5)]),
    ]


def test_a_task_beside_the_model_is_a_label(tmp_path: Path) -> None:
    rows = ("BERT;SST;1;40 min", "BERT;SST;4;11.43 min", "BERT;MNLI;1;80 min", "BERT;MNLI;4;40 min")
    found = audited(tmp_path, table("Model;Task;#GPUs;Training time", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)], [(1, 1.0), (4, 2.0)]]


def test_rows_with_units_of_their_own_and_efficiencies(tmp_path: Path) -> None:
    rows = ("ResNet;100 img/s;190 img/s (95%);350 img/s (88%)", "BERT;10 seq/s;19 seq/s (95%);35 seq/s (88%)")
    found = audited(tmp_path, table("Model;1 GPU;2 GPUs;4 GPUs", *rows))
    assert [(speedups(one), one.checked.efficiencies) for one in found] == [(ONCE, 2), (ONCE, 2)]
    assert found[1].source.column("throughput").unit == ""


def test_a_link_distinguishes_rows_of_several_devices(tmp_path: Path) -> None:
    rows = ("1 GPU;100", "4 GPUs, NVLink;390", "4 GPUs, PCIe;350", "8 GPUs, NVLink;760")
    found = audited(tmp_path, table("Setup;Images/second", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.9), (8, 7.6)], [(1, 1.0), (4, 3.5)]]


def test_utilization_shows_that_the_batch_of_a_device_is_constant(tmp_path: Path) -> None:
    rows = ("8×H100;1200;40.0%", "16×H100;1263;38.0%", "32×H100;1371;35.0%")
    (found,) = audited(tmp_path, table("Config;ms/iter;MFU", *rows))
    assert (speedups(found), kinds([found])) == (OF_NODES, [])


@pytest.mark.parametrize(
    "header", ["# CPU", "p (threads)", "P (# cores)", "Max threads", "Concurrent workers", "Number of CPU"]
)
def test_headers_of_devices(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"{header};Time (s)", *RUNS))
    assert speedups(found) == ONCE


@pytest.mark.parametrize("header", ["seq/s", "Samples-per-second", "pixels / s", "rays / sec", "Seq/s"])
def test_headers_of_rates(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;{header}", "1;100", "2;190", "4;350"))
    assert speedups(found) == ONCE


def test_nodes_and_cards_in_headers(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("model;N1C1 ips;N1C8 ips;N4C32 ips;speedup", "a;100;760;2900;29"))
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (8, 7.6), (32, 29.0)], 1)


@pytest.mark.parametrize("product", ["p por t", "total", "p*t"])
def test_processes_with_threads_in_columns_of_one_letter(product: str, tmp_path: Path) -> None:
    rows = ("1;1;1;40", "1;2;2;21.05", "1;4;4;11.43", "2;1;2;40", "2;2;4;20", "2;4;8;10")
    found = audited(tmp_path, table(f"p;t;{product};tiempo (s)", *rows))
    assert [speedups(one) for one in found] == [ONCE, [(2, 1.0), (4, 2.0), (8, 4.0)]]


def test_speedups_that_follow_from_the_time_beside_a_throughput(tmp_path: Path) -> None:
    rows = ("1;40;1.94;1.0x;100%", "2;21.05;3.5;1.9x;95%", "4;11.43;6.2;3.5x;87.5%")
    (found,) = audited(tmp_path, table("Ranks;Time (s);GFLOPS;Speedup;Efficiency", *rows))
    assert (speedups(found), found.checked.speedups, kinds([found])) == (ONCE, 3, [])


@pytest.mark.parametrize("latency", ["Avg TTFT (ms)", "Mean latency (s)", "P90 E2EL (s)"])
def test_the_latency_of_requests_is_no_time_of_the_work(latency: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"TP;Throughput (tok/s);{latency}", "1;100;35", "2;190;0.2", "4;350;0.1"))
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert latency in found.source.unread


def test_headers_of_two_kinds_with_threads(tmp_path: Path) -> None:
    head = "model;large, threads 1;large, threads 4;small, threads 1;small, threads 4"
    found = audited(tmp_path, table(head, "otter;40ms;11.43ms;20ms;10ms"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)], [(1, 1.0), (4, 2.0)]]


def test_pairs_of_a_size_and_a_time_beside_each_other(tmp_path: Path) -> None:
    rows = ("otter;1;256;40ms;320;80ms", "otter;4;256;11.43ms;320;40ms")
    found = audited(tmp_path, table("model;num_threads;size;Time mean;size;Time mean", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)], [(1, 1.0), (4, 2.0)]]


@pytest.mark.parametrize("ratio", ["TP=4 / TP=1", "4 / 1", "4 vs 1"])
def test_a_ratio_that_is_named_by_its_quotient(ratio: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"Mode;TP=1;TP=4;{ratio}", "plain;100 tok/s;350 tok/s;**3.5x**"))
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (4, 3.5)], 1)


def test_requests_at_a_time_are_no_devices(tmp_path: Path) -> None:
    found = audited(tmp_path, table("concurrency;TP=1;TP=2", "1;100 tok/s;190 tok/s", "16;400 tok/s;800 tok/s"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)], [(1, 1.0), (2, 2.0)]]


@pytest.mark.parametrize("mark", ["*", "\\*", "\u2020"])
def test_numbers_that_a_footnote_calls_projected_are_left_out(mark: str, tmp_path: Path) -> None:
    rows = ("1;40;1.0", "2;21.05;1.9", f"4;11.43{mark};3.5{mark}")
    text = table("Ranks;Time (s);Speedup", *rows) + f"\n{mark}Cluster runs pending. Projections from local runs.\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (2, 1.9)]
    assert any("not measured" in note for note in found.source.notes)


def test_a_mark_with_another_footnote_stays(tmp_path: Path) -> None:
    text = table("Ranks;Time (s)", "1;40*", "2;21.05*", "4;11.43") + "\n*Mean of three runs.\n"
    assert speedups(audited(tmp_path, text)[0]) == ONCE


def test_a_row_of_devices_with_a_ratio_behind_it(tmp_path: Path) -> None:
    rows = ("Runtime;40 s;11.43 s;3.5×", "Workers;1;4;4×")
    (found,) = audited(tmp_path, table("Metric;Serial;Parallel;Ratio", *rows))
    assert speedups(found) == [(1, 1.0), (4, 3.5)]


def test_three_lines_of_headers(tmp_path: Path) -> None:
    head = "<tr><th></th><th colspan=2>Reported</th></tr><tr><th></th><th>Wall</th><th>Rate</th></tr>"
    head += "<tr><th>Cores</th><th>Time (s)</th><th>S.D.</th></tr>"
    body = "".join(f"<tr><td>{n}</td><td>{t}</td><td>0.1</td></tr>" for n, t in ((1, 40), (2, 21.05), (4, 11.43)))
    (found,) = audited(tmp_path, f"<table>{head}{body}</table>")
    assert speedups(found) == ONCE


def test_per_cents_that_follow_are_efficiencies(tmp_path: Path) -> None:
    rows = ("64;101.7;100%", "128;203.7;100.1%", "256;383.7;94.3%", "512;699.7;86.0%")
    (found,) = audited(tmp_path, table("GPUs;Actual TFLOP/s;Use", *rows))
    assert found.checked.efficiencies == 4


def test_a_remark_in_brackets_behind_one_name(tmp_path: Path) -> None:
    rows = ("heron (1 process per GPU);1;100", "heron;2;190", "heron;4;350", "egret;2;80", "egret;4;160")
    first, second = audited(tmp_path, table("stack;GPUs;samples/s", *rows))
    assert (speedups(first), speedups(second)) == (ONCE, [(2, 1.0), (4, 2.0)])


@pytest.mark.parametrize("gap", ["  ", " "])
def test_two_rates_in_a_cell_without_a_sign_between_them(gap: str, tmp_path: Path) -> None:
    cells = ";".join(f"{rate} samples/sec{gap}2.9 tflops/gpu" for rate in (100, 190, 350))
    (found,) = audited(tmp_path, table("model \\ num_node * num_gpus;1*8;2*8;4*8", f"otter;{cells}"))
    assert speedups(found) == OF_NODES


def test_a_break_between_numbers_makes_no_larger_number(tmp_path: Path) -> None:
    rows = ("1<br>2;40 s<br>21.05 s", "4;11.43 s")
    (found,) = audited(tmp_path, table("GPUs;Time", *rows))
    assert speedups(found) == ONCE


def test_first_and_later_epochs_are_times(tmp_path: Path) -> None:
    rows = ("1;50;40;90", "2;40;21.05;60", "4;30;11.43;40")
    found = audited(tmp_path, table("Nodes;First epoch;Subsequent epochs;Total time", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 1.67), (4, 3.5), (4, 2.25)]


def test_one_device_is_the_baseline_of_strategies_across(tmp_path: Path) -> None:
    head = "Model;Single-GPU (s/epoch);4-GPU DP (s/epoch);4-GPU DDP (s/epoch)"
    found = audited(tmp_path, table(head, "otter;40;20;11.43"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 2.0)], [(1, 1.0), (4, 3.5)]]


def test_the_name_of_a_device_is_no_number_of_processes(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Setup;Time per epoch", "P100;40 s", "2x P100;21.05 s", "4x P100;11.43 s"))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_per_cents_of_rates_of_a_device_are_efficiencies(tmp_path: Path) -> None:
    rows = ("1 node × 8 H100;400;100%", "2 nodes × 8 H100;380;95%", "4 nodes × 8 H100;350;87.5%")
    (found,) = audited(tmp_path, table("Config;Tokens/s/GPU;vs 1 node", *rows))
    assert (speedups(found), found.checked.efficiencies, kinds([found])) == (OF_NODES, 3, [])


def test_threads_of_a_rank_beside_all_cores(tmp_path: Path) -> None:
    rows = ("1;16;2;32;100", "2;16;2;64;190", "4;16;2;128;350")
    (found,) = audited(tmp_path, table("Nodes;Ranks/node;Threads/rank;Total cores;ns/day", *rows))
    assert (speedups(found), kinds([found])) == ([(32, 1.0), (64, 1.9), (128, 3.5)], [])


def test_jobs_of_a_build_in_headers(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Build;-j1;-j2;-j4", "clean;40 min;21.05 min;11.43 min"))
    assert (speedups(found), found.source.column("gpus").header) == (ONCE, "workers")


def test_each_size_of_a_problem_is_a_series(tmp_path: Path) -> None:
    rows = ("256^3;1;10", "256^3;4;35", "512^3;8;40", "512^3;16;76")
    found = audited(tmp_path, table("Problem size;Cores;MLUPS", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)], [(8, 1.0), (16, 1.9)]]


def test_a_ratio_named_below_the_table(tmp_path: Path) -> None:
    text = table("# workers;Ring", "1;100 %", "2;95 %", "4;87.5 %") + "\nScaling efficiency.\n"
    (found,) = audited(tmp_path, text)
    assert found.source.column("printed_efficiency") is not None
