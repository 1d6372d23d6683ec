"""Two checksums of run.json, which detect a record that was changed after the run.

One is in the record itself, over the rest of it. The other is in run.sha256, over the whole file. Snakemake
removes run.sha256 when a job fails or runs again, so it may be missing. It is then written again from a record
that matches its own checksum. Records of release 0.2 and before have no checksum of their own; preempted runs
have no run.sha256.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalestudy.record.files import write_text

VOUCHER = "run.sha256"
OWN = "checksum"
"""Key in the record of its own checksum."""
AGAIN = (
    "Restore it from a copy; or move the run's directory away, which loses nothing, and run the same command"
    " again: it measures the run again"
)


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a record with its own checksum. Raises ValueError for a number that is not finite."""
    plain = json.loads(json.dumps(content, allow_nan=False))
    return {**content, OWN: _own_checksum(plain)}


def write_voucher(directory: Path) -> None:
    """Write run.sha256 next to run.json."""
    digest = hashlib.sha256((directory / "run.json").read_bytes()).hexdigest()
    write_text(directory / VOUCHER, f"{digest}  run.json\n")


def doubt(directory: Path, record: bytes) -> str | None:
    """Return why a record is not what was measured, and what to do, in sentences; None if both checksums match.

    directory: the run's directory. record: the content of its run.json, which is valid JSON.
    """
    content = json.loads(record)
    own = content.get(OWN)
    if own and own != _own_checksum(content):
        return (
            f"{directory / 'run.json'}: was changed after the run was measured (its own checksum differs). {AGAIN}"
        )
    path = directory / VOUCHER
    try:
        words = path.read_bytes().split()
    except FileNotFoundError:
        return None
    except OSError as error:
        words, found = [], f"cannot be read ({(error.strerror or 'unreadable').lower()})"
    else:
        found = "is empty" if not words else "is not the checksum of run.json"
    if words[:1] == [hashlib.sha256(record).hexdigest().encode()]:
        return None
    if own:
        return (
            f"{path}: {found}, but run.json matches its own checksum. Remove {VOUCHER} and run the same command"
            f" again: it writes {VOUCHER} again"
        )
    return (
        f"{path}: {found}, so one of the two was changed after the run was measured. {AGAIN}. If you know that"
        f" run.json is right, remove {VOUCHER} instead"
    )


def was_replaced(directory: Path, record: bytes) -> bool:
    """Return whether run.json is no longer what was read, as when a run was just measured again."""
    try:
        return (directory / "run.json").read_bytes() != record
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _own_checksum(content: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != OWN}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
