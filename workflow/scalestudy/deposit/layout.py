"""The files of a deposit: what was measured, what is made from it, and what is added. Nothing else is in one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.record.observation import read_record
from scalestudy.record.voucher import VOUCHER
from scalestudy.registry.results import RESULTS
from scalestudy.study.plan import Plan

SUMS, DEPOSIT, STUDY, LOCKED = "SHA256SUMS", "deposit.json", "study.yaml", "requirements.txt"
README, LICENCE, CITATION, ZENODO = "README.md", "LICENSE", "CITATION.cff", ".zenodo.json"
SCRIPTS = "scripts"
"""Folder of training scripts that the author adds. No command of ours executes them."""
DATA_PACKAGE, CROISSANT = "datapackage.json", "croissant.json"
TEXTS = (README, LICENCE, CITATION, ZENODO, STUDY, LOCKED)
"""Files that are made from the study and from deposit.json."""
TYPESET = ("report", "proposal")
"""LaTeX documents that have a PDF."""

_KEPT = ("plan", "verification", "verified", "command")
"""Files that no stage makes from the runs: the plan, and the result of tried advice."""
_MADE = tuple(name for name in RESULTS if name not in _KEPT)
_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_MEASURED_PATTERNS = (
    rf"runs/{_WORD}/{_WORD}\.(?:json|sha256|parquet|csv|txt|gz)",
    r"decisions/after_\d+\.json",
    rf"verification/{_WORD}\.(?:json|yaml)",
    rf"{SCRIPTS}/{_WORD}",
)
_MADE_PATTERNS = (
    rf"tables/{_WORD}\.tex",
    rf"figures/{_WORD}\.(?:pdf|svg|png|csv|txt)",
    rf"schemas/{_WORD}\.json",
    r"(?:report|proposal|artifact_description)\.tex",
    r"(?:report|proposal)\.pdf",
)


def is_made(name: str) -> bool:
    """Return whether a file is made from what was measured, so that it can be made again and compared."""
    known = {RESULTS[one] for one in _MADE} | {*TEXTS, DATA_PACKAGE, CROISSANT}
    return name in known or any(re.fullmatch(pattern, name) for pattern in _MADE_PATTERNS)


def is_known(name: str) -> bool:
    """Return whether a deposit can have a file of this name, relative to its folder."""
    kept = {RESULTS[one] for one in _KEPT} | {SUMS, DEPOSIT}
    return name in kept or is_made(name) or any(re.fullmatch(pattern, name) for pattern in _MEASURED_PATTERNS)


def measured_files(results: Path, plan: Plan) -> Iterator[str]:
    """Yield the names of the files of a study that no stage can make again: plan, runs, decisions, tried advice.

    Raises UserError if the record of a run is missing or damaged.
    """
    yield from (RESULTS[name] for name in _KEPT if (results / RESULTS[name]).exists())
    for run in plan.runs:
        folder = results / "runs" / run
        for name in sorted({"run.json", *read_record(folder).files}):
            yield f"runs/{run}/{name}"
        if (folder / VOUCHER).exists():
            yield f"runs/{run}/{VOUCHER}"
    for path in sorted([*results.glob("decisions/*"), *results.glob("verification/*")]):
        if path.is_file() and is_known(name := path.relative_to(results).as_posix()):
            yield name


def made_files(results: Path) -> list[str]:
    """Return the names of the files that stages have made, sorted."""
    places = [results, *(results / name for name in ("tables", "figures", "schemas"))]
    found = (path for place in places if place.is_dir() for path in place.iterdir() if path.is_file())
    return sorted(name for path in found if is_made(name := path.relative_to(results).as_posix()))


def left_out(results: Path, kept: set[str]) -> list[str]:
    """Return the entries of a results folder that the deposit does not have, a folder as a whole, sorted."""
    found = set()
    for path in results.rglob("*"):
        name = path.relative_to(results).as_posix()
        if (path.is_dir() and not path.is_symlink()) or name in kept or is_made(name):
            continue
        parts = name.split("/")
        found.add("/".join(parts[:1]) + "/" if parts[0] not in ("runs",) and len(parts) > 1 else _of_run(parts))
    return sorted(found)


def _of_run(parts: list[str]) -> str:
    """A file of a run by its place, and not by its run: `runs/*/out/`."""
    if parts[0] != "runs" or len(parts) < 3:
        return "/".join(parts)
    if parts[1].startswith("."):
        return f"runs/{parts[1]}/"
    return f"runs/*/{parts[2]}{'/' if len(parts) > 3 else ''}"


def refuse_unknown(name: str, archive: Path) -> None:
    """Raise UserError for a file that no deposit has."""
    if not is_known(name):
        raise UserError(f"{archive}: {name[:200]!r}: not a file of a deposit; another program added it")
