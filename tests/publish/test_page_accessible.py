"""The page for readers who cannot see it well, have no mouse, have a narrow screen, or print it."""

from __future__ import annotations

import base64
from itertools import product
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from axe import VERSION, UnavailableError, package, violations
from browser import Page
from full_page import write_full_page

MARGIN = 0.39 * 72
"""Of a printed sheet, in points; Chromium's default is 0.4 inches."""
OPEN_ALL = "document.querySelectorAll('details').forEach(box => { box.open = %s; })"
# Controls that a reader can see now, in their order.
CONTROLS = """
window.controls = [...document.querySelectorAll('a[href], button, summary, [tabindex]')]
  .filter(one => one.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true}));
window.controls.length
"""
# The number of the control that has the focus, and whether the reader sees that.
FOCUSED = """
(() => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  const drawn = style.outlineStyle === 'solid' && style.outlineOffset === '2px';
  const seen = drawn && parseFloat(style.outlineWidth) >= 2;
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return [window.controls.indexOf(one), seen && inside];
})()
"""
# What is wider than the window and in no box that scrolls.
CUT = """
[...document.querySelectorAll('main *, nav, h1')].filter(one => {
  const box = one.getBoundingClientRect();
  if (!box.width || getComputedStyle(one).clipPath !== 'none' || box.right <= innerWidth + 0.5) return false;
  for (let at = one.parentElement; at; at = at.parentElement) {
    const around = at.getBoundingClientRect();
    const clipped = ['auto', 'scroll'].includes(getComputedStyle(at).overflowX);
    if (clipped && around.left >= 0 && around.right <= innerWidth + 0.5) return false;
    if (getComputedStyle(at).clipPath !== 'none') return false;
  }
  return true;
}).map(one => one.outerHTML.slice(0, 120))
"""

QUICK = ((1200, "light", True), (320, "dark", False))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_full_page(tmp_path_factory.mktemp("page"))


def shown(page: Page, file: Path, *, width: int, scheme: str = "light", opened: bool = True) -> None:
    """Open the page in a window of this width, with all of its parts open or closed."""
    page.resize(width)
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.open(file)
    page.get(OPEN_ALL % str(opened).lower())
    page.settle()


@pytest.mark.parametrize(
    ("width", "scheme", "opened"),
    [
        pytest.param(*view, marks=[] if view in QUICK else pytest.mark.slow)
        for view in product((1200, 320), ("light", "dark"), (True, False))
    ],
)
def test_axe_finds_no_violation(page: Page, file: Path, axe: str, width: int, scheme: str, opened: bool) -> None:
    shown(page, file, width=width, scheme=scheme, opened=opened)
    assert violations(page, axe) == []
    assert page.problems == []


def test_another_file_than_the_published_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="no npm here"):
        package(tmp_path)
    (tmp_path / f"axe-core-{VERSION}.tgz").write_bytes(b"x")
    with pytest.raises(AssertionError, match="its sha512 is"):
        package(tmp_path)


def test_axe_finds_what_is_wrong(page: Page, tmp_path: Path, axe: str) -> None:
    path = tmp_path / "bad.html"
    bad = "<p style='color: #aaa; background: #fff'>pale</p><img src='data:,x'><button></button>"
    fine = (
        "<h1>x</h1><table><tr><th scope='col'>x</th></tr><tr><td>y</td></tr></table><ul><li><a href='#'>x</a></ul>"
    )
    path.write_text(f"<!doctype html><html lang='en'><title>x</title><main>{fine}{bad}</main>")
    page.open(path)
    assert {line.split(":")[0] for line in violations(page, axe)} == {"color-contrast", "image-alt", "button-name"}


@pytest.mark.parametrize("width", [pytest.param(1200, marks=pytest.mark.slow), 320])
def test_tab_reaches_every_control_in_order_and_shows_where_it_is(page: Page, file: Path, width: int) -> None:
    shown(page, file, width=width, opened=False)
    count = page.get(CONTROLS)
    assert count > 300
    found = []
    for _ in range(count):
        tab(page)
        found.append(page.get(FOCUSED))
    assert [index for index, _ in found] == list(range(count))
    unseen = [index for index, seen in found if not seen]
    assert [page.get(f"window.controls[{index}].outerHTML.slice(0, 120)") for index in unseen] == []


