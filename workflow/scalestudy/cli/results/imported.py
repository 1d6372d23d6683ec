"""Imports logs into the results folder of a study, and writes its documents with the usual stages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalestudy.cli.results.remade import STAGES, TABLES_ONLY, make_documents
from scalestudy.errors import UserError
from scalestudy.publish.words.labels import counted
from scalestudy.registry.results import RESULTS

if TYPE_CHECKING:
    from scalestudy.importers.columns.meanings import Corrections
    from scalestudy.importers.logs.model import Given, Log
    from scalestudy.importers.logs.steps.derive import ImportedRun
    from scalestudy.importers.logs.study_of import Imported

PARTIAL = ".partial"


def import_files(
    given: Mapping[Path, Given],
    name: str,
    folder: Path,
    *,
    scaling: Any,
    form: str | None,
    documents: bool,
    workload: str = "",
    corrected: Corrections | None = None,
) -> None:
    """Read all files, print how they were read, and write the study.

    Raises UserError before anything is written. It has what every file lacks, so that one answer is enough.
    """
    from scalestudy.importers.logs.steps.derive import NoDevicesError, derive
    from scalestudy.importers.logs.study_of import study_of
    from scalestudy.publish.imported import names_of, run_lines

    names = names_of(given)
    runs: list[ImportedRun] = []
    kept: list[str] = []
    refused: list[UserError] = []
    for path, said in given.items():
        for log in _logs(path, said, scaling, form, corrected):
            try:
                run = derive(log, said)
            except UserError as error:
                refused.append(error)
                continue
            print("\n".join(run_lines(run, names[path])))
            run.log.columns.clear()
            runs.append(run)
            kept.append(_digest(path, f"{log.label} {said}"))
    if refused:
        unknown = [error for error in refused if isinstance(error, NoDevicesError)]
        lines = list(map(str, refused))
        if len(unknown) > 1 and all(error.proposed for error in unknown):
            lines.append(f"by their names: --gpus {' '.join(error.proposed for error in unknown)}")
        raise UserError("\n".join(lines))
    if twice := next((at for at, one in enumerate(kept) if one in kept[:at]), None):
        raise UserError(
            f"{runs[twice].log.name}: the same file as {runs[kept.index(kept[twice])].log.name}; a run counts once"
        )
    found = study_of(runs, name, scaling=scaling, kept=kept, workload=workload)
    for remark in found.remarks:
        print(f"* {remark}")
    _write(found, folder)
    print(f"{counted(len(found.runs), 'run')}, {counted(len(found.plan.points), 'point')}: {folder}")
    make_documents(folder, STAGES if documents else TABLES_ONLY)
    if documents:
        print(f"documents: {folder / RESULTS['page']}, {folder / RESULTS['text']}, {folder / 'report.tex'}")
    _further(folder)


def _logs(
    path: Path, said: Given, scaling: str | None, form: str | None, corrected: Corrections | None
) -> list[Log]:
    """The runs of a file: of a log, or the rows of its scaling tables."""
    from scalestudy.analyse.published.runs import logs_of_tables
    from scalestudy.importers.columns.meanings import NOTHING_CORRECTED
    from scalestudy.importers.logs.formats import TABLE, is_table, read_log
    from scalestudy.importers.reading import read_published

    corrected = corrected or NOTHING_CORRECTED
    asked = form if form or not (corrected.columns or corrected.table) else TABLE
    if is_table(path, asked):
        return logs_of_tables(read_published(path, corrected), path, said, scaling=scaling)
    return read_log(path, said, name=form)


def _digest(path: Path, said: str) -> str:
    """A checksum of a file and of what was said about it, which tells its runs apart from others."""
    from scalestudy.importers.logs.lines import opened

    digest = hashlib.sha256(said.encode())
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            with opened(file) as content:
                while part := content.read(1 << 20):
                    digest.update(part)
    return digest.hexdigest()


def _write(found: Imported, folder: Path) -> None:
    """Write plan and runs. Runs of an earlier import that are not in the new plan are moved to superseded/."""
    from scalestudy.cli.results.inputs import plan_of
    from scalestudy.importers.logs.observe import write_observation
    from scalestudy.launch.place import kept_record, put_in_place, set_aside
    from scalestudy.record.files import write_json

    if (folder / RESULTS["plan"]).exists():
        earlier = plan_of(folder)
        if not earlier.study.imported:
            raise UserError(f"{folder}: has a study that was run, not imported; use another --study")
        for left in earlier.runs.keys() - found.runs.keys():
            set_aside(folder / "runs" / left, folder)
    for run_id, run in found.runs.items():
        if kept_record(folder / "runs" / run_id, folder):
            continue  # the same file with the same options
        partial = folder / "runs" / PARTIAL / run_id
        write_observation(partial, found.specs[run_id], run)
        put_in_place(partial, folder / "runs" / run_id, folder)
    write_json(folder / RESULTS["plan"], found.plan.model_dump(mode="json"))


def _further(folder: Path) -> None:
    """Print the points, and the fewest further runs that would decide them."""
    from scalestudy.analyse.study.further import further_runs
    from scalestudy.cli.results.inputs import plan_of, table_of
    from scalestudy.publish.imported import further_lines, point_lines
    from scalestudy.study.config.imported import ImportedWorkload

    plan, summary, runs = plan_of(folder), table_of(folder, "summary"), table_of(folder, "runs")
    unit = next(one.unit for one in plan.study.workloads.values() if isinstance(one, ImportedWorkload))
    print("\n".join([*point_lines(summary, unit), *further_lines(further_runs(plan, summary, runs))]))
