"""Gives the rows of the reference tables an anchor: a config key, a column of a file.

The anchor of a key is its path in the study file, as in `config/README.html#measure.half_width`. In a section of a
kind the kind is part of it: `#workloads.NAME.model.mlp.hidden_dim`. A column follows its file:
`#runs.csv.step_time_s`. In all other texts a key or a command between backticks becomes a link to its place.
"""

import posixpath
import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

TABLES = {"config/README": "confval", "docs/columns": "column"}
"""Page -> type of its objects in Sphinx's search and inventory."""


def add(app: Sphinx, document: nodes.document) -> None:
    """Make the name in the first cell of every row an anchor and a link to itself, which the search finds too."""
    docname = app.env.docname
    if docname not in TABLES:
        return
    domain = app.env.domains.standard_domain
    for section, row in rows(document):
        cell = next(iter(row.findall(nodes.entry)))
        codes = list(cell.findall(nodes.literal))
        for code in codes:
            text = code.astext()
            name = codes[0].astext() + text if text.startswith("_") else text  # `speedup`, `_low`, `_high`
            places = [f"{prefix}.{name}" if prefix else name for prefix in prefixes(section)]
            new = [anchor for anchor in places if anchor not in document.ids]
            if not new:  # a key of a script that a training has too
                continue
            link = nodes.reference("", "", code.deepcopy(), refid=new[0], ids=new, internal=True)
            code.replace_self(link)
            for anchor in new:
                document.ids[anchor] = link
                domain.note_object(TABLES[docname], anchor, anchor, location=row)


def rows(document: nodes.document) -> Iterator[tuple[nodes.section, nodes.row]]:
    """Yield the rows of the bodies of all tables, each with its section."""
    for table in document.findall(nodes.table):
        section = table.parent
        while section is not None and not isinstance(section, nodes.section):
            section = section.parent
        for body in table.findall(nodes.tbody):
            for row in body.findall(nodes.row):
                yield section, row


def prefixes(section: nodes.section) -> list[str]:
    """Return the words before a name: the paths of a config section, with its kind, or the file of a column."""
    codes = [code.astext() for code in section[0].findall(nodes.literal)]
    if codes and codes[-1].startswith("type: "):
        return [".".join([*codes[:-1], codes[-1].removeprefix("type: ")])]
    return codes or [""]


def name_pages(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Replace the text of links that name a file, `measurement.md`, by the title of its page, up to a colon."""
    for link in document.findall(nodes.reference):
        if not (link.get("refuri") and link.get("internal") and link.astext().endswith(".md")):
            continue
        page = posixpath.normpath(posixpath.join(posixpath.dirname(docname), link["refuri"].split("#")[0]))
        if title := app.env.titles.get(page.removesuffix(".html")):
            link.clear()
            link += nodes.emphasis("", title.astext().split(":")[0])


def link_names(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Make links of code that is a key, `measure.half_width`, or a document, or begins with a command."""
    objects = app.env.domains.standard_domain.objects
    for code in list(document.findall(nodes.literal)):
        if isinstance(code.parent, nodes.reference | nodes.title):
            continue
        text = code.astext()
        page, anchor = objects.get(("confval", text), ("", "")) if "." in text else ("", "")
        if command := re.match(r"scalestudy (stage )?([a-z-]+)", text):
            page = f"docs/reference/{'stages' if command[1] else 'commands'}/{command[2]}"
        if text.endswith(".md"):
            page = text.removesuffix(".md")
        if page in app.env.all_docs and page != docname:
            uri = app.builder.get_relative_uri(docname, page) + (f"#{anchor}" if anchor else "")
            code.replace_self(nodes.reference("", "", code.deepcopy(), refuri=uri, internal=True))
