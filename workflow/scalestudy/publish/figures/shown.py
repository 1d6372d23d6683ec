"""The figures of a study that a document shows, with their captions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalestudy.publish.figures import figures_of, file_of
from scalestudy.publish.figures.tidy import shows_something
from scalestudy.registry.figures import FigureEntry
from scalestudy.study.plan import Plan


@dataclass(frozen=True)
class ShownFigure:
    """A figure in which something is drawn."""

    entry: FigureEntry
    workload: str
    """'' for a figure of the study as a whole."""
    folder: Path
    caption: str

    def path(self, suffix: str) -> Path:
        """Its file of that suffix, such as `.svg`."""
        return self.folder / f"{file_of(self.entry, self.workload)}{suffix}"


def shown_figures(plan: Plan, folder: Path, facts: Mapping[str, Any]) -> list[ShownFigure]:
    """The figures in which something is drawn, according to their CSV files. facts: from document_facts.

    Raises UserError with the name of a missing CSV file.
    """
    found = []
    for entry, workload in figures_of(plan, verified=facts["verified"]):
        made = [item for item in facts["forecasts"] if item["workload"] == workload and not item["refused"]]
        batches = any(item["of"] == "batch" for item in made)
        caption = entry.caption.replace("{base}", facts["study"]["base"])
        said = [caption, entry.if_forecast if made else "", entry.if_larger_batches if batches else ""]
        figure = ShownFigure(entry, workload, folder, " ".join(filter(None, said)))
        if shows_something(figure.path(".csv")):
            found.append(figure)
    return found
