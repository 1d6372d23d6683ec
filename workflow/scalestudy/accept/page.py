"""acceptance.md: the acceptance as a readable page."""

from __future__ import annotations

from scalestudy.accept.model import AcceptanceFile
from scalestudy.publish.templates import DIRECTORY, render

FILE = "acceptance.json"


def page_text(found: AcceptanceFile) -> str:
    """Return the page of an acceptance in Markdown."""
    return render(DIRECTORY / "acceptance.md", found=found, cell=cell) + "\n"


def cell(text: str) -> str:
    """Return text escaped for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
