"""Numbers across that only a caption calls devices, and what a caption says of the numbers in brackets."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table

METHODS = ("DDP;14.2;55.1 (3.88);107.9 (7.60)", "DeepSpeed Z3;11.9;44.9 (3.77);86.6 (7.9)")


def captioned(caption: str) -> str:
    return f"{caption}\n\n" + table("Method;1;4;8", *METHODS)


@pytest.mark.parametrize(
    "caption",
    [
        "Throughput (sequences/s) on up to 8 A100 GPUs. Speedup in parentheses.",
        "Throughput (sequences/s) for different numbers of GPUs, speedup in brackets",
        "Sequences/s for various GPU counts.",
    ],
)
def test_a_caption_says_that_the_numbers_across_are_devices(tmp_path: Path, caption: str) -> None:
    found = audited(tmp_path, captioned(caption))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.88), (8, 7.6)], [(1, 1.0), (4, 3.77), (8, 7.28)]]
    assert kinds(found) == ["speedup"]  # 86.6 / 11.9 is 7.28


@pytest.mark.parametrize(
    "caption",
    [
        "Throughput (sequences/s) on 8 A100 GPUs",
        "Throughput (sequences/s) by batch size, on up to 8 GPUs",
        "Throughput (sequences/s) on up to 64 GPUs",
    ],
)
def test_numbers_across_that_may_be_something_else_are_not_devices(tmp_path: Path, caption: str) -> None:
    path = tmp_path / "table.md"
    path.write_text(captioned(caption), encoding="utf-8")
    with pytest.raises(UserError, match="if 1, 4, 8 are numbers of devices"):
        read_published(path)


def test_deepspeed_is_no_speed() -> None:
    assert meaning_of("DeepSpeed Z3").role == "ignore"
    assert meaning_of("stepSpeed").role == "throughput"


def test_durations_in_words_have_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(
        table("GPUs;epoch time;speedup", "1;10m03s;1", "2;5m12s;1.93", "4;2m44s;3.68"), encoding="utf-8"
    )
    assert read_published(path).tables[0].unknown_units == frozenset()
