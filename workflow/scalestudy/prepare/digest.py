"""SHA-256 of a file: what pins a source, and tells whether an array is still what was prepared."""

from __future__ import annotations

import hashlib
from pathlib import Path

from scalestudy.errors import UserError


def sha256_of(path: Path) -> str:
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
