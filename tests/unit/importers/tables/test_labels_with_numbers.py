"""Labels and headers with a number in an odd place: commands, names, variables, titles, quotients of times."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table

TIMES = ("100", "52.6", "28.57")


@pytest.mark.parametrize(
    "command",
    ["`pigz -p {} -k file`", "`./target/release/aligner {} > /dev/null`", "`STAR --runThreadN {} --genomeDir g`"],
)
def test_the_number_in_commands_that_are_timed(command: str, tmp_path: Path) -> None:
    rows = [f"{command.format(n)};{t} ± 0.5;{t};{t}" for n, t in zip("124", TIMES, strict=True)]
    found = audited(tmp_path, table("Command;Mean [s];Min [s];Max [s]", *rows))
    assert ([speedups(one) for one in found], kinds(found)) == ([ONCE] * 3, [])
    assert any("in commands such as" in note for note in found[0].source.notes)


def test_commands_of_two_programs(tmp_path: Path) -> None:
    rows = [f"`{name} -t {n} x`;{t}" for name in ("one", "two") for n, t in zip("124", TIMES, strict=True)]
    assert [speedups(one) for one in audited(tmp_path, table("Command;Mean [s]", *rows))] == [ONCE, ONCE]


def test_commands_that_differ_in_a_size_only(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Command;Mean [s]", "`sort 8 file`;1", "`sort 16 file`;2", "`sort 32 file`;4"))
    with pytest.raises(UserError):
        read_published(path)


def test_names_with_a_number_beside_one_of_another_name(tmp_path: Path) -> None:
    rows = ("naive-1;110;1.00x", "pipeline-1;100;0.91x", "pipeline-2;190;1.73x", "pipeline-4;350;3.18x")
    (found,) = audited(tmp_path, table("Experiment;samples/sec;Speedup", *rows))
    assert (speedups(found), found.checked.speedups, found.remarks) == (ONCE, 3, ())


@pytest.mark.parametrize("name", ["CILK_NWORKERS", "RAYON_NUM_THREADS", "NTHREADS"])
def test_variables_of_the_environment(name: str, tmp_path: Path) -> None:
    rows = (f"`{name} = 1`;100", f"`{name} = 4`;28.57", "Speedup;3.5")
    (found,) = audited(tmp_path, table(";Time (ms)", *rows))
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (4, 3.5)], 1)


def test_sizes_below_titles_with_devices(tmp_path: Path) -> None:
    blocks = [f"threads {n}\nn\n1000 {t}\n2500 {2 * float(t)}\n" for n, t in zip("421", TIMES[::-1], strict=True)]
    path = tmp_path / "table.txt"
    path.write_text("Measured in seconds\n\n" + "\n".join(blocks))
    found = read_published(path, Corrections({"value": "total_time_s"}))
    assert [(row.gpus, row.label("n")) for row in found.tables[0].rows][:2] == [(4, "1000"), (4, "2500")]


def test_a_speedup_as_a_quotient_of_times(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table("tier;1 thread;2 threads;4 threads;1T/2T;1T/4T", "a;100 s;52.6 s;28.57 s;1.90x;3.50x")
    )
    assert (speedups(found), found.checked.speedups) == (ONCE, 2)


@pytest.mark.parametrize("first", ["Dual", "Two", "dual"])
def test_nodes_in_words_in_front_of_a_quantity(first: str, tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table(f"Workload;Single-node img/s;{first}-node img/s;Scaling", "a;100;190;1.90x")
    )
    assert (speedups(found), found.checked.speedups) == (ONCE[:2], 1)


@pytest.mark.parametrize("first", ["parallel", "MPI code", "Threads per job"])
def test_numbers_in_headers_beside_words_of_parallel_programs(first: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, "Time in seconds\n\n" + table(f"{first};1;2;4;6", "a;100;52.6;28.57;20"))
    assert speedups(found)[:3] == ONCE
    assert any("read as numbers of devices" in note for note in found.source.notes)


def test_an_answer_says_that_the_numbers_in_headers_are_devices(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text("Time in seconds\n\n" + table("solver;1;2;4", "a;100;52.6;28.57", "b;90;50;30"))
    with pytest.raises(UserError, match="add --column 'solver=gpus'"):
        read_published(path)
    found = read_published(path, Corrections({"solver": "gpus"}))
    assert [row.gpus for row in found.tables[0].rows] == [1, 2, 4, 1, 2, 4]


def test_one_label_of_many_without_devices_is_left_out(tmp_path: Path) -> None:
    rows = [f"batched with {n} threads;{100 / n}" for n in (1, 2, 3, 4, 5, 6, 8)]
    (found,) = audited(tmp_path, table("Type;Time (s)", "N threads;20", *rows))
    assert [gpus for gpus, _ in speedups(found)] == [1, 2, 3, 4, 5, 6, 8]


def test_a_row_without_devices_is_the_baseline_if_its_speedup_is_one(tmp_path: Path) -> None:
    rows = ("original v2.9;247.00;1.00×", "mt5 -t 1;159.89;1.54×", "mt5 -t 2;71.18;3.47×", "mt5 -t 4;37.67;6.56×")
    (found,) = audited(tmp_path, table("Threads;Time (s);Speedup", *rows))
    assert (found.speedups.row.line if found.speedups.row else 0, found.checked.speedups) == (3, 3)
    assert not found.source.notes


def test_a_share_of_the_time_that_is_saved(tmp_path: Path) -> None:
    rows = ("1;100;0.00", "2;52.6;47.40", "4;28.57;71.43")
    (found,) = audited(tmp_path, table("Threads;Avg Time (s);Speedup (%)", *rows))
    assert (speedups(found), found.checked.speedups, found.remarks) == (ONCE, 3, ())


def test_transactions_are_no_tokens(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("threads;TPS_mean", "1;100", "2;190", "4;350"))
    column = found.source.column("throughput")
    assert column is not None
    assert (speedups(found), column.unit) == (ONCE, "TPS")


def test_when_a_run_was_started_is_no_time(tmp_path: Path) -> None:
    rows = [f"{n};{t};Fri Jan 27 06:2{n}:34 2017" for n, t in zip("124", TIMES, strict=True)]
    (found,) = audited(tmp_path, table("num_gpus;elapsed (s);time", *rows))
    assert (speedups(found), list(found.source.notes)) == (ONCE, [])


def test_ratios_that_name_their_time_and_what_they_are_over(tmp_path: Path) -> None:
    head = "n;np;gkh_ms;total_ms;GKH speedup vs serial;total speedup vs serial"
    rows = ("64;1;50;100;1.00x;1.00x", "64;2;25;52.6;2.00x;1.90x", "64;4;12.5;28.57;4.00x;3.50x")
    found = audited(tmp_path, table(head, *rows))
    assert [(one.checked.speedups, one.remarks) for one in found] == [(3, ()), (3, ())]


def test_parts_of_a_time_ask_nothing_of_their_own(tmp_path: Path) -> None:
    rows = ("1;31;62;8;101", "2;31;62;8;110", "4;32;63;8;118")
    path = tmp_path / "table.md"
    path.write_text(table("World size;Forward (ms);Backward (ms);Update (ms);Total (ms)", *rows))
    file = read_published(path)
    assert [one.columns[1].per for one in file.tables] == ["part", "part", "part", "all"]


def test_efficiencies_behind_numbers_below_devices(tmp_path: Path) -> None:
    rows = ("fluid;263.29 (78.64%);518.80 (77.47%);836.26 (62.44%)",)
    (found,) = audited(tmp_path, "samples / sec\n\n" + table("Trainer Count;20;40;80", *rows))
    assert [remark.kind for remark in found.remarks] == ["no base case"]
    assert "16.74" in found.remarks[0].sentence


def test_one_device_is_the_baseline_of_every_placement(tmp_path: Path) -> None:
    rows = ("1;1;100;-", "1;2;190;1.9", "2;2;150;1.5", "1;4;350;3.5", "2;4;300;3.0")
    found = audited(tmp_path, table("nodes;GPUs;samples/s;speedup", *rows))
    assert all(one.checked.speedups and not one.remarks for one in found)


def test_a_name_is_also_that_of_the_headers_behind_it(tmp_path: Path) -> None:
    head = "Dataset;SAGE 1 GPU (s);2 GPU (s);4 GPU (s);GAT 1 GPU (s);2 GPU (s);4 GPU (s)"
    found = audited(tmp_path, table(head, "Reddit;100;52.6;28.57;200;105.2;57.14"))
    assert [speedups(one) for one in found] == [ONCE, ONCE]


@pytest.mark.parametrize("first", ["Sequential", "Serial", "serial code", "Single"])
def test_a_serial_run_is_no_other_strategy(first: str, tmp_path: Path) -> None:
    rows = (f"{first};1;100 s;-", "Data parallel;2;52.6 s;1.90", "Data parallel;4;28.57 s;3.50")
    (found,) = audited(tmp_path, table("Method;GPUs;Epoch time;Speedup", *rows))
    assert (speedups(found), found.remarks) == (ONCE, ())


def test_parameter_servers_beside_workers_in_a_column_of_workers(tmp_path: Path) -> None:
    rows = ("1 PS + 1 worker;100", "1 PS + 2 workers;190", "2 PS + 4 workers;350")
    (found,) = audited(tmp_path, table("Workers;Sync (images/s)", *rows))
    assert speedups(found) == ONCE


def test_nodes_beside_degrees_are_no_strategy(tmp_path: Path) -> None:
    rows = ("1 node, TP8;100;100%", "2 nodes, TP8 DP2;190;95%", "4 nodes, TP8 DP4;350;87.5%")
    (found,) = audited(tmp_path, table("Configuration;tokens/s;Strong scaling eff.", *rows))
    assert (speedups(found), found.remarks) == ([(8, 1.0), (16, 1.9), (32, 3.5)], ())


def test_per_cents_that_fall_from_all_are_efficiencies(tmp_path: Path) -> None:
    found = audited(tmp_path, table("#GPUs;PyTorch DP;DDP", "1;100%;100%", "2;71%;96%", "4;48%;93%"))
    assert [[row.number("printed_efficiency") for row in one.source.rows] for one in found] == [
        [1.0, 0.71, 0.48],
        [1.0, 0.96, 0.93],
    ]
    assert "printed efficiencies" in found[0].remarks[0].sentence


def test_workers_behind_one_name_beside_the_serial_program(tmp_path: Path) -> None:
    rows = (
        "plain `COPY`;87.2s;1.00x",
        "`pcopy` 1w;87.7s;0.99x",
        "`pcopy` 2w;46.2s;1.89x",
        "`pcopy` 4w;25.2s;3.46x",
    )
    (found,) = audited(tmp_path, table("arm;load;vs serial", *rows))
    assert (found.source.columns[0].role, [gpus for gpus, _ in speedups(found)]) == ("gpus", [1, 2, 4])
    assert (found.checked.speedups, found.remarks) == (3, ())


@pytest.mark.parametrize("unit", ["$\\mu s$", "μs", "us"])
def test_units_of_a_millionth_of_a_second(unit: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"Threads;Time ({unit})", "1;2000000", "2;1052632", "4;571429"))
    assert (speedups(found), found.source.rows[0].number("time_s")) == (ONCE, 2.0)


def test_speedups_that_are_cut_show_whose_rate_it_is(tmp_path: Path) -> None:
    rows = ("1;285,483;1.0x", "2;64,449;0.2x", "10;70,658;0.2x", "20;64,328;0.2x")
    (found,) = audited(tmp_path, table("Threads;Ops/Sec;Speedup", *rows))
    assert [gpus for gpus, _ in speedups(found)] == [1, 2, 10, 20]
    assert {remark.kind for remark in found.remarks} == {"negative scaling"}


def test_efficiencies_of_constant_work_with_the_formula_of_growing_work(tmp_path: Path) -> None:
    rows = ("1;26.42;100.0%", "2;11.90;222.0%", "4;5.82;453.8%", "8;2.80;944.2%")
    (found,) = audited(tmp_path, table("Nodes;Runtime (s);Efficiency", *rows))
    assert speedups(found)[-1] == (8, 9.44)
    assert {remark.kind for remark in found.remarks} == {"faster than its devices"}


def test_the_answer_on_scaling_is_above_the_printed_ratios(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPUs;Time (s);Efficiency", "1;100;1.00", "2;105;0.95", "4;114;0.88"))
    file = read_published(path)
    weak, strong = (audit_file(file.answered(kind), "table")[0][0] for kind in ("weak", "strong"))
    assert (speedups(weak)[-1], speedups(strong)[-1]) == ((4, 3.51), (4, 0.88))


def test_a_remark_behind_the_cells_of_aligned_text(tmp_path: Path) -> None:
    text = """
 Threads   Time (s)    Speedup   Efficiency
