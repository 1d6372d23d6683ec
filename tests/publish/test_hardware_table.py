"""The hardware table and the warnings, as a reader of the report meets them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pynvml
import pytest
from builders import WALL_TIME, book_of, observation, page_of, printed_of, results_of, study_of
from nvml import Board, FakeNvml, bridged, on_pcie, sliced, switched
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.environment import study_environment
from scalestudy.publish.documents.artifact import artifact_view
from scalestudy.publish.environment import hardware_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.topology import topologies
from scalestudy.record.host.environment import hardware_facts
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

BUSY = {"kind": "busy host", "text": "the host is busy: others used 0.6 cores just before this run"}


def documents(content: dict[str, Any], *environments: dict[str, Any]) -> tuple[str, str]:
    """(text, page) of a study whose runs had these environments in turn."""
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
    assert "GPUs                          none" in table.splitlines()
    assert "NVML" not in table
    assert "GPUs visible" not in table


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        ({"hardware gpu note": ("no GPU is visible",)}, ("GPUs", "none visible")),
        ({"hardware gpu note": ("NVML does not answer: Driver Not Loaded",)}, ("GPUs", "none")),
        (
            {"hardware gpu note": ("NVML does not answer: Driver Not Loaded",), "device_type": ("cuda",)},
            ("GPUs", "not known: NVML could not be queried"),
        ),
        (
            {"hardware gpu note": ("NVML does not answer: GPU is lost",)},
            ("GPUs", "not known: NVML could not be queried"),
        ),
        ({"interconnect": ("none: one process",)}, ("interconnect", "none (one process)")),
        (
            {"interconnect": ("none: one process", "host memory (gloo over TCP on one host)")},
            ("interconnect", "loopback (gloo/TCP, single host)"),
        ),
        ({"interconnect": ("network between hosts (gloo)",)}, ("interconnect", "network between hosts (gloo)")),
    ],
)
def test_cells_of_the_hardware_table_are_plain_words(facts: dict[str, Any], row: tuple[str, str]) -> None:
    assert hardware_view(facts) == [row]


def test_runs_without_a_hardware_block_still_name_their_processor(content: dict[str, Any]) -> None:
    text, page = documents(content, {"cpu": "AMD EPYC", "memory_gib": 23.5})
    assert "processor                     AMD EPYC\nmemory (GiB)                  23.5\n" in text
    assert '<th scope="row">processor</th><td>AMD EPYC</td>' in page


def test_warnings_are_listed_with_their_launches_and_absent_without(content: dict[str, Any]) -> None:
    text, page = documents(content, {"warnings": [BUSY]}, {"warnings": []})
    runs = len(make_plan(parse_study(content, source="x")).runs)
    assert "WARNINGS\n--------" in text
    listed = " ".join(text.split())
    assert f"* busy host ({runs // 2} of {runs} runs), for example: {BUSY['text']}" in listed
    assert "<h2>Warnings</h2>" in page
    assert BUSY["text"] in page
    text, page = documents(content, {"warnings": []})
    assert "WARNINGS" not in text
    assert "Warnings" not in page


TOPOLOGIES = {
    "8 GPUs on switches": (switched(), pynvml.NVML_TOPOLOGY_SYSTEM, {"NV18": 56}, ["NV18  18 NVLinks 4.0"]),
    "2 bridges": (
        bridged(),
        pynvml.NVML_TOPOLOGY_SYSTEM,
        {"NV12": 4, "SYS": 8},
        ["NV12  12 NVLinks 4.0", "SYS   the interconnect between NUMA nodes"],
    ),
    "PCIe only": (on_pcie(), pynvml.NVML_TOPOLOGY_NODE, {"NODE": 12}, ["NODE  host bridges of one NUMA node"]),
}


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_links_of_each_pair_are_a_table_in_text_page_and_latex(content: dict[str, Any], name: str) -> None:
    boards, ancestor, cells, legend = TOPOLOGIES[name]
    hardware = hardware_facts({}, FakeNvml(*boards, ancestor=ancestor))
    text, page = documents(content, {"hardware": hardware})
    table = text.split("HARDWARE\n--------\n\n")[1].split("\n\n")[1]
    lines = table.splitlines()
    assert lines[0].split() == [f"GPU{number}" for number in range(len(boards))]
    rows = [line.split() for line in lines[1 : len(boards) + 1]]
    assert [row[0] for row in rows] == lines[0].split()
    assert all(row[1 + number] == "X" for number, row in enumerate(rows))
    assert all(rows[a][1 + b] == rows[b][1 + a] for a in range(len(boards)) for b in range(len(boards)))
    found = [cell for row in rows for cell in row[1:]]
    assert {cell: found.count(cell) for cell in set(found)} == cells | {"X": len(boards)}
    assert lines[len(boards) + 1 :] == legend
    for cell, count in cells.items():
        assert page.count(f"<td>{cell}</td>") == count
    environment = study_environment([{"hardware": hardware}])
    tables = {"rows": [], "topologies": topologies(environment.links), "study": {"name": "x", "version": "1"}}
    tex = render(DIRECTORY / "environment_table.tex", **tables)
    for cell, count in cells.items():
        assert tex.split("\\ifdim")[0].count(f"& {cell}") == count, "before the panels for a narrow column"


@pytest.mark.parametrize("boards", [sliced(), switched(1), []], ids=["MIG", "one", "none"])
def test_no_table_of_links_without_links(content: dict[str, Any], boards: list[Board]) -> None:
    hardware = hardware_facts({}, FakeNvml(*boards))
    text, page = documents(content, {"hardware": hardware})
    assert "GPU0" not in text
    assert 'class="topology"' not in page


def test_launches_that_saw_fewer_of_the_same_gpus_add_no_table() -> None:
    few, many = ({"hardware": hardware_facts({}, FakeNvml(*switched(count)))} for count in (2, 4))
    assert [len(links) for links in study_environment([few, many, few]).links] == [6]
    other = {"hardware": hardware_facts({}, FakeNvml(*on_pcie(2)))}
    assert [len(links) for links in study_environment([many, other]).links] == [6, 1]
    assert study_environment([{}, {"hardware": {}}]).links == ()


def test_of_many_gpus_there_is_the_line_and_no_table() -> None:
    links = study_environment([{"hardware": hardware_facts({}, FakeNvml(*switched(13)))}]).links
    assert len(links[0]) == 78
    assert topologies(links) == []


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
@pytest.mark.parametrize("boards", [switched(12), bridged()], ids=["12 GPUs", "2 bridges"])
def test_links_fit_the_column_of_a_paper_and_of_the_artifact_description(
    content: dict[str, Any], boards: list[Board], tmp_path: Path
) -> None:
    hardware = hardware_facts({}, FakeNvml(*boards))
    plan = make_plan(parse_study(content, source="x"))
    times = {(s.workload, s.world_size, s.batch_per_rank): [0.001, 0.0011] for s in plan.runs.values()}
    runs = study_of(plan, times)
    environment = study_environment([{"hardware": hardware}])
    results = results_of(plan, runs, summary_frame(plan, runs), findings=[], environment=environment)
    printed = printed_of(plan, results)
    view = artifact_view(plan, results, printed, book=book_of(plan, results), command="")
    artifact = render(DIRECTORY / "artifact_description.tex", **view)
    assert "Links between GPUs" in artifact
    assert artifact.count("& NV12" if len(boards) == 4 else "& NV18") == (4 if len(boards) == 4 else 2 * 132)
    tables = {name: printed[name] for name in ("study", "topologies")}
    table = render(DIRECTORY / "environment_table.tex", rows=printed["hardware"], **tables)
    (tmp_path / "table.tex").write_text(table + "\n\\appendix\n" + artifact, encoding="utf-8")
    (tmp_path / "paper.tex").write_text(
        "\\documentclass[conference]{IEEEtran}\n\\usepackage{booktabs,siunitx}\n\\begin{document}\n"
        "\\input{table.tex}\n\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Overfull \\hbox" not in done.stdout


NVML_ERRORS = sorted({getattr(pynvml, name) for name in dir(pynvml) if name.startswith("NVML_ERROR_")} - {0})
LIBRARY_TEXTS = {str(pynvml.NVMLError(code)) for code in NVML_ERRORS}
GPU_CELLS = {
    "none",
    "none visible",
    "not readable: permission denied",
    "not known: NVML could not be queried",
}


class Lost(FakeNvml):
    """A driver that is initialised and then fails in every call with the same error."""

    def __init__(self, code: int) -> None:
        super().__init__(Board("GPU-0"))
        self.code = code

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        raise pynvml.NVMLError(self.code)


def shown_hardware(hardware: dict[str, Any], **facts: Any) -> dict[str, str]:
    return dict(hardware_view(study_environment([{"hardware": hardware, **facts}]).facts))


@pytest.mark.parametrize("device_type", ["cpu", "cuda"])
@pytest.mark.parametrize("code", NVML_ERRORS)
def test_no_message_of_nvml_is_in_a_cell(code: int, device_type: str) -> None:
    for nvml in (FakeNvml(failing=code), Lost(code)):
        cells = shown_hardware(hardware_facts({}, nvml), device_type=device_type)
        assert cells["GPUs"] in GPU_CELLS
        if code == pynvml.NVML_ERROR_NO_PERMISSION:
            assert cells["GPUs"] == "not readable: permission denied"
        for cell in cells.values():
            assert not any(text in cell for text in LIBRARY_TEXTS - {"Unknown Error", "Timeout"})
            assert "Error" not in cell
            assert "does not answer" not in cell


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_unreadable_files_of_the_kernel_leave_no_error_in_a_cell(
    monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """The real readers on a host whose /sys and /proc refuse: a cell is missing, or has other knowledge."""
    read = Path.read_text

    def refuse(self: Path, *arguments: Any, **options: Any) -> str:
        if str(self).startswith(("/sys/", "/proc/")):
            raise error
        return read(self, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", refuse)
    cells = shown_hardware(hardware_facts({}, FakeNvml(failing=pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)))
    assert cells["GPUs"] == "none"
    assert cells["processor"]
    assert not any(word in cell for cell in cells.values() for word in ("Error", "Errno", "denied", "None", "nan"))
