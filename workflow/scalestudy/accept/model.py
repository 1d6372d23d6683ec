"""acceptance.json: the checks of this machine and their results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from scalestudy.record.document import Document, Part, Real
from scalestudy.registry.words.percent import percent

Word = Literal["green", "red", "unproven", "cannot tell"]
"""green: the check passed. red: it failed. unproven: it cannot be done on this machine or in the short form.
cannot tell: it compares times, and something else on the host disturbed them twice."""
CANNOT_TELL: Word = "cannot tell"
NAMES = {1: "identity", 2: "clocks", 3: "combinations", 4: "bandwidth", 5: "faults"}
"""The stages, by number."""


ORDER: tuple[Word, ...] = ("red", CANNOT_TELL, "green", "unproven")


def together(words: Iterable[Word]) -> Word:
    """Return the first word in ORDER that occurs; unproven if there are none."""
    found = set(words)
    return next((word for word in ORDER if word in found), "unproven")


class Check(Part):
    """One check."""

    name: str
    """What is checked: a combination, a fault or a quantity."""
    word: Word
    found: str
    """The result, as a phrase."""
    expected: str
    """The result that makes the check green."""
    value: Real = float("nan")
    """The number that was compared, if there is one."""
    limit: Real = float("nan")
    """The number that it was compared with."""
    run_id: str | None = None
    """Id of the run; None if the check concerns several runs or none."""


class Stage(Part):
    """One stage and its checks."""

    number: int
    name: str
    launches: int
    seconds: float
    """Duration of the whole stage."""
    checks: tuple[Check, ...]

    @property
    def word(self) -> Word:
        """Return the word of all checks together."""
        return together(check.word for check in self.checks)


class Impossible(Part):
    """A pair of options that no run can have on this machine."""

    options: tuple[tuple[str, str], tuple[str, str]]
    """(name, value) of both."""
    reason: str


class AcceptanceFile(Document):
    """The document that `scalestudy accept` writes."""

    made_by: ClassVar[str] = "scalestudy accept"
    schema_version: Literal[1] = 1
    scalestudy: str
    commit: str | None
    date: str
    """Day of the acceptance, in UTC."""
    device: Literal["cpu", "cuda"]
    devices: int
    """Number of ranks of a run, each with its own device unless `shared`."""
    shared: bool
    """Whether two ranks shared one CUDA device over gloo in stages 4 and 5. This does not measure scaling."""
    short: bool
    machine: dict[str, Any]
    """Versions, processor, memory, devices and links, without host names."""
    stages: tuple[Stage, ...]
    impossible: tuple[Impossible, ...]
    """Pairs of options that stage 3 left out."""

    @property
    def word(self) -> Word:
        """Return the word of all stages together."""
        return together(stage.word for stage in self.stages)


def check(name: str, holds: bool, found: str, expected: str, **more: Any) -> Check:
    """Return a check that is green or red."""
    return Check(name=name, word="green" if holds else "red", found=found, expected=expected, **more)


def unproven(name: str, why: str) -> Check:
    """Return a check that could not be done, with the reason."""
    return Check(name=name, word="unproven", found=why, expected="")


def near(name: str, value: float, limit: float, of: str) -> Check:
    """Check that the absolute value of the relative difference `value` is at most `limit`. A nan is red."""
    found = f"{percent(value, 2, signed=True)} from {of}"
    return check(name, abs(value) <= limit, found, f"within {percent(limit)}", value=value, limit=limit)
