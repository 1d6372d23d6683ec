"""A run that replaces spoiled ones begins when nobody else computes, or when it has waited long enough."""

from __future__ import annotations

import pytest
from scalestudy.launch.guards import moment
from scalestudy.launch.guards.host import BUSY, Guard
from scalestudy.launch.guards.moment import look_when_quiet


class Host:
    """A host with the number of cores that other programs use at each look."""

    def __init__(self, *cores: float) -> None:
        self.cores, self.looks = list(cores), 0

    def look(self) -> Guard:
        self.looks += 1
        used = self.cores[min(self.looks, len(self.cores)) - 1]
        busy = {"kind": BUSY, "text": f"the host is busy: {used} cores"}
        other = {"kind": "little memory", "text": "0.1 GiB"}
        return Guard(None, (0, 1), {"hardware": {}, "warnings": [other, *([busy] if used else [])]})


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment, "POLL_S", 0.01)


def test_it_begins_as_soon_as_the_host_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    host = Host(2.0, 1.5, 0)
    guard = look_when_quiet(host.look, 600)
    assert host.looks == 3
    assert guard is not None and [one["kind"] for one in guard.environment["warnings"]] == ["little memory"]
    said = "".join(capsys.readouterr())
    assert said.count("waiting up to 600 s for a quiet moment: the host is busy: 2.0 cores") == 1


def test_it_begins_on_a_host_that_stays_busy(capsys: pytest.CaptureFixture[str]) -> None:
    host = Host(2.0)
    guard = look_when_quiet(host.look, 0.1)
    assert host.looks > 1
    assert guard is not None and BUSY in [one["kind"] for one in guard.environment["warnings"]]
    capsys.readouterr()


def test_other_launches_do_not_wait() -> None:
    host = Host(2.0)
    look_when_quiet(host.look, 0.0)
    assert host.looks == 1


def test_nodes_that_look_at_themselves_are_not_waited_for() -> None:
    assert look_when_quiet(lambda: None, 600) is None
