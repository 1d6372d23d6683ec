"""Machines beside a number of devices: names of hosts, and how many there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_plain_tables import read, series


def table(header: str, names: tuple[str, str, str]) -> str:
    rows = "".join(
        f"| {name} | {threads} | {time} |\n"
        for name, threads, time in zip(names, (4, 8, 16), (62.1, 32.4, 17.3), strict=True)
    )
    return f"| {header} | Threads | Time (s) |\n|---|---|---|\n{rows}"


SERIES = {"table": [(4, 1.0), (8, 1.92), (16, 3.59)]}


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("host", ("n012", "n012", "n014")),
        ("Node", ("node12", "node12", "node13")),
        ("Hosts", ("cn03", "cn03", "cn07")),
        ("Instance", ("1", "2", "4")),
        ("Machine", ("2", "4", "8")),
    ],
)
def test_names_of_hosts_and_numbers_of_machines_are_no_hardware(
    tmp_path: Path, header: str, names: tuple[str, str, str]
) -> None:
    (audit,), _, _ = read(tmp_path, table(header, names))
    assert series([audit]) == SERIES
    assert not audit.remarks


def test_numbers_of_machines_are_nodes(tmp_path: Path) -> None:
    (audit,), _, _ = read(tmp_path, table("Instance", ("1", "2", "4")))
    assert [row.number("nodes") for row in audit.source.rows] == [1, 2, 4]


def test_names_of_hosts_are_no_numbers_of_nodes_beside_these(tmp_path: Path) -> None:
    text = "host,nodes,ranks,time_s\nn012,1,24,812.4\nn012,2,48,417.5\nn014,4,96,217.1\n"
    (audit,), _, _ = read(tmp_path, text)
    assert [(row.number("nodes"), row.gpus) for row in audit.source.rows] == [(1, 24), (2, 48), (4, 96)]


@pytest.mark.parametrize(
    "names", [("H100", "H100", "H200"), ("dgx-1", "dgx-1", "dgx-2"), ("gpu01", "gpu01", "knl03")]
)
def test_names_of_kinds_of_machines_are_hardware(tmp_path: Path, names: tuple[str, str, str]) -> None:
    audits, _, _ = read(tmp_path, table("Machine", names))
    assert series(audits) != SERIES or any(audit.remarks for audit in audits)


def test_numbers_of_problems_are_labels(tmp_path: Path) -> None:
    rows = "".join(f"| {one} | {n} | {10 * one / n} |\n" for one in (1, 2) for n in (1, 2))
    audits, _, _ = read(tmp_path, f"| Instance | Threads | Time (s) |\n|---|---|---|\n{rows}")
    assert series(audits) == {"instance 1": [(1, 1.0), (2, 2.0)], "instance 2": [(1, 1.0), (2, 2.0)]}
