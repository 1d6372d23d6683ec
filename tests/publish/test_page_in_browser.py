"""The page as a reader has it: in a real browser, from disk, with the network off."""

from __future__ import annotations

import dataclasses
import io
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import Page
from builders import frames_of, page_of, results_of, study_of
from conftest import mlp_workload, small_content
from matplotlib.image import imread
from scalestudy.publish.embedding import compact, data_uri
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.numbers.ledger import make_numbers
from scalestudy.publish.results import Results
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from test_documents import epochs_of
from test_every_number import TIMES
from test_measured_views import TRACE, probed

MEASUREMENTS = "document.querySelector('table.points')"
# First cell of every row of a point, group by group.
ORDER = (
    f"[...{MEASUREMENTS}.tBodies].map(body => [...body.querySelectorAll('tr.point')]"
    ".map(row => row.cells[0].textContent.trim()))"
)
WITH_NOTES = (
    f"[...{MEASUREMENTS}.querySelectorAll('tr')]"
    ".map(row => row.className + ':' + row.textContent.replace(/\\s+/g, ' '))"
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Two workloads; one of their points has no good run."""
    both = {"mlp": mlp_workload(), "other": mlp_workload()}
    study = small_content(repeats=3, scales=["1x2", "1x4"], workloads=both)
    return make_plan(parse_study(study, source="x"))


@pytest.fixture(scope="module")
def results(plan: Plan) -> Results:
    times = TIMES | {("other", *key[1:]): value for key, value in TIMES.items()}
    runs = study_of(plan, times)
    runs["record_sha256"], runs["commit"], runs["dirty"] = "abcdef" * 10, "0123456789abcdef", False
    plain = results_of(plan, runs)
    return results_of(plan, runs, probed(plain.summary), traces=[TRACE])


@pytest.fixture(scope="module")
def file(plan: Plan, results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(plan, results), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<script>throw new Error('thrown')</script>", "thrown"),
        ("<script>setTimeout(() => { throw new Error('later') })</script>", "later"),
        ("<script>console.error('said')</script>", "said"),
        ("<script>Promise.reject(new Error('rejected'))</script>", "rejected"),
        ("<img src='http://example.org/x.png'>", "ERR_INTERNET_DISCONNECTED"),
        ("<script src='nowhere.js'></script>", "ERR_FILE_NOT_FOUND"),
        (
            "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\"><script>0</script>",
            "Content Security Policy",
        ),
    ],
)
def test_what_goes_wrong_in_a_page_is_found(page: Page, tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "bad.html"
    path.write_text(f"<!doctype html><title>x</title>{content}")
    page.open(path)
    assert any(said in problem for problem in page.problems), page.problems


def test_the_page_opens_offline_without_a_complaint(page: Page, file: Path) -> None:
    for width, scheme in ((1200, "light"), (390, "dark")):
        page.resize(width)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.open(file)
        assert page.get("document.documentElement.scrollWidth") <= width, "nothing is wider than the screen"
    assert page.problems + page.warnings == []
    assert {url for url in page.requests if not url.startswith("data:")} == {file.as_uri()}


def heads(page: Page) -> dict[str, int]:
    """Columns of the measurements by their names."""
    names = page.get(f"[...{MEASUREMENTS}.tHead.rows[0].cells].map(cell => cell.textContent.trim())")
    return {name: index for index, name in enumerate(names)}


def click(page: Page, column: int) -> str | None:
    """Press the button of a column, and return its sort order."""
    head = f"{MEASUREMENTS}.tHead.rows[0].cells[{column}]"
    page.get(f"{head}.querySelector('button').click()")
    return page.get(f"{head}.getAttribute('aria-sort')")


def test_a_click_sorts_by_number_and_the_third_restores(page: Page, file: Path, results: Results) -> None:
    page.open(file)
    before, rows_before = page.get(ORDER), page.get(WITH_NOTES)
    column = heads(page)["Step time (ms)"]
    values = (
        f"[...{MEASUREMENTS}.tBodies].map(body => [...body.querySelectorAll('tr.point')]"
        f".map(row => row.cells[{column}] ? parseFloat(row.cells[{column}].textContent) : null))"
    )
    assert click(page, column) == "ascending"
    rising = page.get(values)
    assert [len(group) for group in rising] == [5, 5], "the baseline of strong and weak scaling once"
    for group in rising:
        known = [value for value in group if value is not None]
        assert known == sorted(known)
        assert sorted(known) != sorted(known, key=str), "by text they would stand otherwise"
        assert group[-1] is None, "what has no number comes last"
    assert [sorted(group) for group in page.get(ORDER)] == [sorted(group) for group in before]
    assert click(page, column) == "descending"
    for group in page.get(values):
        known = [value for value in group if value is not None]
        assert known == sorted(known, reverse=True)
        assert group[-1] is None
    assert click(page, column) is None
    assert page.get(ORDER) == before
    assert page.get(WITH_NOTES) == rows_before
    assert page.problems == []


def test_rows_stay_with_their_notes_and_groups_under_their_headings(page: Page, file: Path) -> None:
    page.open(file)
    rows = page.get(WITH_NOTES)
    below = dict(pairwise(rows))
    heads_of_groups = f"[...{MEASUREMENTS}.tBodies].map(body => body.rows[0].textContent.trim())"
    click(page, heads(page)["Speedup"])
    click(page, heads(page)["Speedup"])
    after = page.get(WITH_NOTES)
    assert after != rows
    points = [index for index, row in enumerate(after) if row.startswith("point:")]
    assert len(points) == 10
    for index in points:
        assert after[index + 1].startswith("notes:")
        assert after[index + 1] == below[after[index]]
    assert page.get(heads_of_groups) == ["mlp", "other"]


def test_one_column_at_a_time_and_the_first_by_its_words(page: Page, file: Path) -> None:
    page.open(file)
    click(page, heads(page)["Speedup"])
    click(page, 0)
    assert page.get(f"{MEASUREMENTS}.querySelectorAll('[aria-sort]').length") == 1
    (first, *_), _ = page.get(ORDER)
    assert first.startswith("ddp, strong, 2 ranks")


def test_sorting_by_keyboard(page: Page, file: Path) -> None:
    page.open(file)
    button = f"{MEASUREMENTS}.tHead.rows[0].cells[1].querySelector('button')"
    page.get(f"{button}.focus()")
    for expected, (key, code, text) in (("ascending", ("Enter", 13, "\r")), ("descending", (" ", 32, " "))):
        page.press(key, code, text)
        assert page.get(f"{MEASUREMENTS}.tHead.rows[0].cells[1].getAttribute('aria-sort')") == expected
    page.press("Tab", 9)
    assert page.get("document.activeElement.closest('th').cellIndex") == 2


def test_sorting_on_a_phone(page: Page, file: Path) -> None:
    page.resize(390)
    page.open(file)
    width = page.get(f"{MEASUREMENTS}.querySelector('th button').getBoundingClientRect().width")
    assert width > 40, "the headers are there to be pressed, though the table is a list"


def test_a_number_leads_to_its_launches(page: Page, file: Path, plan: Plan) -> None:
    page.open(file)
    link = "[...document.querySelectorAll('a[title]')].find(a => a.title === 'mlp.ddp.strong.n2.speedup')"
    place = "document.getElementById('mlp.ddp.strong.n2')"
    assert page.get(f"{place}.open") is False
    page.get(f"{link}.click()")
    page.settle()
    assert page.get(f"{place}.open") is True
    assert page.get("document.querySelectorAll('details[open]').length") == 1
    top = page.get(f"{place}.getBoundingClientRect().top")
    assert -1 < top < page.get("innerHeight"), "but for parts of a pixel"
    said = page.get(f"{place}.innerText")
    point = next(point for point in plan.points if point.world_size == 2 and point.scaling == "strong")
    for run in point.runs:
        assert run in said
    assert said.count("abcdefabcdef") == len(point.runs)
    assert said.count("Code of all runs: commit 0123456789ab (clean).") == said.count("commit") == 1
    base = page.get(f"{place}.querySelector('a').hash").removeprefix("#")
    listed = page.get(f"document.getElementById('{base}').textContent")
    for run in point.base:
        assert run in listed, "the runs of the baseline are listed once"
        assert run not in said
    assert "has the key mlp.ddp.strong.n2.speedup" in said
    page.get(f"{place}.open = false; {link}.click()")
    page.settle()
    assert page.get(f"{place}.open") is True, "also where the address stays the same"


def test_runs_of_several_commits_have_theirs_in_their_rows(
    page: Page, plan: Plan, results: Results, tmp_path: Path
) -> None:
    runs = results.runs.copy()
    runs.loc[runs["repeat"] == 2, "commit"] = "fedcba9876543210"
    open_page(page, plan, dataclasses.replace(results, runs=runs), tmp_path)
    said = page.get("document.getElementById('mlp.ddp.strong.n2').textContent")
    assert "Code of all runs" not in said
    assert said.count("commit 0123456789ab") == 2
    assert said.count("commit fedcba987654") == 1


def test_an_address_with_a_key_opens_its_place(page: Page, file: Path) -> None:
    page.open(file, fragment="other.ddp.weak.n2")
    assert page.get("[...document.querySelectorAll('details[open]')].map(box => box.id)") == ["other.ddp.weak.n2"]
    page.open(file, fragment="no.such%place")
    assert page.get("document.querySelectorAll('details[open]').length") == 0
    assert page.problems == []


def test_every_link_leads_somewhere_and_says_what_numbers_json_says(
    page: Page, file: Path, plan: Plan, results: Results
) -> None:
    page.open(file)
    numbers = make_numbers(plan, results).numbers
    assert (
        page.get("[...document.querySelectorAll('a')].filter(a => !document.getElementById(a.hash.slice(1)))")
        == []
    )
    links = page.get("[...document.querySelectorAll('a[title]')].map(a => [a.title, a.textContent.trim()])")
    assert len(links) > 150
    for key, text in links:
        first, whole = numbers[key].shown.value, str(numbers[key].shown)
        assert text.removesuffix(" %") in (first, whole, f"{first}×", whole.replace(" [", "× ["))


def test_every_number_in_a_cell_is_a_link(page: Page, file: Path) -> None:
    page.open(file)
    plain = page.get(
        "[...document.querySelectorAll('.points td[data-name], .parts td, .communication td:nth-child(2)')]"
        ".filter(cell => /\\d/.test(cell.textContent) && !cell.querySelector('a[title]'))"
        ".map(cell => cell.textContent)"
    )
    assert plain == []


def test_without_scripts_every_number_is_there(page: Page, file: Path) -> None:
    page.open(file)
    with_scripts = page.get("[...document.querySelectorAll('a[title]')].map(a => a.title + a.textContent)")
    page.open(file, script=False)
    assert page.get("document.querySelectorAll('button').length") == 0
    assert page.get("[...document.querySelectorAll('a[title]')].map(a => a.title + a.textContent)") == with_scripts
    assert page.get("document.querySelector('script').textContent.length") > 0
    page.open(file, fragment="mlp.ddp.strong.n2", script=False)
    table = "document.querySelector('[id=\"mlp.ddp.strong.n2\"] table')"
    assert page.get(f"{table}.checkVisibility({{contentVisibilityAuto: true}})") is True


def pixels(page: Page, source: str, folder: Path) -> np.ndarray:
    """A figure in a window of 1000 pixels, as brightness from 0 to 1."""
    path = folder / "figure.html"
    path.write_text(f'<!doctype html><body style="margin:0"><img style="width:1000px" src="{source}">')
    page.resize(1000, 600)
    page.open(path)
    return imread(io.BytesIO(page.picture()))[..., :3]


def test_figures_are_the_same_picture_in_a_fraction_of_the_size(
    page: Page, plan: Plan, results: Results, tmp_path: Path
) -> None:
    frames = frames_of(plan, results.summary, epochs=epochs_of(plan))
    seen = []
    for name in ("speedup_efficiency", "accuracy", "step_breakdown"):
        with paper_style():
            _, svg, *_ = save_figure(drawing(name)(plan, "mlp", frames), tmp_path / name)
        text = svg.read_text(encoding="utf-8")
        assert len(data_uri(text)) < 0.55 * len(text)
        whole, small = pixels(page, svg.as_uri(), tmp_path), pixels(page, data_uri(text), tmp_path)
        seen.append(small)
        assert differing(whole, small) < 1e-3
        assert whole.std() > 0.05, "something is drawn"
    assert differing(seen[0], seen[1]) > 1e-2, "another figure would have been noticed"
    assert page.problems == []


def differing(one: np.ndarray, other: np.ndarray) -> float:
    """Share of pixels that differ by more than the smoothing of an edge."""
    return float((np.abs(one - other).max(axis=2) > 0.25).mean())


def test_an_empty_group_with_an_attribute_leaves_the_figure_well_formed() -> None:
    """As matplotlib writes for a point without a value, such as a quantity that was not predicted."""
    svg = '<svg><g><g id="a"><g clip-path="url(#b)"/></g><g><path d="M0 0"/></g></g></svg>'
    small = compact(svg)
    assert [part.tag for part in ElementTree.fromstring(small).iter()] == ["svg", "g", "path"]


def test_a_figure_of_another_program_stays_what_it_is() -> None:
    arc = '<path d="M0 0 A 5 5 0 0 1 9 9"/>'
    svg = f"<svg xmlns='http://www.w3.org/2000/svg'>{arc}<text>50% &amp; # 'x'</text></svg>"
    assert arc in compact(svg)
    assert data_uri(svg).endswith("%22/><text>50%25 %26amp; %23 'x'</text></svg>")


def open_page(page: Page, plan: Plan, results: Results, folder: Path) -> None:
    path = folder / "report.html"
    path.write_text(page_of(plan, results), encoding="utf-8")
    page.open(path)
    assert page.problems == []


def test_a_study_in_which_every_launch_failed(page: Page, plan: Plan, tmp_path: Path) -> None:
    times = {
        (s.workload, s.world_size, s.batch_per_rank): ["failed", "oom", "timeout"] for s in plan.runs.values()
    }
    open_page(page, plan, results_of(plan, study_of(plan, times)), tmp_path)
    order = page.get(ORDER)
    assert [len(group) for group in order] == [5, 5]
    assert page.get("document.querySelectorAll('td.failure').length") == 10
    click(page, 2)
    assert page.get(ORDER) == order, "there is nothing to sort by"
    assert page.get("document.querySelectorAll('.card b.big').length") == 0
    page.get("document.querySelector('td.failure a').click()")
    page.settle()
    assert "oom" in page.get("document.querySelector('details[open]').innerText")


def test_a_study_of_one_launch(page: Page, content: dict[str, Any], tmp_path: Path) -> None:
    content |= {"repeats": 1, "scales": ["1x1"], "variants": {"single": {"strategy": "single"}}}
    content["workloads"]["mlp"]["scaling"] = ["strong"]
    plan = make_plan(parse_study(content, source="x"))
    assert len(plan.runs) == 1
    open_page(page, plan, results_of(plan, study_of(plan, {("mlp", 1, 32): [0.01]})), tmp_path)
    text = page.get("document.body.innerText")
    assert "One run per point, so there are no intervals." in text
    assert "No point has more than one rank" in text
    with_limits = page.get("[...document.querySelectorAll('a[title]:has(small)')].map(link => link.title)")
    assert with_limits == []
    assert page.get("document.querySelectorAll('details.launches').length") == 1
