"""Every term of docs/glossary.md that a part of the page uses is one click away from its explanation."""

from __future__ import annotations

import html
import re

import pytest
from builders import page_of
from conftest import ROOT
from full_page import full_study
from scalestudy.publish.glossary import Term, glossary, with_terms


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(*full_study())


def test_terms_are_those_of_the_file() -> None:
    titles = re.findall(r"^## (.+)$", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [term.name for term in glossary()] == titles
    for term in glossary():
        assert term.explanation.endswith((".", "</code>.", ")."))
        assert not re.search(r"\]\(|`|\(\)", term.explanation)


@pytest.mark.parametrize("term", glossary(), ids=lambda term: term.name)
def test_a_term_is_found_in_the_plural_and_at_the_beginning(term: Term) -> None:
    link = f'<a href="#{term.anchor}">{term.inside}</a>'
    for said in (
        term.name,
        f"two {term.name.lower().removesuffix('s')}s.",
        f"<b>{term.name}</b>",
        term.name.replace(" ", "\n"),
    ):
        assert link in with_terms(f"<h2>Title</h2>\n<p>{said}</p>")
    assert link not in with_terms(f"<h2>Title</h2>\n<p title='{term.name}'>un{term.name}ing</p>")


def test_the_line_of_terms_is_below_the_introduction() -> None:
    found = with_terms('<h2 id="x">Title</h2>\n<p class="soft">Each rank.</p>\n<p>a &lt; b</p>')
    assert found == (
        '<h2 id="x">Title</h2>\n<p class="soft">Each rank.</p>\n<p class="terms">Terms:'
        ' <a href="#term-rank">rank</a></p>\n\n<p>a &lt; b</p>'
    )
    assert with_terms("<h2>Title</h2>\n<p>No such word.</p>") == "<h2>Title</h2>\n<p>No such word.</p>"


def test_every_part_of_the_page_links_to_the_terms_that_it_uses(page: str) -> None:
    body = page[page.index("<main>") : page.index('<h2 id="glossary">')]
    parts = {part.split('"')[0]: part for part in body.split('<h2 id="')[1:]}
    for name in ("advice", "measurements", "floor", "forecasts", "parts", "factors", "communication", "findings"):
        text = html.unescape(re.sub(r"<[^>]+>", " ", parts[name])).lower()
        for word in ("speedup", "efficiency", "overhead", "interference", "baseline", "step time"):
            if re.search(rf"\b{word}s?\b", text):
                assert f'href="#term-{word.replace(" ", "-")}"' in parts[name], (name, word)


def test_every_link_to_a_term_has_its_explanation(page: str) -> None:
    linked = set(re.findall(r'href="#(term-[\w-]+)"', page))
    assert len(linked) > 25
    assert linked <= set(re.findall(r'<div id="(term-[\w-]+)"><dt>', page))


def test_the_page_begins_with_the_answer_and_ends_with_method_and_runs(page: str) -> None:
    order = [
        'aria-label="Answer"',
        'aria-label="Verdicts"',
        *(
            f'<h2 id="{name}">'
            for name in (
                "advice",
                "measurements",
                "findings",
                "before-after",
                "method",
                "hardware",
                "launches",
                "glossary",
            )
        ),
    ]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
