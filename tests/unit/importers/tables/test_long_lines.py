"""Lines of one sign, as rules and bars are drawn: the patterns of tables and lists read them at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from scalestudy.importers.markup.aligned import aligned_tables
from scalestudy.importers.markup.listed import ITEM
from scalestudy.importers.numbers.repeats import mean_of_repeats


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """End a test after 20 seconds of CPU time. Each case took minutes or more, and takes milliseconds."""
    before = signal.signal(signal.SIGVTALRM, lambda *_: pytest.fail("not read within 20 s of CPU time"))
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("sign", ["-", "=", "_"])
def test_a_rule_with_a_word_at_its_end(sign: str) -> None:
    """It is no rule, which the pattern finds only at its end."""
    lines = [f"{sign * 1900} end"] * 40
    assert list(aligned_tables(lines, set(), only=True)) == []


def test_a_list_item_with_a_wide_gap() -> None:
    assert all(ITEM.fullmatch(f"{' ' * 480}{number}") is None for number in range(40))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("," * 300, "," * 300),
        ("1," * 150 + "2", "1," * 150 + "2"),
        ("12.1, 12.3, 12.2 -> 12.2", "12.2"),
        ("12.1 ms / 12.3 ms = 12.2 ms", "12.2 ms"),
        ("310 | 316 mean 313", "313"),
        ("12.1 -> 12.2", "12.1 -> 12.2"),
        ("a, b -> 2", "a, b -> 2"),
    ],
)
def test_repeats_before_their_mean(text: str, read: str) -> None:
    assert mean_of_repeats(text) == read
