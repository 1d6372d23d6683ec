"""Reads the results folders of finished studies for a comparison, and refuses other folders."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

from scalestudy.analyse.study.compare import Source
from scalestudy.cli.results.inputs import environment_of, plan_of, table_of
from scalestudy.errors import UserError
from scalestudy.registry.results import RESULTS

MOST = len(ascii_uppercase)
SUMMARY = RESULTS["summary"]
# Columns of the summary that are also fields of a point of the plan.
OF_A_POINT = ("scaling", "nodes", "devices_per_node", "batch_per_rank", "global_batch")


def read_studies(folders: Sequence[Path], names: Sequence[str]) -> list[Source]:
    """Return the studies with their letters, in the given order. names: `WHICH=NAME` of the command line."""
    if not 2 <= len(folders) <= MOST:
        raise UserError(f"a comparison needs at least 2 and at most {MOST} studies; given: {len(folders)}")
    _refuse_twice(folders)
    sources = [read_finished(folder, letter) for folder, letter in zip(folders, ascii_uppercase, strict=False)]
    levels = [source.plan.study.report.confidence for source in sources]
    if len(set(levels)) > 1:
        said = ", ".join(f"{level:.4g} in {folder}" for level, folder in zip(levels, folders, strict=True))
        raise UserError(
            f"report.confidence differs: {said}; intervals of different levels cannot be compared. Set the same"
            " level in the study files and run the study again; no run is repeated"
        )
    labels = _labels(folders, [source.name for source in sources], names)
    return [replace(source, name=label) for source, label in zip(sources, labels, strict=True)]


def read_finished(folder: Path, letter: str) -> Source:
    """Return a study read from its results folder. Raises UserError if its tables do not match its plan."""
    plan = plan_of(folder)
    if not (folder / SUMMARY).exists():
        raise UserError(
            f"{folder}: no {SUMMARY}, so the study is not finished; run snakemake on it, or"
            f" `scalestudy stage aggregate --results {folder}` if all of its runs are recorded"
        )
    source = Source(
        letter=letter,
        name=plan.study.name,
        folder=str(folder),
        plan=plan,
        summary=table_of(folder, "summary"),
        runs=table_of(folder, "runs"),
        environment=environment_of(folder),
    )
    again = f"run `scalestudy stage aggregate --results {folder}` again"
    planned = [tuple(getattr(point, name) for name in OF_A_POINT) for point in plan.points]
    if planned != list(source.summary[list(OF_A_POINT)].itertuples(index=False, name=None)):
        raise UserError(f"{folder / SUMMARY}: does not match the plan in its folder: other points; {again}")
    unknown = set(plan.runs) - set(source.runs["run_id"])
    if unknown:
        raise UserError(
            f"{folder / 'runs.csv'}: does not match the plan in its folder: no run {min(unknown)}; {again}"
        )
    return source


def _refuse_twice(folders: Sequence[Path]) -> None:
    seen: dict[Path, Path] = {}
    for folder in folders:
        place = folder.resolve()
        if place in seen:
            also = "" if seen[place] == folder else f" ({seen[place]} is the same)"
            raise UserError(f"{folder}: given twice{also}; name two different studies")
        seen[place] = folder


def _labels(folders: Sequence[Path], studies: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return a name per study: given, or the study's name, or if that is not unique its folder's name or path."""
    given: dict[int, str] = {}
    for text in names:
        index, name = _named(text, folders)
        if index in given:
            raise UserError(f"--name {text}: {folders[index]} already has the name {given[index]}; give one name")
        given[index] = name
    ends = [folder.resolve().name for folder in folders]
    labels = []
    for index, (study, end, folder) in enumerate(zip(studies, ends, folders, strict=True)):
        usual = study if studies.count(study) == 1 else end if ends.count(end) == 1 else str(folder)
        labels.append(given.get(index, usual))
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"--name: two studies are called {label}; give them different names")
    return labels


def _named(text: str, folders: Sequence[Path]) -> tuple[int, str]:
    """Return (index, name) of 'FOLDER=NAME' or 'LETTER=NAME'; a folder has precedence over a letter."""
    keys = [(str(folder), index) for index, folder in enumerate(folders)]
    keys += [(f"{folder}/", index) for folder, index in keys]
    keys += [(letter, index) for index, letter in zip(range(len(folders)), ascii_uppercase, strict=False)]
    for key, index in keys:
        if text.startswith(f"{key}="):
            name = " ".join(text.removeprefix(f"{key}=").split())
            if not name:
                raise UserError(f"--name {text}: no name after the equals sign; write WHICH=NAME")
            if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
                raise UserError(f"--name {name!r}: has control characters; a name is plain text")
            return index, name
    known = ", ".join(f"{letter} ({folder})" for folder, letter in zip(folders, ascii_uppercase, strict=False))
    raise UserError(f"--name {text}: write LETTER=NAME or FOLDER=NAME; the studies are {known}")
