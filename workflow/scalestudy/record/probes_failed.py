"""A file in which a rank says that its probes failed, for the other ranks and for the launcher.

The launch itself was measured before the probes. So the rank writes why they failed, and ends. The other ranks
may be waiting for it in a collective. They are told to end, find the file, and report `ok` too. The run is `ok`,
with a warning that its probes are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalestudy.record.files import write_text
from scalestudy.record.observation import NO_SYNC_LEFT_OUT

FILE = "probes-failed.txt"


def say_failed(directory: Path, why: str) -> None:
    """Leave why this rank's probes failed; the first one counts. directory: the partial one of the launch."""
    if not probes_failed(directory):
        write_text(directory / FILE, f"{why}\n", lasting=False)


def probes_failed(directory: Path) -> str:
    """Why the probes failed on some rank; empty where they did not."""
    path = directory / FILE
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def warnings_of_probes(
    directory: Path, environment: Mapping[str, Any], *, over_min: float | None = None
) -> list[dict[str, str]]:
    """Warnings for the record of the launch: the probes failed, or one was left out.

    environment: what the ranks said of the launch. over_min: the time limit, where it ended the launch.
    """
    if over_min is not None and probes_failed(directory):
        text = (
            f"the launch was measured, but the time limit of {over_min:.3g} min ended its probes, so their results"
            " are missing; a larger time_limit_min leaves time for them"
        )
        return [{"kind": "probes failed", "text": text}]
    if why := probes_failed(directory):
        text = f"the launch was measured, but its probes failed, so their results are missing: {why}"
        return [{"kind": "probes failed", "text": text}]
    if lacking := environment.get(NO_SYNC_LEFT_OUT):
        text = (
            "the launch was measured, but not what synchronising gradients costs: without it each rank holds the"
            f" gradients of the whole model, and {lacking}"
        )
        return [{"kind": "probe left out", "text": text}]
    return []