-----------------------------------------------
    1      100.0      1.00x     100.0%
    2       52.6      1.90x      95.0%  ? Sweet spot
    4       28.57     3.50x      87.5%  ? Maximum
"""
    (found,) = audited(tmp_path, text)
    assert (speedups(found), found.checked.speedups) == (ONCE, 3)


def test_a_row_of_all_of_it_is_the_baseline_of_efficiencies(tmp_path: Path) -> None:
    rows = ("1;1,500;-", "8;26,000;100% (ref)", "64;182,000;87.5%")
    (found,) = audited(tmp_path, table("GPUs;tok/s;Scaling eff.", *rows))
    assert found.checked.efficiencies == 2
    assert {remark.kind for remark in found.remarks} == {"faster than its devices"}


def test_a_ratio_belongs_to_the_column_that_it_follows_from(tmp_path: Path) -> None:
    rows = (
        "256;1.76×10⁵ QPS;1.76×10⁵;—",
        "512;3.37×10⁵;3.56×10⁵;100%",
        "1024;5.61×10⁵;6.76×10⁵;96%",
        "2048;OOM;1.34×10⁶;95%",
    )
    found = audited(tmp_path, table("GPU Count;Phương pháp cũ;2D Sparse;Tỷ lệ mở rộng", *rows))
    assert [(one.checked.efficiencies, one.remarks) for one in found] == [(0, ()), (3, ())]


def test_rows_that_name_devices_and_a_quantity(tmp_path: Path) -> None:
    rows = ("Single-GPU throughput;100 img/s;200 img/s", "2-GPU DDP throughput;190 img/s;360 img/s")
    found = audited(tmp_path, table("Metric;FP32;FP16", *rows, "Scaling efficiency;95%;90%", "Overhead;5%;10%"))
    assert [(speedups(one), one.checked.efficiencies) for one in found] == [
        (ONCE[:2], 1),
        ([(1, 1.0), (2, 1.8)], 1),
    ]


def test_a_header_of_two_words_in_text_with_single_blanks(tmp_path: Path) -> None:
    text = "\n".join(
        (
            "gpu model batch size images/sec(1gpu) images/sec(2gpu) images/sec(4gpu)",
            "rtx3090 resnet50 64 100.0 190.0(1.900) 350.0(3.500)",
            "rtx3090 resnet50 128 200.0 380.0(1.900) 700.0(3.500)",
        )
    )
    found = audited(tmp_path, text)
    assert [(speedups(one), one.checked.speedups) for one in found] == [(ONCE, 2), (ONCE, 2)]
