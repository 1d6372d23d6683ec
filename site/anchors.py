"""Gives the rows of the reference tables an anchor: a config key, a column of a file.

The anchor of a key is its path in the study file, as in `config/README.html#measure.half_width`. In a section of a
kind the kind is part of it: `#workloads.NAME.model.mlp.hidden_dim`.
A column follows its file: `#runs.csv.step_time_s`.
"""

from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

TABLES = {"config/README": "confval", "docs/columns": "confval"}
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
            anchor = ".".join([*prefix(section), name])
            link = nodes.reference("", "", code.deepcopy(), refid=anchor, ids=[anchor], internal=True)
            code.replace_self(link)
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


def prefix(section: nodes.section) -> list[str]:
    """Return the words before a name: the path of a config section and its kind, or the file of a column."""
    codes = [code.astext() for code in section[0].findall(nodes.literal)]
    return [code.removeprefix("type: ") for code in codes]
