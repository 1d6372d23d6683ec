"""Every example, run by the commands of its README on two ranks, from a copy of its folder.

In the short form a second file of the study sets few steps and one run of each point, and the workflow ends with
the text report. The full form is marked slow.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT
from scalestudy.record.tables import Observation, read_observation
from shells import in_shell as run

EXAMPLES = ROOT / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/study.yaml"))
SAMPLES = {"huggingface": 1920, "lightning": 1440, "accelerate": 1440, "own-loop": 1440}
"""Of an epoch, of the examples that run to their end and report their accuracy."""
BATCH = {"ddp": 48, "fsdp2": 16, "imagenet": 32}
"""Samples of a step of one process, of the others."""
LATER = ("accelerate", "fsdp2", "huggingface", "imagenet", "lightning", "own-loop")
"""Examples that `make test-all` runs; other tests train with the same calls."""
SHORT: dict[str, Any] = {
    "repeats": 1,
    "max_repeats": 1,
    "host": {"device": "cpu"},
    "measure": {
        "floor": False,
        "warmup_steps": 2,
        "max_warmup_steps": 2,
        "min_steps": 10,
        "max_steps": 10,
        "probe_rounds": 2,
        "probe_steps": 3,
    },
    "report": {"overhead_reference": False},
}
OF_STEPS = ("min_steps", "max_steps", "max_warmup_steps", "probe_rounds", "probe_steps")


def commands_of(readme: Path) -> list[str]:
    """Lines of the blocks of code of a README."""
    blocks = re.findall(r"^```\n(.*?)^```", readme.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


def copied(name: str, tmp_path: Path) -> Path:
    unwanted = shutil.ignore_patterns("__pycache__", "results", ".snakemake")
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=unwanted))


def observations(folder: Path, name: str) -> list[Observation]:
    """Return the records of the runs; runs in reserve may not have been needed."""
    found = [read_observation(path.parent) for path in sorted(folder.glob(f"results/{name}/runs/*/run.json"))]
    return [one for one in found if one.record.outcome != "unneeded"]


def judge(name: str, folder: Path, *, epochs: int) -> None:
    """What has to be in the results of an example."""
    found = observations(folder, name)
    assert {one.record.spec.world_size for one in found} == {1, 2}
    for one in found:
        record = one.record
        assert record.outcome == "ok", record.reason
        if name in BATCH:
            plain = one.steps[one.steps["phase"] == "measured"]
            assert set(plain["samples"]) == {record.spec.batch_per_rank}
            assert record.totals.steps >= 10
            continue
        assert record.totals.samples == SAMPLES[name] * epochs
        log = (folder / f"results/{name}/runs" / record.run_id / "log.txt").read_text(encoding="utf-8")
        printed = [float(value) for value in re.findall(r"^epoch \d+: accuracy (\d\.\d+)$", log, re.MULTILINE)]
        assert len(printed) == epochs
        assert list(one.epochs["validation_accuracy"]) == pytest.approx(printed, abs=6e-5)
    report = (folder / f"results/{name}/performance_report.txt").read_text(encoding="utf-8")
    assert "speedup" in report
    assert ("on held-out data" in report) == (name in SAMPLES)


def test_every_example_is_in_the_index() -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| \[([\w-]+)\]\(\1/README\.md\)", index, flags=re.MULTILINE)) == NAMES
    assert len(NAMES) == 7
    assert set(NAMES) == set(SAMPLES) | set(BATCH)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_has_15_lines_at_the_most_and_its_readme_is_short(name: str) -> None:
    assert len((EXAMPLES / name / "study.yaml").read_text(encoding="utf-8").splitlines()) <= 15
    assert len((EXAMPLES / name / "README.md").read_text(encoding="utf-8").splitlines()) <= 25
    assert sorted(path.name for path in (EXAMPLES / name).iterdir() if path.is_file()) == [
        "README.md",
        "study.yaml",
        "train.py",
    ]


@pytest.mark.parametrize("name", [name for name in NAMES if name in BATCH])
def test_a_script_that_is_measured_without_a_changed_line_does_not_name_us(name: str) -> None:
    assert "scalestudy" not in (EXAMPLES / name / "train.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LATER else []) for name in NAMES]
)
def test_an_example_runs_in_a_short_form(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    study = yaml.safe_load((folder / "study.yaml").read_text(encoding="utf-8"))
    ((workload, content),) = study["workloads"].items()
    epochs = {"epochs": 1} if "epochs" in content else {}
    short = SHORT | {"workloads": {workload: {"scaling": ["strong"], **epochs}}}
    if content.get("run_to_end"):  # its own steps, and no probes after them
        short["measure"] = {key: value for key, value in SHORT["measure"].items() if key not in OF_STEPS}
    (folder / "short.yaml").write_text(yaml.safe_dump(short), encoding="utf-8")
    whole = "scalestudy run --study study.yaml"
    commands = commands_of(folder / "README.md")
    assert commands == [whole, "scalestudy summary --study study.yaml"]
    said = run(f"{whole} short.yaml results/{name}/performance_report.txt", folder)
    assert "were accepted, up to" in said
    judge(name, folder, epochs=1)
    assert f"study {name}: 2 runs (2 ok)" in run(commands[1], folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_as_its_readme_says(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    for command in commands_of(folder / "README.md"):
        run(command, folder)
    judge(name, folder, epochs=6)
    assert (folder / f"results/{name}/report.html").exists()
