"""Headers and cells whose words are read as something else than they say."""

from __future__ import annotations

from pathlib import Path

from scalestudy.diagnose.audit import audit_file
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


def test_a_step_time_beside_batches_that_differ_is_not_that_of_constant_work(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPUs;Iter Time (s);Batch Size", "8;10.0;64", "16;10.0;96", "32;8.0;192"))
    found, (asked,) = audit_file(read_published(path), "table")
    assert (found, asked.question.kind) == ([], "step_time_s")
    answer = Corrections({"Batch Size": "global_batch"})
    (audit,), _ = audit_file(read_published(path, answer), "table")
    assert speedups(audit) == [(8, 1.0), (16, 1.5), (32, 3.75)]


def test_n_is_the_size_of_a_problem_where_nothing_names_processors(tmp_path: Path) -> None:
    sizes = "## Product of two matrices\n\n" + table("n;GFLOPS;Time (us)", "32;1800;0.04", "64;8400;0.06")
    threads = "\n## Threads\n\n" + table("Threads;GFLOPS", "1;100", "2;190", "4;350")
    (found,) = audited(tmp_path, sizes + threads)
    assert speedups(found) == ONCE


def test_n_is_the_number_of_processors_beside_a_speedup(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("n;Time (s);Speedup", "1;100;1.0", "2;52.6;1.9", "4;28.57;3.5"))
    assert speedups(found) == ONCE


def test_a_time_over_its_unit_is_no_rate(tmp_path: Path) -> None:
    rows = ("1;100;0.1;0.2", "2;52.6;0.1;0.2", "4;28.57;0.1;0.4")
    (found,) = audited(tmp_path, table("Ranks;wall mean/s;stdev/s;CV/%", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_methods_are_strategies(tmp_path: Path) -> None:
    rows = ("A;2;50", "A;4;90", "B;2;40", "B;4;76")
    found = audited(tmp_path, table("Methods;GPUs;MFU", *rows))
    assert [speedups(one) for one in found] == [[(2, 1.0), (4, 3.6)], [(2, 1.0), (4, 3.8)]]
    assert {column.role for column in found[0].source.columns} >= {"strategy"}


def test_cores_that_are_active_count_beside_nodes(tmp_path: Path) -> None:
    rows = ("1;1 x 1;1;100", "1;2 x 1;2;52.6", "2;4 x 1;4;28.57")
    (found,) = audited(tmp_path, table("nodes;MPI x OMP;active cores;Time (s)", *rows))
    assert speedups(found) == ONCE


def test_the_number_of_devices_of_a_node_in_any_order_of_words(tmp_path: Path) -> None:
    rows = ("1;1;100;1.00", "1;8;720;7.20", "2;8;1360;13.60")
    (found,) = audited(tmp_path, table("num_nodes;gpu_num_per_node;throughput;speedup", *rows))
    assert (speedups(found), kinds([found])) == ([(1, 1.0), (8, 7.2), (16, 13.6)], [])


def test_several_remarks_in_brackets_are_no_quantities(tmp_path: Path) -> None:
    rows = (
        "4;0.175 s;0.225 s (+1.0%, +28.3%);0.200 s (+1.0%, +14.3%)",
        "8;0.100 s;0.125 s (+4.3%, +25.0%);0.100 s (+2.0%, +10.0%)",
    )
    text = table("CPUs;Native;Hooks;Few hooks", *rows).replace("%,", "%;")
    found = audited(tmp_path, text)
    assert [speedups(one)[1] for one in found] == [(8, 1.75), (8, 1.8), (8, 2.0)]


def test_a_table_with_another_measurement_in_each_row_is_no_scaling(tmp_path: Path) -> None:
    rows = (
        "Highest Throughput;ZeRO (4 GPU);18,147 tokens/sec",
        "Fastest Step Time;ZeRO (2 GPU);0.372 sec",
        "Best Scaling;ZeRO (4 GPU);41 % efficiency",
    )
    best = "## Winners\n\n" + table("Metric;Winner;Value", *rows)
    (found,) = audited(tmp_path, best + "\n## All\n\n" + table("GPUs;img/s", "1;100", "2;190", "4;350"))
    assert speedups(found) == ONCE


def test_efficiencies_over_a_rate_that_the_table_does_not_have(tmp_path: Path) -> None:
    rows = ("2;8000;50.0", "4;12000;37.5", "8;16000;25.0")
    (found,) = audited(tmp_path, table("GPUs;Tokens/sec;Scaling Eff (%)", *rows))
    assert kinds([found]) == ["no base case"]


def test_a_speedup_over_a_serial_run_is_not_that_of_the_last_column(tmp_path: Path) -> None:
    rows = ("1000;8.0 ms;2.0 ms;1.0 ms;4.0x", "2000;18.0 ms;4.0 ms;2.5 ms;4.5x", "4000;40.0 ms;8.0 ms;5.0 ms;5.0x")
    found = audited(tmp_path, table("pairs;serial;1 GPU;2 GPU;GPU speedup", *rows))
    assert set(kinds(found)) == {"no base case"}
    assert [speedups(one)[1] for one in found] == [(2, 2.0), (2, 1.6), (2, 1.6)]


def test_names_are_labels_where_units_alone_say_what_is_measured(tmp_path: Path) -> None:
    rows = ("A;5 min/step;1", "B;2 min/step;2", "C;3 min/step;2")
    found = audited(tmp_path, table("Approach;Result;GPUs", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 2.5)], [(1, 1.0), (2, 1.67)]]


def test_rows_without_a_number_do_not_hide_the_devices_of_the_others(tmp_path: Path) -> None:
    rows = (
        "Server (2 GPUs);2 min/step",
        "Single GPU;5 min/step",
        "Colocated;OOM",
        "Other server;Version conflict",
    )
    (found,) = audited(tmp_path, table("Approach;Result", *rows))
    assert speedups(found) == [(1, 1.0), (2, 2.5)]


def test_one_part_that_falls_a_little_does_not_show_constant_work(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(
        table("Part;1 node;2 nodes;4 nodes", "A;33 s;28 s;50 s", "B;40 s;41 s;45 s", "C;30 s;31 s;33 s")
    )
    found, asked = audit_file(read_published(path), "table")
    assert (found, len(asked)) == ([], 1)


def test_nodes_beside_a_node_with_its_gpus_count_gpus(tmp_path: Path) -> None:
    rows = ("one node (4 GPUs);1000", "two nodes;1900", "one rack (16 nodes);14000")
    (found,) = audited(tmp_path, table("Setup;tokens/s", *rows))
    assert speedups(found) == [(4, 1.0), (8, 1.9), (64, 14.0)]


def test_a_unit_in_the_first_row_is_that_of_the_column(tmp_path: Path) -> None:
    rows = ("1;100 s;101 s;+1.0%", "2;52.6;53.2;+1.1%", "4;28.57;28.9;(noisy)")
    found = audited(tmp_path, table("#GPU;mode=1;mode=0;Δ%", *rows))
    assert [speedups(one) for one in found] == [ONCE, [(1, 1.0), (2, 1.9), (4, 3.49)]]


def test_hardware_with_its_memory_is_the_same_hardware(tmp_path: Path) -> None:
    rows = ("1x L4 24GB;30;2.0", "1x H100 80GB;100;8.0", "2x H100;190;6.0", "4x H100;350;5.0")
    found = audited(tmp_path, table("GPUs;img/s;GiB", *rows))
    assert ONCE in [speedups(one) for one in found]


def test_sizes_of_memory_that_differ_are_other_hardware(tmp_path: Path) -> None:
    rows = ("1x A100 40GB;100", "1x A100 80GB;120", "2x A100 40GB;190", "2x A100 80GB;216")
    found = audited(tmp_path, table("GPUs;img/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)], [(1, 1.0), (2, 1.8)]]


def test_the_sign_of_a_list_in_front_of_a_table_is_no_cell(tmp_path: Path) -> None:
    lines = table("#Threads;Runtime", "1;1m40.0s", "2;0m52.6s", "4;0m28.57s").splitlines()
    (found,) = audited(tmp_path, "\n".join(["6.  " + lines[0], *("    " + line for line in lines[1:])]) + "\n")
    assert speedups(found) == ONCE


def test_a_rate_proportional_to_one_per_device_is_per_device(tmp_path: Path) -> None:
    rows = ("4;40000;10000;90.0", "8;52000;6500;58.5")
    (found,) = audited(tmp_path, table("GPUs;tok/s;tok/s/GPU;TFLOPS", *rows))
    assert (speedups(found), kinds([found])) == ([(4, 1.0), (8, 1.3)], [])


def test_a_speedup_that_another_row_is_the_unit_of_names_this_row(tmp_path: Path) -> None:
    text = table("Strategy;1 GPU;4 GPUs", "DDP;1.0x;3.8x", "DDP + compile;1.5x;5.7x")
    _, other = audited(tmp_path, text)
    (remark,) = other.remarks
    assert "another run, as line 3 with 1x is" in remark.sentence


def test_labels_in_the_middle_of_their_rows_are_of_all_of_them(tmp_path: Path) -> None:
    rows = (";;8;50%", ";A;16;48%", ";;32;45%", ";;8;52%", "Big;B;16;51%", ";;32;50%")
    found = audited(tmp_path, table("Model;Method;GPUs;MFU", *rows))
    assert [one.case for one in found] == ["A", "B"]
    assert [speedups(one)[-1] for one in found] == [(32, 3.6), (32, 3.85)]
    assert kinds(found) == []


def test_a_block_without_a_label_in_its_middle_is_a_series_of_its_own(tmp_path: Path) -> None:
    rows = (";8;50%", "A;16;48%", ";8;52%", "B;16;51%", ";8;20%", ";16;18%")
    found = audited(tmp_path, table("Method;GPUs;MFU", *rows))
    assert [(one.case, speedups(one)[-1]) for one in found] == [
        ("A", (16, 1.92)),
        ("B", (16, 1.96)),
        ("not named", (16, 1.8)),
    ]


def test_a_first_block_without_a_label_keeps_none(tmp_path: Path) -> None:
    rows = (";1;100", ";8;700", "amp;1;200", "amp;8;1300")
    found = audited(tmp_path, table("Precision;GPUs;img/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (8, 7.0)], [(1, 1.0), (8, 6.5)]]


def test_a_speed_in_a_compound_word_is_no_caption_of_a_rate(tmp_path: Path) -> None:
    text = "s/step, best of two runs of 300 steps.\nA is the high-speed build, B is that of the release.\n\n"
    found = audited(tmp_path, text + table("nodes (GPUs);A;B", "1 (4);0.08;0.09", "2 (8);0.05;0.06"))
    assert [speedups(one) for one in found] == [[(4, 1.0), (8, 1.6)], [(4, 1.0), (8, 1.5)]]


def test_a_share_and_a_peak_beside_a_rate_are_no_rates(tmp_path: Path) -> None:
    rows = ("MFU;40%;20%", "Hardware peak;900 TFLOPS;3600 TFLOPS", "Achieved;360 TFLOPS;720 TFLOPS")
    (found,) = audited(tmp_path, table("Quantity;2 GPU;8 GPU", *rows))
    assert speedups(found) == [(2, 1.0), (8, 2.0)]


def test_models_of_several_sizes_are_no_series(tmp_path: Path) -> None:
    rows = ("Base;1;1.0", "Large;2;3.0", "XL;4;50.0")
    found = audited(tmp_path, table("Model dimension;Num. GPUs;Hours per epoch", *rows))
    found += audited(tmp_path, table("Name;Num. parameters;GPUs;Hours per epoch", *(f"x;{row}" for row in rows)))
    assert kinds(found) == ["confounded"] * 2


def test_times_below_the_name_of_a_rate_are_times(tmp_path: Path) -> None:
    rows = ("1 rank;100 min;20.0 min", "2 ranks;52.6 min;12.0 min", "4 ranks;28.57 min;8.0 min")
    first, second = audited(tmp_path, table("Ranks;Unit tests;Ops", *rows))
    assert speedups(first) == ONCE
    assert speedups(second) == [(1, 1.0), (2, 1.67), (4, 2.5)]


def test_tokens_per_second_are_not_checked_against_a_batch_of_samples(tmp_path: Path) -> None:
    rows = ("1;64;160;60", "2;128;145;88")
    (found,) = audited(tmp_path, table("GPUs;Global batch;s/it;Throughput (tokens/sec)", *rows))
    assert kinds([found]) == []
    (found,) = audited(tmp_path, table("GPUs;Global batch;s/it;samples/sec", "1;64;160;0.40", "2;128;145;0.70"))
    assert kinds([found]) == ["throughput against step time"]


def test_times_of_one_and_of_two_devices_in_rows_of_a_metric(tmp_path: Path) -> None:
    rows = ("1 GPU time;100.0 s", "2 GPU DDP time;52.6 s", "Speedup;1.90x")
    (found,) = audited(tmp_path, table("Metric;Value", *rows))
    assert speedups(found) == ONCE[:2]
    assert found.checked.speedups == 1


def test_seconds_per_unit_of_any_work(tmp_path: Path) -> None:
    rows = ("1;100.0", "2;52.6", "4;28.57")
    (found,) = audited(tmp_path, table("GPUs;Seconds/NFE", *rows))
    assert speedups(found) == ONCE


def test_numbers_over_a_second_below_throughput_stay_a_rate(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Workers;Throughput", "1;410/s", "2;779/s", "4;1435/s"))
    assert speedups(found) == ONCE


def test_factors_below_steps_per_second_are_speedups(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Method;GPUs;Steps/s", "Single;1;1.0x", "DDP;4;3.6x"))
    assert [(row.gpus, row.number("printed_speedup")) for row in found.source.rows] == [(1, 1.0), (4, 3.6)]


def test_an_efficiency_of_weak_scaling_beside_a_strong_speedup_is_of_another_run(tmp_path: Path) -> None:
    rows = ("A;100 ms/step;52.6 ms/step;1.90;0.99", "B;10 ms/step;6.25 ms/step;1.60;-")
    found = audited(tmp_path, table("Work;One GPU;Two GPUs;Strong speedup;Weak efficiency", *rows))
    assert (kinds(found), [one.checked.speedups for one in found]) == ([], [1, 1])


def test_efficiencies_in_percent_as_a_word(tmp_path: Path) -> None:
    rows = ("1;0.064 s;8160.0;--", "2;0.107 s;4896.0;30.0 percent", "4;0.170 s;3084.0;9.4 per cent")
    (found,) = audited(tmp_path, table("Ranks;Elapsed;MCUPS;Efficiency", *rows))
    assert found.checked.efficiencies == 2
    assert speedups(found)[-1] == (4, 0.38)


def test_an_enclosing_heading_says_the_kind_of_scaling(tmp_path: Path) -> None:
    rows = table("GPUs;Step time", "1;322 ms", "2;322 ms", "4;5777 ms")
    (found,) = audited(tmp_path, f"# Strong-scaling study\n\n## Step-time decomposition\n\n{rows}")
    assert speedups(found) == [(1, 1.0), (2, 1.0), (4, 0.06)]
    (found,) = audited(tmp_path, f"# Strong scaling\n\n## Weak scaling\n\n{rows}")
    assert speedups(found) == [(1, 1.0), (2, 2.0), (4, 0.22)]
