"""The hardware table and the warnings, as a reader of the report meets them."""

from __future__ import annotations

from typing import Any

import pandas as pd
from builders import WALL_TIME, observation, page_of, printed_of, results_of, study_of
from nvml import Board, FakeNvml
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.environment import study_environment
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.host.environment import hardware_facts
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

BUSY = {"kind": "busy host", "text": "the host is busy: 0.6 cores in use by others just before this launch"}


def documents(content: dict[str, Any], *environments: dict[str, Any]) -> tuple[str, str]:
    """(text, page) of a study whose launches had these environments in turn."""
    plan = make_plan(parse_study(content, source="x"))
    times = {(s.workload, s.world_size, s.batch_per_rank): [0.001, 0.0011] for s in plan.runs.values()}
    observations = [
        observation(spec, [[0.001] * 10] * spec.world_size, environment=environments[index % len(environments)])
        for index, spec in enumerate(plan.runs.values())
    ]
    environment = study_environment([observation.record.environment for observation in observations])
    summary = summary_frame(plan, study_of(plan, times))
    runs = pd.DataFrame(
        {"outcome": ["ok"] * len(plan.runs), "run_id": "x", "reason": "", "protocol": 1, "strategy": "ddp"}
    )
    runs = runs.assign(workload="mlp", variant="ddp", world_size=2, **WALL_TIME)
    results = results_of(plan, runs, summary, findings=[], environment=environment)
    text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
    assert max(map(len, text.splitlines())) <= 80
    return text, page_of(plan, results)


def test_hardware_is_a_table_that_a_paper_can_use(content: dict[str, Any]) -> None:
    boards = [Board(f"GPU-{n}-with-a-rather-long-identifier", bus=n + 1, nvlinks=[None] * 18) for n in range(8)]
    hardware = hardware_facts({}, FakeNvml(*boards))
    hardware["cpu"] |= {"sockets": 2, "numa_nodes": {str(n): f"{16 * n}-{16 * n + 15}" for n in range(8)}}
    text, page = documents(content, {"hardware": hardware})
    table = text.split("HARDWARE\n--------\n\n")[1].split("\n\n")[0]
    assert "GPU                           NVIDIA H100 80GB HBM3\n" in table
    assert "GPUs visible                  8\n" in table
    assert "links between GPUs            NV18 (NVLink 4.0): 28 pairs\n" in table
    assert "GPU power limit (W)           700\n" in table
    assert "sockets                       2\n" in table
    assert all(line[29] == " " != line[30] for line in table.splitlines()), "values stand in one column"
    assert "uuid" not in table
    assert "hardware gpu uuid" in text, "it is among the rest"
    assert '<th scope="row">GPU power limit (W)</th><td>700</td>' in page


def test_versions_that_move_the_data_are_in_the_table(content: dict[str, Any]) -> None:
    hardware = hardware_facts({}, FakeNvml(Board("GPU-0")))
    versions = {"cuda": "12.8", "nccl": "2.27.3", "cudnn": "9.10.2"}
    text, _ = documents(content, {"hardware": hardware, **versions})
    table = text.split("HARDWARE\n--------\n\n")[1].split("\n\n")[0]
    named = {"GPU driver": "570.124.06", "CUDA": "12.8", "NCCL": "2.27.3", "cuDNN": "9.10.2"}
    assert all(f"{name:<30}{version}\n" in table for name, version in named.items())
    assert "CUDA " not in documents(content, {"hardware": hardware, "cuda": None})[0]


def test_a_host_without_gpus_says_why_in_one_row(content: dict[str, Any]) -> None:
    text, _ = documents(content, {"hardware": hardware_facts({}, FakeNvml(failing=12))})
    table = text.split("HARDWARE\n--------\n\n")[1].split("\n\n")[0]
    assert "NVML Shared Library Not" in table
    assert "GPUs visible" not in table


def test_runs_without_a_hardware_block_still_name_their_processor(content: dict[str, Any]) -> None:
    text, page = documents(content, {"cpu": "AMD EPYC", "memory_gib": 23.5})
    assert "processor                     AMD EPYC\nmemory (GiB)                  23.5\n" in text
    assert '<th scope="row">processor</th><td>AMD EPYC</td>' in page


def test_warnings_are_listed_with_their_launches_and_absent_without(content: dict[str, Any]) -> None:
    text, page = documents(content, {"warnings": [BUSY]}, {"warnings": []})
    runs = len(make_plan(parse_study(content, source="x")).runs)
    assert "WARNINGS\n--------" in text
    listed = " ".join(text.split())
    assert f"* busy host ({runs // 2} of {runs} launches), for example: {BUSY['text']}" in listed
    assert "<h2>Warnings</h2>" in page
    assert BUSY["text"] in page
    text, page = documents(content, {"warnings": []})
    assert "WARNINGS" not in text
    assert "Warnings" not in page
