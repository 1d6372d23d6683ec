"""Reads files that an earlier stage wrote into the results folder of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.publish.cells import without_apostrophes
from scalestudy.publish.made import read_table
from scalestudy.record.document import read_document, read_model
from scalestudy.registry.files import FILES
from scalestudy.registry.results import RESULTS
from scalestudy.study.plan import Plan

if TYPE_CHECKING:
    import pandas as pd

    from scalestudy.analyse.study.environment import StudyEnvironment
    from scalestudy.diagnose.findings import Diagnosis
    from scalestudy.publish.numbers.model import NumbersFile
    from scalestudy.publish.results import Results
    from scalestudy.record.observation import FileDigest
    from scalestudy.verify.model import VerificationFile


def plan_of(results: Path) -> Plan:
    """Return the plan of a results folder. Raises UserError, naming the file, if it is missing or not a plan."""
    return read_model(results / RESULTS["plan"], Plan, f"scalestudy stage plan --results {results}")


def table_of(results: Path, name: str) -> pd.DataFrame:
    """Return a table of a results folder by its name in registry/results.py.

    Raises UserError, naming the file and the command that writes it, if the file is missing or incomplete.
    """
    path = results / RESULTS[name]
    columns = FILES[path.name].columns if path.name in FILES else ()
    made_by = f"scalestudy {'verify' if name == 'verified' else 'stage aggregate'} --results {results}"
    return without_apostrophes(read_table(path, columns, made_by=made_by, digest=_digest_of(results, path.name)))


def _digest_of(results: Path, table: str) -> FileDigest | None:
    """Return a table's size and checksum when it was written; None if older releases wrote it without them."""
    from scalestudy.analyse.study.checksums import ChecksumsFile

    path = results / RESULTS["checksums"]
    return read_document(path, ChecksumsFile).tables.get(table) if path.exists() else None


def findings_of(results: Path) -> tuple[Diagnosis, ...]:
    """Return the diagnoses of the points of a study."""
    from scalestudy.diagnose.findings import FindingsFile

    return read_document(results / RESULTS["findings"], FindingsFile).diagnoses


def environment_of(results: Path) -> StudyEnvironment:
    """Return the environment in which a study was measured."""
    from scalestudy.analyse.study.environment import StudyEnvironment

    return read_document(results / RESULTS["environment"], StudyEnvironment)


def book_of(results: Path) -> NumbersFile:
    """Return the numbers of a study by key."""
    from scalestudy.publish.numbers.model import NumbersFile

    return read_document(results / RESULTS["numbers"], NumbersFile)


def results_of(results: Path) -> Results:
    """Return the tables and facts of a study."""
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
    """Return the outcome of the advice for the study's current points; None if none was tried."""
    from scalestudy.verify.model import VerificationFile

    path = results / RESULTS["verification"]
    return read_document(path, VerificationFile).of_points(plan_of(results).points) if path.exists() else None


def documented(results: Path) -> tuple[Plan, Results, NumbersFile]:
    """Return the plan, the results and the numbers from which the documents of a study are made."""
    return plan_of(results), results_of(results), book_of(results)
