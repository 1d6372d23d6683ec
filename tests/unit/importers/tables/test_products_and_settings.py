"""Devices that are products of columns, and the sizes and settings beside them, which are no devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.devices.counted import counted_in
from test_plain_tables import read, series


@pytest.mark.parametrize(
    ("header", "noun"), [("ppn", "processes"), ("tasks-per-node", "tasks"), ("MPI ranks / node", "ranks")]
)
def test_processes_of_each_node_are_multiplied_by_the_nodes(tmp_path: Path, header: str, noun: str) -> None:
    text = f"""
| nodes | {header} | walltime |
|---|---|---|
| 1 | 1 | 1:02:40 |
| 1 | 12 | 0:06:35 |
| 2 | 12 | 0:03:31 |
| 4 | 12 | 0:01:59 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (12, 9.52), (24, 17.82), (48, 31.6)]}
    assert counted_in(audit.source) == noun


def test_tasks_of_a_node_beside_the_devices_of_all_do_not_count(tmp_path: Path) -> None:
    text = """
| nodes | ppn | GPUs | time (s) |
|---|---|---|---|
| 1 | 8 | 4 | 410 |
| 2 | 8 | 8 | 215 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert [scale.row.gpus for scale in audit.table.scales] == [4, 8]
    assert not audit.remarks


VASP = """
{words}

| Nodes | NCORE | LOOP+ (s) | Speedup |
|---|---|---|---|
| 1 | 6 | 984.2 | 1.00 |
| 2 | 6 | 518.9 | 1.90 |
| 4 | 12 | 281.4 | 3.50 |
"""


def test_ncore_of_vasp_beside_nodes_is_a_setting(tmp_path: Path) -> None:
    (audit,), _, _ = read(tmp_path, VASP.format(words="Silicon, KPAR=1"))
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.9), (4, 3.5)]}


def test_ncore_of_other_programs_counts(tmp_path: Path) -> None:
    text = VASP.format(words="Silicon").replace("LOOP+", "Time").replace("| 6 | 518", "| 12 | 518")
    (audit,), _, _ = read(tmp_path, text.replace("| 12 | 281", "| 24 | 281"))
    assert series([audit]) == {"table": [(6, 1.0), (12, 1.9), (24, 3.5)]}


def test_n_of_hpl_is_a_size_beside_its_grid_and_its_nodes(tmp_path: Path) -> None:
    text = """
| Nodes | N | NB | PxQ | Gflops |
|---|---|---|---|---|
| 1 | 70000 | 192 | 4x6 | 912.6 |
| 2 | 99000 | 192 | 6x8 | 1764.4 |
| 4 | 140000 | 192 | 8x12 | 3416.2 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(24, 1.0), (48, 1.93), (96, 3.74)]}
    assert not audit.remarks
    (audit,), _, _ = read(tmp_path, text.replace("PxQ", "Id"))
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.93), (4, 3.74)]}


def test_n_beside_nodes_may_be_the_number_of_all_devices(tmp_path: Path) -> None:
    text = "| Nodes | N | img/s |\n|---|---|---|\n| 1 | 8 | 410 |\n| 2 | 16 | 790 |\n| 4 | 32 | 1502 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert [scale.row.gpus for scale in audit.table.scales] == [8, 16, 32]


@pytest.mark.parametrize(("number", "devices"), [("8", [8, 16, 32]), ("4096", [1, 2, 4])])
def test_the_same_n_on_all_nodes_is_that_of_each_or_a_size(
    tmp_path: Path, number: str, devices: list[int]
) -> None:
    rows = "".join(f"| {nodes} | {number} | {rate} |\n" for nodes, rate in ((1, 410), (2, 790), (4, 1502)))
    (audit,), _, _ = read(tmp_path, f"| Nodes | N | img/s |\n|---|---|---|\n{rows}")
    assert [scale.row.gpus for scale in audit.table.scales] == devices


GRID = """
| N | {names} | Gflops |
|---|---|---|---|
| 18000 | 1 | 1 | 38.2 |
| 25000 | 1 | 2 | 74.9 |
| 36000 | 2 | 2 | 146.1 |
"""


def test_the_devices_of_hpl_are_its_rows_times_its_columns(tmp_path: Path) -> None:
    (audit,), _, _ = read(tmp_path, GRID.format(names="P | Q"))
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.96), (4, 3.82)]}
    assert counted_in(audit.source) == "processes"


def test_runs_of_hpl_with_several_blocks_are_several_series(tmp_path: Path) -> None:
    text = """
| N | NB | P | Q | Gflops |
|---|---|---|---|---|
| 18000 | 128 | 1 | 1 | 38.2 |
| 18000 | 256 | 1 | 1 | 39.9 |
| 18000 | 128 | 2 | 2 | 146.1 |
| 18000 | 256 | 2 | 2 | 150.8 |
"""
    audits, _, _ = read(tmp_path, text)
    assert list(series(audits).values()) == [[(1, 1.0), (4, 3.82)], [(1, 1.0), (4, 3.78)]]


def test_the_degree_of_model_parallelism_is_a_factor_like_tp(tmp_path: Path) -> None:
    text = """
| {names} | Tokens/s |
|---|---|---|
| 4 | 1 | 6840 |
| 4 | 2 | 13440 |
| 4 | 4 | 26210 |
"""
    (audit,), _, _ = read(tmp_path, text.format(names="MP | DP"))
    assert series([audit]) == {"table": [(4, 1.0), (8, 1.96), (16, 3.83)]}


def test_model_parallelism_beside_its_factors_is_their_product(tmp_path: Path) -> None:
    text = """
| TP | PP | MP | DP | Tokens/s |
|---|---|---|---|---|
| 2 | 2 | 4 | 1 | 6840 |
| 2 | 2 | 4 | 2 | 13440 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert [scale.row.gpus for scale in audit.table.scales] == [4, 8]
