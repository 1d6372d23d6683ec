"""The animated picture of a terminal (site/cast.py), of real commands in a real shell, and in a browser."""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from browser import Page, browser, page  # noqa: F401
from conftest import ROOT

SVG = "{http://www.w3.org/2000/svg}"
COUNTING = "for i in 1 2 3; do printf '\\rrun %s of 3' $i; sleep 0.5; done; printf '\\r\\033[2K<done> & 100 %%\\n'"
"""A command that repaints a line, as the screen of a study does, and prints what XML must escape."""


@pytest.fixture(scope="module")
def cast() -> ModuleType:
    """The script, as a module."""
    found = importlib.util.spec_from_file_location("site_cast", ROOT / "site/cast.py")
    assert found and found.loader
    made = importlib.util.module_from_spec(found)
    sys.modules["site_cast"] = made
    found.loader.exec_module(made)
    return made


def drawn(picture: str, frame: int) -> list[str]:
    """Return the texts of one frame of a picture, line by line."""
    root = ElementTree.fromstring(picture)
    stored = {
        group.get("id"): "".join(text.text or "" for text in group.iter(f"{SVG}text"))
        for group in root.iter(f"{SVG}g")
        if group.get("id", "").startswith("l")
    }
    (frames,) = (group for group in root.iter(f"{SVG}g") if group.get("id") == "frames")
    return [stored[use.get("href", "#")[1:]] for use in list(frames)[frame]]


def test_every_screen_of_a_command_is_in_the_picture(cast: ModuleType, tmp_path: Path) -> None:
    shown = cast.frames(cast.record(COUNTING, tmp_path))
    picture = cast.svg(shown, "counting")
    screens = [drawn(picture, index) for index in range(len(shown))]
    for number in "123":
        assert any(f"run {number} of 3" in screen for screen in screens)
    assert screens[-1][-2:] == ["<done> & 100 %", "$"]
    assert cast.text_of(shown[-1].screen) == screens[-1]
    assert not any("run" in line for line in screens[-1][2:])


def test_a_long_wait_is_shortened_and_all_of_it_fits(cast: ModuleType) -> None:
    printed = [cast.Printed(float(second), f"line {second}\r\n") for second in range(200)]
    printed += [cast.Printed(10_000.0, "end")]
    shown = cast.frames(printed)
    assert shown[-1].at_s == pytest.approx(cast.LONGEST_S, abs=0.01)
    assert cast.text_of(shown[-1].screen)[-1] == "end"
    gaps = [after.at_s - before.at_s for before, after in pairwise(shown)]
    assert min(gaps) >= cast.SHORTEST_S * 0.99
    short = cast.frames([cast.Printed(0.0, "a"), cast.Printed(2.5, "b")])
    assert short[-1].at_s == 2.5, "a short recording keeps its times"


def test_paths_of_this_machine_are_not_in_it(cast: ModuleType) -> None:
    """Also where a path was printed in several pieces."""
    printed = [cast.Printed(0.0, "log: /home/a"), cast.Printed(0.1, "nna/study/x.log, /home/anna/study")]
    renamed = cast.renamed(printed, {"/home/anna/study": "~/study"})
    assert "".join(one.text for one in renamed) == "log: ~/study/x.log, ~/study"
    assert [one.at_s for one in renamed] == [0.0, 0.1]


def test_it_plays_in_a_browser_and_keeps_still_for_reduced_motion(
    cast: ModuleType,
    page: Page,  # noqa: F811
    tmp_path: Path,
) -> None:
    shown = cast.frames([cast.Printed(second, f"line {second}\r\n") for second in (0.0, 1.0, 2.0)])
    path = tmp_path / "cast.html"
    path.write_text(cast.svg(shown, "three lines"), encoding="utf-8")
    page.open(path)
    shift = "new DOMMatrix(getComputedStyle(document.getElementById('frames')).transform).f"
    seek = "document.getAnimations().forEach(one => { one.pause(); one.currentTime = %d })"
    height = cast.LINE * 3
    for milliseconds, frame in ((500, 0), (1500, 1), (2500, 2), (10**6, 2)):
        page.get(seek % milliseconds)
        assert page.get(shift) == -frame * height
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    page.open(path)
    assert page.get("document.getAnimations().length") == 0
    assert page.get(shift) == -2 * height
    assert page.problems == []
