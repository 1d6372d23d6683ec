"""The attempt at a run, noted before anything starts, so that an attempt that is cut off is still known."""

import datetime
import json
import os
import platform
from pathlib import Path
from typing import TypedDict

from scalestudy.errors import UserError
from scalestudy.launch.slurm.job import job_id
from scalestudy.record.files import write_json
from scalestudy.record.observation import read_record
from scalestudy.record.protocol import CURRENT

FILE = "attempt.json"
Earlier = list[dict[str, str]]
"""For each earlier attempt: when it began (`started_at`), and how it ended (`end`)."""


class Attempt(TypedDict):
    """An attempt to measure a run, with the earlier attempts."""

    started_at: str
    host: str
    slurm_job_id: str | None
    protocol: int
    """The measurement protocol of the code that makes the attempt."""
    fingerprint: str
    """The fingerprint of that code; empty in an attempt of release 0.2 and before."""
    earlier: Earlier


def begin_attempt(partial: Path, earlier: Earlier, fingerprint: str) -> None:
    """Write the current attempt, with the earlier ones, to the partial directory. fingerprint: of the code."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    attempt: Attempt = {
        "started_at": now,
        "host": platform.node(),
        "slurm_job_id": job_id(os.environ),
        "protocol": CURRENT,
        "fingerprint": fingerprint,
        "earlier": earlier,
    }
    write_json(partial / FILE, attempt)


class UnreadableAttemptError(UserError):
    """The note of an attempt cannot be read: a full disk truncated it, or it was overwritten."""


def read_attempt(partial: Path) -> Attempt | None:
    """The attempt that made a partial directory; None where none was noted. Raises UnreadableAttemptError."""
    path = partial / FILE
    try:
        noted = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError):
        noted = None
    if not (
        isinstance(noted, dict)
        and all(isinstance(noted.get(key), str) for key in ("started_at", "host"))
        and isinstance(noted.get("slurm_job_id"), str | None)
        and isinstance(noted.get("protocol", 1), int)
        and isinstance(noted.get("fingerprint", ""), str)
        and isinstance(noted.get("earlier"), list)
        and all(isinstance(one, dict) and set(one) == {"started_at", "end"} for one in noted["earlier"])
    ):
        raise UnreadableAttemptError(f"{path}: not a valid note of an earlier attempt to measure the run")
    attempt: Attempt = {"protocol": 1, "fingerprint": ""} | noted  # type: ignore[assignment]  # release 0.1 noted none
    return attempt


def earlier_attempts(partial: Path, final: Path) -> Earlier:
    """Earlier attempts at a run that did not finish: cut off without a record, or recorded as preempted."""
    found: Earlier = []
    attempt = read_attempt(partial)
    if attempt:
        job = f" in SLURM job {attempt['slurm_job_id']}" if attempt["slurm_job_id"] else ""
        end = f"cut off on {attempt['host']}{job} before it could record anything"
        found += [*attempt["earlier"], {"started_at": attempt["started_at"], "end": end}]
    if (final / "run.json").exists():
        record = read_record(final)
        if record.outcome == "preempted":
            found += record.environment.get("earlier_attempts", [])
            found.append({"started_at": record.started_at, "end": record.reason})
    return found


def repeated(earlier: Earlier) -> list[dict[str, str]]:
    """A warning for the record of a run that needed more than one attempt."""
    if not earlier:
        return []
    last = earlier[-1]
    count = f"{len(earlier)} earlier attempts; the last" if len(earlier) > 1 else "an earlier attempt"
    text = f"{count}, started at {last['started_at']}, did not complete: {last['end']}"
    return [{"kind": "repeated launch", "text": text}]