def tab(page: Page) -> None:
    """Press Tab, without waiting for anything else."""
    for kind in ("rawKeyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)


def test_keys_open_a_part_follow_a_number_and_scroll_a_wide_box(page: Page, file: Path) -> None:
    shown(page, file, width=320, opened=False)
    page.get("document.querySelector('details.launches summary').focus()")
    page.press("Enter", 13, "\r")
    assert page.get("document.querySelector('details.launches').open") is True
    page.get("document.querySelector('td a[title]').focus()")
    page.press("Enter", 13, "\r")
    assert page.get("document.getElementById(decodeURIComponent(location.hash.slice(1))).open") is True
    assert page.get("document.querySelectorAll('[tabindex]').length") >= 4
    page.get("document.querySelector('figure [tabindex]').focus()")
    page.press("ArrowRight", 39)
    page.call("Runtime.evaluate", expression="new Promise(done => setTimeout(done, 400))", awaitPromise=True)
    assert page.get("document.querySelector('figure [tabindex]').scrollLeft") > 10
    assert page.get("document.querySelector('figure [tabindex]').getAttribute('aria-label').length") > 10
    page.resize(1200)
    page.settle()
    assert page.get("document.querySelectorAll('figure [tabindex]').length") == 0, "nothing is left to scroll"


@pytest.mark.parametrize(
    "width", [320, *(pytest.param(width, marks=pytest.mark.slow) for width in (400, 700, 768)), 1200]
)
def test_text_in_a_figure_is_never_smaller_than_nine_pixels(page: Page, file: Path, width: int) -> None:
    """A figure has 7 pt text at its own size, of which an image knows the width in pixels of 3/4 pt."""
    shown(page, file, width=width)
    images = "[...document.querySelectorAll('figure img')].filter(one => one.naturalWidth > 100)"
    drawn = page.get(f"{images}.map(one => 7 * one.getBoundingClientRect().width / (0.75 * one.naturalWidth))")
    assert len(drawn) >= 8
    assert min(drawn) >= 9
    boxes = f"{images}.map(one => one.parentElement.getBoundingClientRect().right)"
    assert max(page.get(boxes)) <= width, "what is wider scrolls in its box"
    assert page.get("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, pytest.param(400, marks=pytest.mark.slow)])
def test_a_narrow_window_cuts_nothing(page: Page, file: Path, width: int) -> None:
    shown(page, file, width=width)
    assert page.get("document.documentElement.scrollWidth") == width
    assert page.get(CUT) == []
    images = page.get(
        "[...document.querySelectorAll('figure:not(.wide) img')].map(one => one.getBoundingClientRect().width)"
    )
    assert images
    assert max(images) <= max(width, 340), (
        "in a phone's window; in a narrower one it scrolls, so that it is readable"
    )
    boxes = page.get("[...document.querySelectorAll('figure')].map(one => one.getBoundingClientRect().right)")
    assert max(boxes) <= width


def test_it_can_tell_a_table_that_is_cut(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "cut.html"
    path.write_text("<!doctype html><title>x</title><main><div id='a' style='width: 900px'>x</div></main>")
    page.resize(400)
    page.open(path)
    assert page.get(CUT) == ['<div id="a" style="width: 900px">x</div>']


@pytest.mark.parametrize("script", [True, False])
def test_paper_has_every_part_and_cuts_none(page: Page, file: Path, script: bool) -> None:
    page.resize(1200)
    page.open(file)
    runs = page.get(
        "[...new Set([...document.querySelectorAll('.launches tbody th')].map(cell => cell.textContent))]"
    )
    assert len(runs) > 40
    page.get("document.querySelector('details.launches').open = true")
    if not script:
        page.open(file, script=False)
    made = page.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
    opened = page.get("document.querySelectorAll('details[open]').length")
    assert opened == (1 if script else 0), "as it was before"
    with pypdfium2.PdfDocument(base64.b64decode(made["data"])) as pdf:
        texts = [sheet.get_textpage() for sheet in pdf]
        said = "".join("".join(text.get_text_range().split()) for text in texts)
        assert [run for run in runs if run not in said] == []
        assert "OMP_NUM_THREADS" in said
        for sheet, text in zip(pdf, texts, strict=True):
            assert max(edges(text), default=0) <= sheet.get_width() - MARGIN + 1, "a point for the space of glyphs"


def edges(text: Any) -> list[float]:
    """The right ends of the lines of text on a sheet, in points."""
    return [text.get_rect(index)[2] for index in range(text.count_rects())]
