"""The terms of docs/glossary.md, explained on the page, with links from every part of the page that uses them."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import NamedTuple

from markupsafe import Markup

from scalestudy.project import root

FILE = "docs/glossary.md"
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
_TAG = re.compile(r"<[^>]*>")
_INTRO = re.compile(r"</h2>(?:\s*<p class=\"soft\">.*?</p>)?", re.DOTALL)


class Term(NamedTuple):
    """A term, its id on the page, and its explanation."""

    name: str
    anchor: str
    explanation: Markup

    @property
    def inside(self) -> str:
        """The name inside a sentence."""
        return self.name if re.search("[A-Z]", self.name[1:]) else self.name.lower()


@cache
def glossary() -> tuple[Term, ...]:
    """All terms, in the order of the file."""
    _, *entries = (root() / FILE).read_text(encoding="utf-8").split("\n## ")
    named = [entry.partition("\n")[::2] for entry in entries]
    anchors = {_anchor(name) for name, _ in named}
    return tuple(Term(name, _anchor(name), _marked(" ".join(text.split()), anchors)) for name, text in named)


def with_terms(section: str) -> Markup:
    """The HTML of a section with links to the terms that it uses, below its introduction or at its end."""
    section = str(section)  # Markup would escape what is added to it
    text = html.unescape(_TAG.sub(" ", section)).lower()
    used = {_plain(found) for found in _words().findall(text)}
    links = [f'<a href="#{term.anchor}">{term.inside}</a>' for term in glossary() if _plain(term.name) in used]
    line = f'\n<p class="terms">Terms: {", ".join(links)}</p>\n' if links else ""
    if "</h2>" not in section:
        return Markup(section + line)
    return Markup(_INTRO.sub(lambda intro: intro[0] + line, section, count=1))


@cache
def _words() -> re.Pattern[str]:
    """Finds the terms in text of lower case, the longer ones first, also in the plural and with hyphens."""
    names = sorted((re.escape(term.name.lower()) for term in glossary()), key=len, reverse=True)
    either = "|".join(re.sub(r"(\\?[ -])+", r"[\\s-]+", name) for name in names)
    return re.compile(rf"(?<![\w-])(?:{either})s?(?![\w-])")


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", " ", name.lower()).removesuffix("s")


def _anchor(name: str) -> str:
    return f"term-{re.sub(r'[^a-z]+', '-', name.lower())}"


def _marked(text: str, anchors: set[str]) -> Markup:
    """An explanation as HTML. A link to another term stays one; of a link to another document its text stays."""
    made = str(Markup.escape(re.sub(r" \(\[[^\]]+\]\([^)]+\)\)", "", text)))

    def link(found: re.Match[str]) -> str:
        target = f"term-{found[2].removeprefix('#')}"
        return f'<a href="#{target}">{found[1]}</a>' if target in anchors else found[1]

    made = re.sub(r"`([^`]+)`", r"<code>\1</code>", _LINK.sub(link, made))
    return Markup(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", made))  # the text is escaped above
