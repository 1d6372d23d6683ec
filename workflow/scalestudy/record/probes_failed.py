"""What failed in the probes of a launch, as a rank leaves it for the others and for the launcher.

The launch itself was measured before. So the rank that fails says why, and ends. The others, which wait for it in
a collective, find that file and end well too. The run is `ok`, with a warning that says what is missing.
"""

from __future__ import annotations

from pathlib import Path

from scalestudy.record.files import write_text

FILE = "probes-failed.txt"


def say_failed(directory: Path, why: str) -> None:
    """Leave why this rank's probes failed; the first one counts. directory: the partial one of the launch."""
    if not probes_failed(directory):
        write_text(directory / FILE, f"{why}\n")


def probes_failed(directory: Path) -> str:
    """Why the probes failed on some rank; empty where they did not."""
    path = directory / FILE
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def warnings_of_probes(directory: Path) -> list[dict[str, str]]:
    """A warning for the record of the launch, if they did."""
    why = probes_failed(directory)
    text = f"the launch was measured, and its probes failed, so what they tell is missing: {why}"
    return [{"kind": "probes failed", "text": text}] if why else []
