"""Columns that a user names on the command line or in a file: HEADER=KIND."""

from __future__ import annotations

from pathlib import Path

import yaml

from scalestudy.errors import UserError
from scalestudy.study.named_file import nearest, read_named

MOST_BYTES = 2**20


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
