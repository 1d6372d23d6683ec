"""Nodes with the devices of each, as people write them: the number of all devices, and never another."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from scalestudy.importers.counts.cells import Count
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.labels import count_or_none
from test_printed_habits import audited, speedups, table

NODES = ("nodes", "machines", "servers", "hosts")
DEVICES = ("GPUs", "A100s", "A100", "H100 GPUs", "x A100", "TPUs", "cards")
FORMS = (
    *("{n} {node} ({e} {d} each)", "{n} {node} ({e} {d}/node)", "{n} {node} ({e} {d} per node)"),
    *(
        "{n} {node} with {e} {d} each",
        "{n} {node} of {e} {d}",
        "{n} {node} x {e} {d}",
        "{n} {node} \u00d7 {e} {d}",
    ),
    *("{n} {node}, {e} {d}/node", "{n} {node}, {e} {d} per node", "{n} {node} \u00d7 {e} {d}/node"),
    *("({n} {node}, {e} {d} each)", "{e} {d} \u00d7 {n} {node}", "{n}-{node} ({e} {d} per node)"),
    *("{e} {d}/node x {n} {node}", "{e} {d} per node, {n} {node}", "{e} {d} on each of {n} {node}"),
)


def in_header(text: str) -> Count | None:
    found = count_of_header(text)
    return found[0] if found else None


@pytest.mark.parametrize("form", FORMS)
def test_no_form_is_another_number_of_devices(form: str) -> None:
    for (nodes, each), node, devices in product(((2, 4), (16, 8)), NODES, DEVICES):
        text = form.format(n=nodes, e=each, node=node, d=devices)
        counts = [
            in_header(text),
            in_header(f"{text} time (s)"),
            count_or_none(text),
            count_or_none(f"DDP {text}"),
        ]
        assert {count.gpus for count in counts if count} == {nodes * each}, text
        assert None not in (counts[0], counts[3]), text


@pytest.mark.parametrize("form", [form for form in FORMS if not form.startswith("(")])
def test_cells_and_headers_of_such_nodes_are_devices(tmp_path: Path, form: str) -> None:
    one, two = (form.format(n=nodes, e=8, node="nodes", d="GPUs") for nodes in (2, 4))
    for text in (
        table("Setup;img/s", f"{one};410", f"{two};779"),
        table(f"Model;{one};{two}", "A;410 img/s;779 img/s"),
    ):
        (found,) = audited(tmp_path, text)
        assert speedups(found) == [(16, 1.0), (32, 1.9)]


@pytest.mark.parametrize(
    ("text", "gpus"),
    [("4 GPUs on 2 nodes", 4), ("2 nodes, 8 GPUs", 8), ("2 nodes (16 GPUs)", 16), ("8 x A100", 8), ("4 nodes", 4)],
)
def test_a_total_number_stays_as_it_is(text: str, gpus: int) -> None:
    found = count_or_none(text)
    assert found and found.gpus == gpus


def test_total_in_front_of_devices_says_no_more() -> None:
    found = count_or_none("DDP 8 total GPUs on 2 nodes")
    assert found and found.gpus == 8
