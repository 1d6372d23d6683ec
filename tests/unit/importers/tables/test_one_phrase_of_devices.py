"""Phrases of devices, in any order of their parts: one number wherever they stand, or none if they disagree."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.made_pages import KINDS, OF_DEVICES, OF_NODES
from bench.pages import verdicts
from scalestudy.errors import UserError
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.counts.numerals import in_digits, spelled
from scalestudy.importers.counts.phrases import phrase_in
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.reading import read_published
from test_printed_habits import audited, speedups, table

NO_PHRASE = (
    "{nodes}n{each}g",
    "{nodes}x{each}",
    "{nodes} nodes, {n} GPUs",
    "{nodes} nodes / {n} GPUs",
    "{nodes} nodes - {n} GPUs",
)
"""Forms that may be of something else, or of the devices of each node."""


def words(text: str) -> str:
    return in_digits(spelled(plain(text)))


@pytest.mark.parametrize("form", [*OF_DEVICES, *OF_NODES])
def test_a_phrase_is_one_number_wherever_it_stands(form: str) -> None:
    for kind in KINDS:
        for nodes, each in ((2, 8), (16, 4)):
            count = nodes * each
            text = form.format(n=count, nodes=nodes, each=each, kind=kind)
            found = [count_or_none(text), count_or_none(f"DDP ({text})"), count_or_none(f"Results on {text}")]
            across = [one for header in (text, f"img/s ({text})") if (one := count_of_header(header))]
            if form not in NO_PHRASE:
                assert {one.gpus for one in (*found, *(one for one, _ in across)) if one} == {count}, text
                assert found[0] and len(across) == 2, text
            if (phrase := phrase_in(words(text))) and "{kind}" in form:
                assert phrase.hardware.lower().removeprefix("nvidia ") == kind.lower(), text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "2 nodes x 4 GPUs = 16 GPUs",
            "8 GPUs (2x8 nodes)",
            "4x A100, 8 GPUs",
            "2x A100, 4x H100",
            "8 (3 nodes)",
        ),
        *("ResNet-50 (2 nodes)", "256x256", "2x4", "batch 32", "A100", "v1.5", "Table 3", "10 GPUs on 3 nodes"),
    ],
)
def test_parts_that_disagree_or_are_of_something_else_are_no_phrase_of_all_devices(text: str) -> None:
    phrase = phrase_in(words(text))
    assert phrase is None or not phrase.is_whole(words(text))


@pytest.mark.parametrize(
    ("headers", "sizes"),
    [
        (("2 x 4", "4 x 4", "8 x 4"), [8, 16, 32]),
        (("2n8g", "4n8g", "8n8g"), [16, 32, 64]),
        (("img/s (1x8)", "img/s (2x8)", "img/s (4x8)"), [8, 16, 32]),
    ],
)
def test_products_across_are_not_their_first_factor(
    tmp_path: Path, headers: tuple[str, ...], sizes: list[int]
) -> None:
    (found,) = audited(tmp_path, "Throughput (img/s):\n\n" + table(f"Model;{';'.join(headers)}", "A;410;779;1435"))
    assert [gpus for gpus, _ in speedups(found)] == sizes


def test_products_below_batches_are_no_devices(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(
        "AlexNet, ms / batch:\n\n" + table("total-BatchSize;128 * 4;256 * 4", "A;347;622", "B;377;675")
    )
    with pytest.raises(UserError):
        read_published(path)


def test_a_model_that_begins_as_efficiency_is_a_model(tmp_path: Path) -> None:
    found = audited(
        tmp_path, table("Model;1 GPU;4 GPUs", "EfficientNet-B0;410 img/s;1435 img/s", "B;100 img/s;390 img/s")
    )
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)], [(1, 1.0), (4, 3.9)]]


def test_a_sequence_length_beside_a_column_of_gpus_is_no_number_of_devices(tmp_path: Path) -> None:
    rows = ["2k;1;100", "2k;2;52.6", "8k;1;400", "8k;2;210.5"]
    found = audited(tmp_path, table("Seq len;GPU;Time (s)", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)]] * 2


@pytest.mark.parametrize(
    "lines",
    [
        ("8 = 1x8 -> 410 img/s", "16 = 2x8 -> 779 img/s"),
        ("1 node - 8 GPUs — 410 img/s", "2 nodes - 16 GPUs — 779 img/s"),
        ("1 node = 8 GPUs -> 410 img/s", "2 nodes = 16 GPUs -> 779 img/s"),
        ("GPUs: 8 -> 410 img/s", "GPUs: 16 -> 779 img/s"),
        ("RTX 2080 Ti - 8 GPUs: 410 img/s", "RTX 2080 Ti - 16 GPUs: 779 img/s"),
    ],
)
def test_signs_within_the_devices_of_an_item_separate_nothing(tmp_path: Path, lines: tuple[str, ...]) -> None:
    (found,) = audited(tmp_path, "Training:\n\n" + "".join(f"- {line}\n" for line in lines))
    assert speedups(found) == [(8, 1.0), (16, 1.9)]


def test_sections_below_products_are_joined(tmp_path: Path) -> None:
    text = "".join(
        f"### {name}\n\n" + table("Model;img/s", f"A;{a}", f"B;{b}") + "\n"
        for name, a, b in (("1x8", 410, 100), ("2x8", 779, 190))
    )
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(8, 1.0), (16, 1.9)]] * 2


def test_combined_pages_are_read_as_they_are_meant() -> None:
    said = [(one, page.parts, why) for page, one, why in verdicts(range(120))]
    assert [found for found in said if found[0] in ("misread", "in part")] == []
    assert sum(one == "read" for one, *_ in said) >= 117
