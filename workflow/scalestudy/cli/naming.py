"""Finds the study of a command: by its files, by its results folder, or by default."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from scalestudy.errors import UserError
from scalestudy.project import root
from scalestudy.registry.results import RESULTS
from scalestudy.study.named_file import nearest

if TYPE_CHECKING:
    from scalestudy.study.config.study import Study

CONFIG = Path("config/config.yaml")


def home() -> Path:
    """Return the checkout of the workflow around the working directory, or else that directory; a relative path.

    A folder in `examples/` of the checkout counts as outside of it, so that it works like a copy elsewhere.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if folder.name == "examples" and folder != here and is_checkout(folder.parent):
            return Path()
        if is_checkout(folder) and (folder / "rules").is_dir():
            return Path(os.path.relpath(folder))
    return Path()


def is_checkout(folder: Path) -> bool:
    """Return whether a folder has this workflow, or one that imports it, and not just any Snakefile."""
    snakefile = folder / "workflow/Snakefile"
    return snakefile.is_file() and "scalestudy" in snakefile.read_text(encoding="utf-8", errors="replace")


def study_files(files: Sequence[Path], results: Path | None) -> tuple[Path, ...]:
    """Return the given study files, or else the default one if no results are named; may be empty."""
    default = home() / CONFIG
    return tuple(map(_ready, files)) or ((default,) if results is None and default.exists() else ())


def _ready(file: Path) -> Path:
    """Return the file, or the package's file for a missing one such as config/studies/digits.yaml.

    Raises UserError for a name that is no file, if results or a study of the package have it.
    """
    packaged = root() / file
    if file.exists():
        return file
    if file.parts[:1] == ("config",) and packaged.is_file():
        return packaged
    results, study = home() / "results" / file, CONFIG.parent / "studies" / f"{file}.yaml"
    if (results / RESULTS["plan"]).exists():
        raise UserError(f"{file}: no such study file; use --results {results} for its results")
    if (root() / study).is_file():
        raise UserError(f"{file}: no such study file; did you mean {study}?")
    return file


def find_study(files: Sequence[Path], results: Path | None) -> Study:
    """Return the study of these files, else of this results folder, else the default study, else the only one."""
    from scalestudy.cli.results.inputs import plan_of
    from scalestudy.study.config.load import load_study

    files = study_files(files, results)
    return load_study(*files) if files else plan_of(find_results((), results)).study


def find_results(files: Sequence[Path], results: Path | None, *, having: str = "plan") -> Path:
    """Return the results folder: the given one, or else the folder of the study of these files.

    If neither is given, return the folder of the default study if it has results, or else of the only study under
    results/ that has them. having: the file whose presence means results (registry/results.py).
    """
    if results is not None:
        return _agreeing(files, _checked(results, having))
    expected = results_of(find_study(files, None)) if study_files(files, None) else None
    if expected and (expected / RESULTS[having]).exists():
        return expected
    found = [] if files else _studies(home() / "results", having)
    if len(found) == 1:
        return found[0]
    if expected and not found:
        raise UserError(f"{expected / RESULTS[having]}: missing; `scalestudy run` runs the study and writes it")
    planned = [] if found or having == "plan" else _studies(home() / "results", "plan")
    if len(planned) == 1:
        again = f"`scalestudy run --results {planned[0]}` completes the study and writes it"
        raise UserError(f"{planned[0] / RESULTS[having]}: missing; {again}")
    if planned:
        names = ", ".join(folder.name for folder in planned)
        raise UserError(f"name a study with --study FILE or --results FOLDER; results/ has {names}, none complete")
    several = f"results/ has {', '.join(folder.name for folder in found)}" if found else "results/ has no study"
    raise UserError(f"name a study with --study FILE or --results FOLDER; {several}")


def results_of(study: Study) -> Path:
    """Return the folder to which the workflow writes the results of a study."""
    return home() / "results" / study.name


def _agreeing(files: Sequence[Path], folder: Path) -> Path:
    """Return the folder itself. Raises UserError if study files are named too, and are of another study."""
    from scalestudy.cli.results.inputs import plan_of

    if files and (folder / RESULTS["plan"]).exists():
        asked, planned = find_study(files, None), plan_of(folder).study
        if asked.name != planned.name:
            raise UserError(
                f"--results {folder}: has the results of study {planned.name}, but --study names {asked.name};"
                " give one of the two"
            )
    return folder


def _checked(folder: Path, having: str) -> Path:
    """Return the folder itself. Raises UserError if it cannot be the results of a study."""
    if folder.is_file():
        raise UserError(f"{folder}: {what_to_do_with(folder, f', or give a study file with --study {folder}')}")
    if not folder.is_dir():
        hint = nearest(folder) or "; name the results of a study, such as results/STUDY"
        raise UserError(f"{folder}: no such folder{hint}")
    if not any((folder / RESULTS[name]).exists() for name in ("plan", having)):
        below = [path.name for path in _studies(folder, "plan")]
        near = f"; it contains {', '.join(below)}" if below else ", such as results/STUDY"
        raise UserError(
            f"{folder}: not the results of a study: it has no plan.json. Name the folder of one study{near};"
            " `scalestudy stage plan` writes a plan"
        )
    return folder


def what_to_do_with(file: Path, or_else: str = "") -> str:
    """Return what a file is, and what to do, where the folder of a study's results is needed.

    or_else: what else to do with a file that is not an archive.
    """
    from zipfile import is_zipfile

    if is_zipfile(file):
        command = f"`scalestudy report {quote(str(file))}`"
        return f"is an archive, not a folder; {command} rebuilds the results in an archive of `scalestudy deposit`"
    return f"is a file, not a folder; name the results of a study, such as results/STUDY{or_else}"


def _studies(folder: Path, having: str) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"*/{RESULTS[having]}"))
