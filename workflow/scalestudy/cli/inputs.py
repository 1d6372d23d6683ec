"""Reading what an earlier stage wrote into the results folder of a study."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from scalestudy.errors import UserError
from scalestudy.publish.cells import without_apostrophes
from scalestudy.record.document import read_document, read_model
from scalestudy.record.files import read_file
from scalestudy.registry.files import FILES
from scalestudy.registry.results import RESULTS
from scalestudy.study.plan import Plan

if TYPE_CHECKING:
    from scalestudy.analyse.study.environment import StudyEnvironment
    from scalestudy.diagnose.findings import Diagnosis
    from scalestudy.publish.numbers.model import NumbersFile
    from scalestudy.publish.results import Results
    from scalestudy.verify.model import VerificationFile


def plan_of(results: Path) -> Plan:
    """Plan of a results folder; UserError names the file where it is missing or not a plan."""
    return read_model(results / RESULTS["plan"], Plan, f"scalestudy stage plan --results {results}")


def table_of(results: Path, name: str) -> pd.DataFrame:
    """A table of a results folder, by what it holds (registry/results.py); UserError if it is missing,
    empty or of another version.
    """
    path = results / RESULTS[name]
    again = f"`scalestudy stage aggregate --results {results}`"
    try:
        # Nothing but an empty field is missing: a variant may be called null, and a workload nan.
        frame = without_apostrophes(
            pd.read_csv(io.BytesIO(read_file(path)), keep_default_na=False, na_values=[""])
        )
    except FileNotFoundError:
        raise UserError(f"{path}: no such table; {again} makes it") from None
    except (pd.errors.ParserError, UnicodeDecodeError):
        raise UserError(f"{path}: no table of ours; run {again} again") from None
    except pd.errors.EmptyDataError:
        raise UserError(f"{path}: empty; run {again} again") from None
    declared = FILES[path.name].columns if path.name in FILES else ()
    missing = [name for column in declared for name in column.names if name not in frame]
    if missing:
        raise UserError(f"{path}: no column {missing[0]}; another version made it: run {again} again")
    return frame.copy()  # in few blocks: read column by column, each of hundreds would be a block of its own


def findings_of(results: Path) -> tuple[Diagnosis, ...]:
    """Diagnoses of the points of a study."""
    from scalestudy.diagnose.findings import FindingsFile

    return read_document(results / RESULTS["findings"], FindingsFile).diagnoses


def environment_of(results: Path) -> StudyEnvironment:
    """Where a study was measured."""
    from scalestudy.analyse.study.environment import StudyEnvironment

    return read_document(results / RESULTS["environment"], StudyEnvironment)


def book_of(results: Path) -> NumbersFile:
    """The numbers of a study, by key."""
    from scalestudy.publish.numbers.model import NumbersFile

    return read_document(results / RESULTS["numbers"], NumbersFile)


def results_of(results: Path) -> Results:
    """The tables and facts of a study."""
    from scalestudy.analyse.trace.summary import TracesFile
    from scalestudy.publish.results import Results

    return Results(
        summary=table_of(results, "summary"),
        runs=table_of(results, "runs"),
        forecasts=table_of(results, "forecasts"),
        factors=table_of(results, "factors"),
        floors=table_of(results, "floors"),
        findings=findings_of(results),
        traces=read_document(results / RESULTS["traces"], TracesFile).traces,
        environment=environment_of(results),
        verification=verification_of(results),
    )


def verification_of(results: Path) -> VerificationFile | None:
    """What came of the advice for the points that a study has now; None where none was tried."""
    from scalestudy.verify.model import VerificationFile

    path = results / RESULTS["verification"]
    return read_document(path, VerificationFile).of_points(plan_of(results).points) if path.exists() else None


def documented(results: Path) -> tuple[Plan, Results, NumbersFile]:
    """What the documents of a study are made from."""
    return plan_of(results), results_of(results), book_of(results)
