"""Reading what an earlier stage wrote into the results folder of a study."""

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
    """Plan of a results folder; UserError names the file where it is missing or not a plan."""
    return read_model(results / RESULTS["plan"], Plan, f"scalestudy stage plan --results {results}")


def table_of(results: Path, name: str) -> pd.DataFrame:
    """A table of a results folder, by what it holds (registry/results.py).

    Raises UserError, naming the file and the command that writes it, where it is missing or not whole.
    """
    path = results / RESULTS[name]
    columns = FILES[path.name].columns if path.name in FILES else ()
    made_by = f"scalestudy {'verify' if name == 'verified' else 'stage aggregate'} --results {results}"
    return without_apostrophes(read_table(path, columns, made_by=made_by, digest=_digest_of(results, path.name)))


def _digest_of(results: Path, table: str) -> FileDigest | None:
    """What a table looked like when it was written; None of one that has no checksum, as with older releases."""
    from scalestudy.analyse.study.checksums import ChecksumsFile

    path = results / RESULTS["checksums"]
    return read_document(path, ChecksumsFile).tables.get(table) if path.exists() else None


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
