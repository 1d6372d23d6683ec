"""A file by which a rank informs the other ranks and the launcher that its probes failed.

The training is measured before the probes. So the rank writes why the probes failed, and exits. The other ranks
may be waiting for it in a collective. The launcher stops them; they find the file, and report `ok` too. The run
is `ok`, with a warning that the results of its probes are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalestudy.record.files import write_text
from scalestudy.record.observation import NO_SYNC_LEFT_OUT

FILE = "probes-failed.txt"


def say_failed(directory: Path, why: str) -> None:
    """Write why this rank's probes failed; the first reason counts. directory: the run's partial directory."""
    if not probes_failed(directory):
        write_text(directory / FILE, f"{why}\n", lasting=False)


def probes_failed(directory: Path) -> str:
    """Return why the probes failed on some rank; empty if they did not fail."""
    path = directory / FILE
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def warnings_of_probes(
    directory: Path, environment: Mapping[str, Any], *, over_min: float | None = None
) -> list[dict[str, str]]:
    """Return warnings for the record of the run: the probes failed, or one was left out.

    environment: what the ranks recorded of the run. over_min: the time limit in minutes, if it ended the run.
    """
    if over_min is not None and probes_failed(directory):
        text = (
            f"the run was measured, but the time limit of {over_min:.3g} min ended its probes, so their"
            " results are missing; a larger time_limit_min leaves time for them"
        )
        return [{"kind": "probes failed", "text": text}]
    if why := probes_failed(directory):
        text = f"the run was measured, but its probes failed, so their results are missing: {why}"
        return [{"kind": "probes failed", "text": text}]
    if lacking := environment.get(NO_SYNC_LEFT_OUT):
        text = (
            "the run was measured, but not the cost of gradient synchronisation: in steps without"
            f" synchronisation each rank holds the gradients of the whole model, and {lacking}"
        )
        return [{"kind": "probe left out", "text": text}]
    return []
