"""A line of text does not end between a number and its unit."""

from __future__ import annotations

import pytest
from scalestudy.cli.lines import wrapped
from scalestudy.publish.templates import wrap
from scalestudy.registry.words.lines import filled


@pytest.mark.parametrize(
    "kept", ["94.6 %", "[28, 86] %", "470 ms", "12 min", "7.5 GiB", "10 Gbit/s", "257 samples/s", "(one run) s"]
)
def test_a_number_keeps_its_unit(kept: str) -> None:
    text = f"The efficiency of the step is {kept}, and that is all that is known of it."
    for width in range(16, 60):
        lines = filled(text, width).splitlines()
        assert max(map(len, lines)) <= width
        assert " ".join(lines) == text
        unit = kept.split()[-1]
        assert not any(line.startswith((f"{unit},", f"{unit} ")) for line in lines), (width, lines)


@pytest.mark.parametrize("text", ["on 4 devices", "in 2 steps of it", "8 GPUs", "3 sites", "1 x"])
def test_other_words_behind_a_number_may_be_on_the_next_line(text: str) -> None:
    number = text.split().index(next(word for word in text.split() if word.isdigit()))
    first = " ".join(text.split()[: number + 1])
    assert filled(text, len(first)).splitlines()[0] == first


def test_reports_and_the_terminal_use_it() -> None:
    text = f"{'word ' * 15}94.6 % of it"
    assert "\n94.6 %" in wrap(text)
    assert "94.6 %" in wrapped(text).splitlines()[1]
