"""acceptance.md: the same document for people."""

from __future__ import annotations

from scalestudy.accept.model import AcceptanceFile
from scalestudy.publish.templates import DIRECTORY, render

FILE = "acceptance.json"


def page_text(found: AcceptanceFile) -> str:
    """The page of an acceptance, in Markdown."""
    return render(DIRECTORY / "acceptance.md", found=found, cell=cell) + "\n"


def cell(text: str) -> str:
    """Text that does not end a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
