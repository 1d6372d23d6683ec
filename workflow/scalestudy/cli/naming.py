"""Which study a command is about: named by its files, by its results folder, or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.errors import UserError
from scalestudy.project import root
from scalestudy.registry.results import RESULTS
from scalestudy.study.named_file import nearest

if TYPE_CHECKING:
    from scalestudy.study.config.study import Study

CONFIG = Path("config/config.yaml")


def home() -> Path:
    """The checkout of the workflow that the working directory is in, else that directory; a relative path.

    A folder in `examples/` of the checkout is a place of its own, as it is when somebody copies it.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if folder.name == "examples" and folder != here and is_checkout(folder.parent):
            return Path()
        if is_checkout(folder) and (folder / "rules").is_dir():
            return Path(os.path.relpath(folder))
    return Path()


def is_checkout(folder: Path) -> bool:
    """Whether a folder has this workflow, or a workflow that imports it; other workflows have a Snakefile too."""
    snakefile = folder / "workflow/Snakefile"
    return snakefile.is_file() and "scalestudy" in snakefile.read_text(encoding="utf-8", errors="replace")


def study_files(files: Sequence[Path], results: Path | None) -> tuple[Path, ...]:
    """The study files: those given, else the default one if no results are named; empty if there is none."""
    default = home() / CONFIG
    return tuple(map(_ready, files)) or ((default,) if results is None and default.exists() else ())


def _ready(file: Path) -> Path:
    """The file itself; of a name such as config/studies/digits.yaml that is not here, the one of the package."""
    packaged = root() / file
    return packaged if file.parts[:1] == ("config",) and not file.exists() and packaged.is_file() else file


def find_study(files: Sequence[Path], results: Path | None) -> Study:
    """The study of these files, else of this results folder, else the default study, else the only one here."""
    from scalestudy.cli.inputs import plan_of
    from scalestudy.study.config.load import load_study

    files = study_files(files, results)
    return load_study(*files) if files else plan_of(find_results((), results)).study


def find_results(files: Sequence[Path], results: Path | None, *, having: str = "plan") -> Path:
    """The results folder: the given one, else that of the study of these files.

    If neither is given: that of the default study if it has results, else of the only study under results/ that
    has them. having: which file tells that (registry/results.py).
    """
    if results is not None:
        if files:  # or a wrong name would be passed over in silence
            find_study(files, None)
        return _checked(results, having)
    expected = results_of(find_study(files, None)) if study_files(files, None) else None
    if expected and (expected / RESULTS[having]).exists():
        return expected
    found = [] if files else _studies(home() / "results", having)
    if len(found) == 1:
        return found[0]
    if expected and not found:
        raise UserError(f"{expected / RESULTS[having]}: missing; `scalestudy run` runs the study and writes it")
    several = f"results/ has {', '.join(folder.name for folder in found)}" if found else "results/ has none"
    raise UserError(f"name a study with --study FILE or --results FOLDER; {several}")


def results_of(study: Study) -> Path:
    """Where the workflow puts the results of a study."""
    return home() / "results" / study.name


def _checked(folder: Path, having: str) -> Path:
    """The folder itself; UserError where it cannot be the results of a study."""
    if not folder.is_dir():
        hint = f"; a study file is named with --study {folder}" if folder.is_file() else nearest(folder)
        raise UserError(f"{folder}: no such folder{hint}; name the results of a study, such as results/STUDY")
    if not any((folder / RESULTS[name]).exists() for name in ("plan", having)):
        below = [path.name for path in _studies(folder, "plan")]
        near = f"; in it are {', '.join(below)}" if below else ", such as results/STUDY"
        raise UserError(
            f"{folder}: no results of a study: it has no plan.json. Name the folder of one{near};"
            " `scalestudy stage plan` writes a plan"
        )
    return folder


def _studies(folder: Path, having: str) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"*/{RESULTS[having]}"))
