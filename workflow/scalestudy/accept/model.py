"""acceptance.json: what was checked on this machine, and what came of it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from scalestudy.record.document import Document, Part, Real

Word = Literal["green", "red", "unproven"]
"""green: checked, and as it should be. red: checked, and not. unproven: this machine or form cannot check it."""
NAMES = {1: "identity", 2: "clocks", 3: "combinations", 4: "bandwidth", 5: "faults"}
"""The stages, by number."""


class Check(Part):
    """One thing that was checked."""

    name: str
    """Of what: a combination, a fault, a quantity."""
    word: Word
    found: str
    """What was found, as a phrase."""
    expected: str
    """What makes it green."""
    value: Real = float("nan")
    """The number that was compared, where there is one."""
    limit: Real = float("nan")
    """The number that it was compared with."""
    run_id: str | None = None
    """Of the launch; None where the check looks at several or at none."""


class Stage(Part):
    """One stage and its checks."""

    number: int
    name: str
    launches: int
    seconds: float
    """All of the stage."""
    checks: tuple[Check, ...]

    @property
    def word(self) -> Word:
        """red if any check is; unproven if no check is green."""
        words = {check.word for check in self.checks}
        return "red" if "red" in words else "green" if "green" in words else "unproven"


class Impossible(Part):
    """A pair of options that no launch can have here."""

    options: tuple[tuple[str, str], tuple[str, str]]
    """(name, value) of both."""
    reason: str


class AcceptanceFile(Document):
    """What `scalestudy accept` keeps."""

    made_by: ClassVar[str] = "scalestudy accept"
    schema_version: Literal[1] = 1
    scalestudy: str
    commit: str | None
    date: str
    """Day on which it was made, in UTC."""
    device: Literal["cpu", "cuda"]
    devices: int
    """Ranks of the launches, each with a device of its own unless `shared`."""
    shared: bool
    """Whether two ranks shared one CUDA device over gloo in stages 4 and 5. That measures no scaling."""
    short: bool
    machine: dict[str, Any]
    """Versions, processor, memory, devices and links; no names of hosts."""
    stages: tuple[Stage, ...]
    impossible: tuple[Impossible, ...]
    """Of stage 3."""

    @property
    def word(self) -> Word:
        """red if any stage is; else green if any is."""
        words = {stage.word for stage in self.stages}
        return "red" if "red" in words else "green" if "green" in words else "unproven"


def check(name: str, holds: bool, found: str, expected: str, **more: Any) -> Check:
    """A check that is green or red."""
    return Check(name=name, word="green" if holds else "red", found=found, expected=expected, **more)


def unproven(name: str, why: str) -> Check:
    """A check that could not be made, and why."""
    return Check(name=name, word="unproven", found=why, expected="")


def near(name: str, value: float, limit: float, of: str) -> Check:
    """Whether the relative difference `value` is at most `limit` in size. A value of nan is red."""
    found = f"{value:+.2%} from {of}"
    return check(name, abs(value) <= limit, found, f"within {limit:.0%}", value=value, limit=limit)
