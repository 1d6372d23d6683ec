"""An audit calls the devices of a table as its header does: cores, nodes, GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import audit_view


@pytest.mark.parametrize(
    ("header", "counted", "baseline"),
    [
        ("num_gpus", "GPUs", "1 GPU"),
        ("# of processes", "processes", "1 process"),
        ("nprocs", "processes", "1 process"),
        ("Threads", "threads", "1 thread"),
        ("MPI ranks", "ranks", "1 rank"),
        ("Nodes", "nodes", "1 node"),
        ("#Machine", "nodes", "1 node"),
        ("Devices", "devices", "1 device"),
        ("World size", "devices", "1 device"),
    ],
)
def test_devices_are_called_as_the_header_calls_them(
    tmp_path: Path, header: str, counted: str, baseline: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{header},images/s\n1,410\n2,779\n4,1435\n", encoding="utf-8")
    audits, _ = audit_file(read_published(path), "table")
    (view,) = audit_view(audits)
    assert (view["counted"], view["base"]) == (counted, baseline)
