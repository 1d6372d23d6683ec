"""Options that take several words after one flag, as rules and documentation write them."""

from __future__ import annotations

import pytest
from scalestudy.cli.command import Several, repeated

OPTIONS = {
    "--scales": Several(["--scales"]),
    "--study": Several(["--study"], more=lambda word: word.endswith(".yaml")),
}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("--scales 1x2 1x4", "--scales 1x2 --scales 1x4"),
        ("--scales 1x2 --scales 1x4 2x4", "--scales 1x2 --scales 1x4 --scales 2x4"),
        ("--scales 1x2 1x4 --out x y", "--scales 1x2 --scales 1x4 --out x y"),
        ("--scales=1x2 y", "--scales=1x2 y"),
        ("--scales 1x2 -- y z", "--scales 1x2 -- y z"),
        ("--scales -1 y", "--scales -1 --scales y"),
        ("--scales", "--scales"),
        ("--study a.yaml b.yaml key", "--study a.yaml --study b.yaml key"),
        ("--study a key b.yaml", "--study a key b.yaml"),
        ("key --study a.yaml -n", "key --study a.yaml -n"),
    ],
)
def test_the_flag_is_repeated_before_each_word(given: str, made: str) -> None:
    assert repeated(given.split(), OPTIONS) == made.split()
