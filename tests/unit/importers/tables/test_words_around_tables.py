"""What only the text around a table says: devices of a node, what a header means, the batch, the unit."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.columns.batch_in_words import scaling_by_batch
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.raw import RawTable
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table

EACH = (
    "Each node has 8 V100.",
    "All nodes are equal, with 8 GPUs per node.",
    "We used machines of one cluster. One node has 8 A100 GPUs.",
)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("words", EACH)
@pytest.mark.parametrize(
    "rows",
    [
        ("Nodes;Samples/s", "1;50", "2;95", "4;175"),
        ("Network;1 node;2 nodes;4 nodes", "TCP;50 img/s;95 img/s;175 img/s"),
    ],
)
def test_a_sentence_says_what_a_node_has(rows: tuple[str, ...], words: str, above: bool, tmp_path: Path) -> None:
    own = table(*rows)
    other = "The code is in `train.py`.\n"
    text = f"{words}\n\n{other}\n{own}" if above else f"{own}\n{other}\n{words}\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(8, 1.0), (16, 1.9), (32, 3.5)]


def test_two_numbers_of_devices_of_a_node_say_nothing(tmp_path: Path) -> None:
    text = "The old nodes: 4 GPUs per node. The new ones: 8 GPUs per node.\n\nMore text.\n\n"
    (found,) = audited(tmp_path, text + table("Nodes;Samples/s", "1;50", "2;95", "4;175"))
    assert [row.gpus for row in found.source.rows] == [1, 2, 4]


@pytest.mark.parametrize(
    "words",
    [
        "`w` = world size, `b` = per-rank batch",
        "- w: world size\n- b: the batch size per GPU",
        "Here *w* is the number of GPUs, and *b* is the batch per GPU.",
    ],
)
def test_the_text_defines_short_headers(words: str, tmp_path: Path) -> None:
    own = table("w;b;img/s", "1;64;50", "2;64;95", "4;64;175")
    (found,) = audited(tmp_path, f"{words}\n\n{own}")
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert any("'w' is" in note for note in found.source.notes)


@pytest.mark.parametrize(
    "words", ["(2 images per GPU)", "Batch size is 16 on each GPU.", "16 samples on each GPU"]
)
def test_the_batch_of_a_device_in_words_is_weak_scaling(words: str, tmp_path: Path) -> None:
    own = table("Backend;1 GPU s/iter;4 GPU s/iter", "nccl;0.40;0.40", "gloo;0.40;0.80")
    found = audited(tmp_path, f"{own}\n{words}\n")
    assert [speedups(one)[-1] for one in found] == [(4, 4.0), (4, 2.0)]


def test_a_rate_per_device_is_no_batch() -> None:
    raw = RawTable(1, ("GPUs", "it/s"), (), caption="It trains 20 images per GPU per second")
    assert scaling_by_batch(raw, [meaning_of(name) for name in raw.header]) == ""


def test_a_caption_says_what_a_time_is_of(tmp_path: Path) -> None:
    own = table("GPU;batch size;time", "0;16;400 s", "0,1;32;400 s", "0,1,2,3;64;800 s")
    (found,) = audited(tmp_path, f"Time for 1000 iterations:\n\n{own}")
    assert [row.gpus for row in found.source.rows] == [1, 2, 4]
    assert [row.numbers["step_time_s"].value for row in found.source.rows] == [0.4, 0.4, 0.8]
    assert speedups(found) == [(1, 1.0), (2, 2.0), (4, 2.0)]


def test_a_caption_has_the_unit_of_devices_across(tmp_path: Path) -> None:
    own = table("Size;8;16;32", "1B;50k;95k;175k", "7B;10k;19k;35k")
    found = audited(tmp_path, f"Scaling from 8 to 32 GPUs for different sizes (tokens/sec):\n\n{own}")
    eight = [(8, 1.0), (16, 1.9), (32, 3.5)]
    assert [(one.case, speedups(one)) for one in found] == [("1B", eight), ("7B", eight)]


def test_a_line_of_devices_below_a_title_is_the_header(tmp_path: Path) -> None:
    own = "| | Speed (img/s) | | |\n|---|---|---|---|\n| **GPUs** | **1** | **2** | **4** |\n"
    (found,) = audited(tmp_path, f"{own}| DDP | 50 | 95 | 175 |\n")
    assert speedups(found) == ONCE


@pytest.mark.parametrize(
    ("header", "labels"),
    [
        ("Platform;Processing units", ("POD-4;4 IPUs", "POD-8;8 IPUs", "POD-16;16 IPUs")),
        ("Machine;Cores", ("Cloud TPU v3-8;8", "Cloud TPU v3-16;16", "Cloud TPU v3-32;32")),
        ("System;#Acc", ("Pod4;4", "Pod8;8", "Pod16;16")),
    ],
)
def test_a_machine_with_its_devices_in_its_name_is_one_hardware(
    header: str, labels: tuple[str, ...], tmp_path: Path
) -> None:
    rows = [f"{label};{rate}" for label, rate in zip(labels, (50, 95, 175), strict=True)]
    (found,) = audited(tmp_path, table(f"{header};img/s", *rows))
    assert [speedup for _, speedup in speedups(found)] == [1.0, 1.9, 3.5]
    assert kinds([found]) == []


def test_one_device_is_the_baseline_of_all_backends(tmp_path: Path) -> None:
    own = table("Setup;img/s;speedup", "single GPU;50;1.0", "2 GPUs, gloo;80;1.6", "2 GPUs, nccl;95;1.9")
    found = audited(tmp_path, own)
    assert [(one.case, speedups(one)[-1]) for one in found] == [("gloo", (2, 1.6)), ("nccl", (2, 1.9))]
    assert kinds(found) == []


def test_the_cores_of_a_host_are_no_scale_of_gpus(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Device;Time (s)", "CPU (8 cores);500", "1 x T4;60", "2 x T4;35"))
    assert (speedups(found), kinds([found])) == ([(1, 1.0), (2, 1.71)], [])


def test_steps_per_worker_beside_those_of_all(tmp_path: Path) -> None:
    rows = ("1;8.0;8.0", "2;7.6;15.2", "4;7.0;28.0")
    (found,) = audited(tmp_path, table("Workers;steps/s per worker;total steps/s", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_the_heading_of_another_table_says_nothing_of_a_table(tmp_path: Path) -> None:
    own = "| GPUs | ns/day |\n|---|---|\n| 4 | 44.3 |\n| 8 | 70.4 |\n"
    path = tmp_path / "README.md"
    text = f"# A\n\n## Weak scaling\n\n### Results\n\n{own}\n## Other\n\n{own.replace('44', '30')}"
    path.write_text(text, encoding="utf-8")
    assert [table.scaling for table in read_published(path).tables] == ["weak", ""]
