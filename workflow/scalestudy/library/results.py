"""The results of a finished study, as data frames with units, findings and LaTeX."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.errors import UserError
from scalestudy.library.needs import require_packages

if TYPE_CHECKING:
    import pandas as pd

    from scalestudy.diagnose.findings import Diagnosis
    from scalestudy.registry.tables import Table

_FRAMES = {
    "points": "summary",
    "runs": "runs",
    "epochs": "epochs",
    "forecasts": "forecasts",
    "factors": "factors",
    "floors": "floors",
    "collectives": "collectives",
    "step_quantiles": "quantiles",
}
"""Name of a frame -> its name in registry/results.py."""


def read(folder: str | PathLike[str]) -> Results:
    """Return the results of a finished study, from its folder, such as `results/STUDY`.

    Files are read when they are asked for, and checked against their checksums. Nothing is written. Raises
    UserError, which names the folder or the file, if they are missing, changed, of another version, or in an
    archive of `scalestudy deposit`.
    """
    require_packages("read")
    from scalestudy.cli.naming import find_results, what_to_do_with
    from scalestudy.cli.results.inputs import plan_of

    if not isinstance(folder, (str, PathLike)):
        raise UserError(f"folder: {folder!r:.60}; must be a path, such as 'results/STUDY'")
    if Path(folder).is_file():
        raise UserError(f"{folder}: {what_to_do_with(Path(folder))}")
    found = find_results((), Path(folder), having="summary")
    return Results(found, plan_of(found).study.name)


class Results:
    """The results of a finished study. `read` makes it."""

    def __init__(self, folder: Path, study: str) -> None:
        self.folder = folder
        self.study = study
        """Name of the study."""

    def __repr__(self) -> str:
        """Return the study and its folder."""
        return f"<scalestudy.Results of {self.study} in {self.folder}>"

    @property
    def points(self) -> pd.DataFrame:
        """A row for each point, shape (points, columns): comprehensive_summary.csv, as in docs/columns.md.

        Columns that end in `_low` and `_high` are limits at the study's confidence. `attrs["units"]` of the frame
        has the unit of each column that has one.
        """
        return self.frame("points")

    @property
    def runs(self) -> pd.DataFrame:
        """A row for each run, shape (runs, columns): runs.csv, with units as in `points`."""
        return self.frame("runs")

    def frame(self, name: str) -> pd.DataFrame:
        """Return a table of the study, with units as in `points`.

        name: points, runs, epochs, forecasts, factors, floors, collectives or step_quantiles. Raises UserError for
        another name.
        """
        from scalestudy.cli.results.inputs import table_of
        from scalestudy.registry.files import FILES
        from scalestudy.registry.results import RESULTS

        table = _FRAMES.get(name) if isinstance(name, str) else None
        if table is None:
            raise UserError(f"frame: {name!r:.60}; must be one of {', '.join(_FRAMES)}")
        frame = table_of(self.folder, table)
        columns = FILES[RESULTS[table]].columns
        frame.attrs["units"] = {end: column.unit for column in columns for end in column.names if column.unit}
        return frame

    def diagnose(self) -> tuple[Diagnosis, ...]:
        """Return verdict, findings and recommendations of each distributed point, in the order of `points`.

        They are computed from the tables by the installed version. Each has the fields of an entry of
        findings.json (docs/schemas/findings.schema.json) except the payback of advice, and `.model_dump()` returns
        them as a dictionary. Evidence names its units; times of predictions are in seconds.
        """
        from scalestudy.cli.results.inputs import plan_of, table_of
        from scalestudy.diagnose.study import diagnose_study

        tables = (table_of(self.folder, name) for name in ("summary", "forecasts"))
        return tuple(diagnose_study(plan_of(self.folder).study, *tables))

    def latex_table(self, name: Table = "summary") -> str:
        """Return a table of points in LaTeX, to be `\\input` in a paper; it needs booktabs and siunitx.

        name: summary, strong_scaling, weak_scaling, step_breakdown, memory, variants, ddp_fsdp or proposal. The
        numbers are those of the study's documents, rounded by their intervals. Raises UserError for another name.
        """
        from scalestudy.cli.results.inputs import book_of, plan_of, table_of
        from scalestudy.publish.tables.view import table_view
        from scalestudy.publish.templates import DIRECTORY, render
        from scalestudy.registry.tables import TABLES

        if not isinstance(name, str) or name not in TABLES:
            raise UserError(f"latex_table: {name!r:.60}; must be one of {', '.join(TABLES)}")
        plan, summary = plan_of(self.folder), table_of(self.folder, "summary")
        return render(DIRECTORY / "table.tex", **table_view(plan, summary, book_of(self.folder), name))

    def number(self, key: str) -> str:
        """Return a number as the documents print it, with its limits, such as '1.93 [1.88, 1.98]'.

        key: of numbers.json, such as imdb.ddp.n4.speedup; a key ends with its unit. Raises UserError for another
        key.
        """
        from scalestudy.cli.results.inputs import book_of
        from scalestudy.publish.numbers.similar import similar_keys

        if not isinstance(key, str):
            raise UserError(f"number: {key!r:.60}; must be a key of numbers.json, such as imdb.ddp.n4.speedup")
        book = book_of(self.folder)
        found = book.find(key)
        if found is None:
            raise UserError(f"{key}: no such number in {self.folder}; {similar_keys(book, key)}")
        return str(found[1].shown)
