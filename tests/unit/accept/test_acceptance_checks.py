"""When a check is green, red or unproven; the document and its page."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import pytest
from scalestudy.accept.checks import clock_checks
from scalestudy.accept.disturbed import unless_disturbed
from scalestudy.accept.model import AcceptanceFile, Check, Impossible, Stage, check, near, unproven
from scalestudy.accept.page import page_text
from scalestudy.accept.studies import Launches
from scalestudy.record.document import read_document, write_document
from scalestudy.train.acceptance.clock import RANGE, parts_of


def stage(*checks: Check) -> Stage:
    return Stage(number=1, name="identity", launches=1, seconds=1.0, checks=checks)


def acceptance(*stages: Stage) -> AcceptanceFile:
    return AcceptanceFile(
        scalestudy="0",
        commit=None,
        date="2026-01-01",
        device="cpu",
        devices=2,
        shared=False,
        short=False,
        machine={
            **{"cpu": "a processor", "cores_available": 2, "cpu_cores": 2, "memory_gib": 8.0, "system": "Linux"},
            **{"python": "3.11", "packages": {"torch": "2.13"}, "gpu": {"devices": [], "links": {}}},
        },
        stages=stages,
        impossible=(Impossible(options=(("hook", "fp16"), ("sharding", "full")), reason="a | b"),),
    )


GREEN, RED, UNPROVEN = check("a", True, "1", "1"), check("b", False, "2", "1"), unproven("c", "no GPUs")
UNSURE = unless_disturbed(GREEN, "other_load")


@pytest.mark.parametrize(
    ("checks", "word"),
    [
        ((GREEN,), "green"),
        ((GREEN, RED, UNSURE), "red"),
        ((GREEN, UNPROVEN, UNSURE), "cannot tell"),
        ((GREEN, UNPROVEN), "green"),
        ((UNPROVEN,), "unproven"),
    ],
)
def test_one_red_check_makes_all_red_and_an_unproven_one_does_not(checks: tuple[Check, ...], word: str) -> None:
    assert stage(*checks).word == word
    assert acceptance(stage(GREEN), stage(*checks)).word == ("green" if word == "unproven" else word)


def test_a_number_that_is_missing_is_red() -> None:
    assert near("x", nan, 0.02, "the host").word == "red"
    assert near("x", -0.019, 0.02, "the host").word == "green"


def test_the_document_is_read_back_and_the_page_has_all_of_it(tmp_path: Path) -> None:
    made = acceptance(stage(GREEN, RED, UNPROVEN))
    write_document(tmp_path / "acceptance.json", made)
    assert read_document(tmp_path / "acceptance.json", AcceptanceFile).stages[0].checks[1].found == "2"
    page = page_text(made)
    assert page.startswith("# Acceptance: 2 CPU rank(s), red\n")
    assert "| c | unproven | no GPUs |  |" in page
    assert "| hook fp16 | sharding full | a \\| b |" in page


def timed(busy_s: float = 0.2, idle_s: float = 0.1) -> dict[str, Any]:
    step = {"busy_host_s": 0.2, "busy_marks_s": busy_s, "idle_host_s": 0.1, "idle_marks_s": idle_s}
    return {
        "untraced": [step] * 3,
        "traced": [step | {"busy_trace_s": busy_s, "idle_trace_s": idle_s}] * 3,
        "marks_s": 1e-6,
    }


def test_a_clock_that_is_three_per_cent_off_is_red() -> None:
    assert {one.word for one in clock_checks(timed())} == {"green"}
    red = [one.name for one in clock_checks(timed(busy_s=0.206)) if one.word == "red"]
    assert red == ["marks of a busy step", "marks under the profiler", "profiler's busy step"]
    assert [one.name for one in clock_checks(timed(idle_s=0.103)) if one.word == "red"] == [
        "marks of an idle part"
    ]


def test_clocks_beside_other_load_can_tell_nothing() -> None:
    found = clock_checks(timed(busy_s=0.206), "other_load")
    assert [one.word for one in found] == ["cannot tell"] * 5 + ["green"], "marks that were cheap are cheap"
    assert found[0].found.endswith("; measured under other load on the host")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_parts_of_a_step_from_a_trace(device: str) -> None:
    def event(ts: float, **more: Any) -> dict[str, Any]:
        return {"ph": "X", "name": RANGE, "cat": "user_annotation", "ts": ts, "dur": 200_000.0} | more

    def kernel(ts: float) -> dict[str, Any]:
        return event(ts, name="spin_kernel", cat="kernel")

    busy = kernel if device == "cuda" else event
    events = [{"ph": "M", "name": "process_name"}, busy(300_000.0), event(5.0, name="other"), busy(0.0)]
    (part,) = parts_of(events, device)
    assert part == {"busy_trace_s": pytest.approx(0.2), "idle_trace_s": pytest.approx(0.1)}


def test_ranks_that_share_a_device_are_no_study_of_a_gpu() -> None:
    """`auto`, so that no run is refused because a second device is missing."""
    spec = Launches("cuda", 2, shared=True).plain()
    assert (spec.host.device, spec.host.start) == ("auto", "fork")
    assert spec.host.environment["SCALESTUDY_SHARED_DEVICE"] == "1"
