"""The environment of a study: hardware taken apart into facts, warnings counted by kind and kept out of them."""

from __future__ import annotations

import os
from typing import Any

import pytest
from builders import observation
from nvml import Board, FakeNvml
from scalestudy.analyse.study.environment import WarningCount, study_environment
from scalestudy.record.host.environment import hardware_facts
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content, source="x"))


def launches(plan: Plan, *environments: dict[str, Any]) -> list[dict[str, Any]]:
    """What a run recorded of where it ran, for each of these environments."""
    specs = list(plan.runs.values())
    return [
        observation(
            specs[index], [[0.001] * 10] * specs[index].world_size, environment=environment
        ).record.environment
        for index, environment in enumerate(environments)
    ]


def test_hardware_becomes_facts_with_plain_names(plan: Plan) -> None:
    boards = [Board(f"GPU-{number}", bus=number + 1, nvlinks=[None] * 18) for number in range(4)]
    hardware = hardware_facts({}, FakeNvml(*boards))
    facts = study_environment(launches(plan, {"hardware": hardware}, {"hardware": hardware})).facts
    assert facts["hardware gpu count"] == (4,)
    assert facts["hardware gpu name"] == ("NVIDIA H100 80GB HBM3",)
    assert facts["hardware gpu uuid"] == (
        "GPU-0",
        "GPU-1",
        "GPU-2",
        "GPU-3",
    )
    assert facts["hardware gpu links"] == ("NV18 (NVLink 4.0): 6 pairs",)
    assert facts["hardware memory total gib"] == (hardware["memory"]["total_gib"],)
    assert facts["hardware cpu sockets"] == (hardware["cpu"]["sockets"],)
    assert "hardware gpu note" not in facts
    assert "hardware gpu mig mode" not in facts, "nobody knows"
    assert "hardware" not in facts
    assert "warnings" not in facts
    assert facts["version of torch"] == ("2.13.0",)


def test_links_are_named_pair_by_pair_where_they_are_few(plan: Plan) -> None:
    links = {"0-1": "NV4 (NVLink 3.0)", "0-2": "SYS", "1-2": "SYS"}
    facts = study_environment(launches(plan, {"hardware": {"gpu": {"links": links}}})).facts
    assert facts["hardware gpu links"] == ("NV4 (NVLink 3.0): 0-1; SYS: 0-2, 1-2",)


def test_a_reading_of_the_moment_is_told_as_a_range(plan: Plan) -> None:
    hardware = [{"gpu": {"devices": [{"current_temperature_c": t, "power_limit_w": 700.0}]}} for t in (41, 38, 44)]
    facts = study_environment(launches(plan, *({"hardware": block} for block in hardware))).facts
    assert facts["hardware gpu current temperature c"] == ("38 to 44",)
    assert facts["hardware gpu power limit w"] == (700.0,)
    alike = study_environment(launches(plan, {"hardware": hardware[0]})).facts
    assert alike["hardware gpu current temperature c"] == (41,)


def test_warnings_are_counted_by_launch_and_kind(plan: Plan) -> None:
    def busy(cores: float) -> dict[str, str]:
        return {"kind": "busy host", "text": f"the host is busy: {cores} cores"}

    gpus = [{"kind": "GPU in use", "text": f"GPU {number} was in use"} for number in range(2)]
    environment = study_environment(
        launches(plan, {"warnings": [busy(0.4)]}, {"warnings": []}, {"warnings": [*gpus, busy(1.2)]}, {})
    )
    assert environment.warnings == (
        WarningCount(kind="busy host", launches=2, example="the host is busy: 0.4 cores"),
        WarningCount(kind="GPU in use", launches=1, example="GPU 0 was in use"),
    )
    assert study_environment(launches(plan, {"warnings": []})).warnings == ()


def test_this_host_without_a_gpu_has_its_reason_among_the_facts(plan: Plan) -> None:
    facts = study_environment(launches(plan, {"hardware": hardware_facts(os.environ, FakeNvml(failing=12))})).facts
    assert facts["hardware gpu note"] == ("NVML does not answer: NVML Shared Library Not Found",)
    assert facts["hardware gpu count"] == (0,)
