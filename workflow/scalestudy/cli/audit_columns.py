"""A published table with the corrections of a user, who names columns as HEADER=KIND or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from scalestudy.errors import UserError
from scalestudy.study.named_file import nearest, read_named

if TYPE_CHECKING:
    from scalestudy.diagnose.audit import Asked, Audit
    from scalestudy.importers.published import PublishedFile

MOST_BYTES = 2**20


def audited(
    path: Path, columns: tuple[str, ...], mapping: Path | None, scaling: str | None, line: int | None
) -> tuple[PublishedFile, list[Audit], list[Asked]]:
    """Return the tables of a file, the audits of their series, and what has to be answered for the others."""
    from scalestudy.diagnose.audit import audit_file, with_answer
    from scalestudy.importers.columns.meanings import Corrections
    from scalestudy.importers.reading import read_published

    file = read_published(path, Corrections(columns_of(columns, mapping), line))
    if scaling:
        file = with_answer(file, scaling)
    audits, asked = audit_file(file, path.stem)
    return file, audits, asked


def refuse_unanswered(path: Path, asked: Sequence[Asked]) -> None:
    """Raise UserError if a table needs an answer; it names what to add."""
    from scalestudy.publish.audit import question_of

    if asked:
        lines = list(dict.fromkeys(one.source.line for one in asked))
        each = [f"if the answers differ, add --line too, such as --line {lines[-1]}"] if len(lines) > 1 else []
        raise UserError("\n  ".join([f"{path}: needs an answer", *map(question_of, asked), *each]))


def columns_of(given: tuple[str, ...], mapping: Path | None) -> dict[str, str]:
    """Return header -> kind. The command line overrides the file. Raises UserError for anything else."""
    found = {} if mapping is None else _read(mapping)
    for words in given:
        header, sign, kind = words.rpartition("=")
        if not sign or not header.strip() or not kind.strip():
            raise UserError(f"--column {words}: must be HEADER=KIND, such as 'Speed=throughput'")
        found[header.strip()] = kind.strip()
    return found


def _read(path: Path) -> dict[str, str]:
    try:
        content = yaml.safe_load(read_named(path, most=MOST_BYTES))
    except OSError as error:
        raise UserError(f"--columns {path}: {(error.strerror or 'unreadable').lower()}{nearest(path)}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise UserError(f"--columns {path}: not valid YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(content, dict) or not all(isinstance(kind, str) for kind in content.values()):
        raise UserError(f"--columns {path}: must have a line HEADER: KIND per column")
    return {str(header): kind for header, kind in content.items()}
