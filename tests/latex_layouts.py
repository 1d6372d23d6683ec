"""Papers of several classes that include everything we write for LaTeX, and what their logs complain of."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from builders import results_of, study_of
from conftest import mlp_workload
from nvml import FakeNvml, on_pcie, switched
from scalestudy.analyse.study.environment import StudyEnvironment, study_environment
from scalestudy.publish.results import Results
from scalestudy.record.host.environment import hardware_facts
from scalestudy.study.config.load import load_study, parse_study
from scalestudy.study.plan import Plan, make_plan

ROOT = Path(__file__).parents[1]
FULL = {path.stem: (path,) for path in sorted((ROOT / "config/studies").glob("*.yaml"))}
STUDIES = FULL | {
    f"{name}, small": (*files, files[0].parent / "cpu-small" / files[0].name) for name, files in FULL.items()
}
"""Name of a ready study, full or scaled down -> its files."""
LAYOUTS = {
    "article, one column": "{article}",
    "article, two columns": "[twocolumn]{article}",
    "IEEEtran, one column": "[journal,onecolumn]{IEEEtran}",
    "IEEEtran, two columns": "[conference]{IEEEtran}",
    "acmart, one column": "[manuscript,nonacm]{acmart}",
    "acmart, two columns": "[sigconf,nonacm]{acmart}",
}
"""Layout -> its options and class."""
LONG = "a-name-of-sixty-characters-that-a-stranger-may-choose-freely"
WITHOUT_BREAKS = "w" * 60
COMPLAINTS = (
    r"Overfull \\[hv]box \([\d.]+pt too (?:wide|high)\).*",
    r"LaTeX Warning: (?:Reference|Citation|There were undefined|Float too large).*",
    r"Missing character:.*",
    r"Underfull \\hbox \(badness 10000\) in alignment.*",
)


def mixed(workload: str, variant: str, **others: Any) -> dict[str, Any]:
    """A study of strategies and variants on one and on two nodes, with these names."""
    return {
        "repeats": 2,
        "scales": ["1x2", "1x4", "2x2", "2x4"],
        "variants": {
            "single": {"strategy": "single"},
            "ddp": {"strategy": "ddp"},
            variant: {"strategy": "ddp", "ddp": {"bucket_cap_mb": 100}},
            "fsdp": {"strategy": "fsdp"},
        },
        "workloads": {workload: mlp_workload(target_accuracy=0.8), "mlp": mlp_workload(target_accuracy=0.8)},
    } | others


def recorded(content: dict[str, Any] | Sequence[Path]) -> tuple[Plan, Results]:
    """A study as if it had been run on eight GPUs: long numbers, intervals, failures, memory and energy."""
    study = parse_study(content, source="x") if isinstance(content, dict) else load_study(*content)
    plan = make_plan(study)
    times = {
        (s.workload, s.world_size, s.batch_per_rank): [
            1.23456 * s.batch_per_rank**0.9 / s.world_size**0.1 * (1 + 0.03 * (repeat * 7 % 5))
            for repeat in range(9)
        ]
        for s in plan.runs.values()
    }
    runs = study_of(plan, times)
    runs["record_sha256"], runs["commit"], runs["dirty"] = "abcdef" * 10, "0123456789abcdef" * 2, True
    runs["energy_per_sample_j"] = runs["cpu_energy_per_sample_j"] = 123.456
    for kind in ("allocated", "reserved"):
        runs[f"peak_{kind}_gib"] = 61.234
    largest = (runs["world_size"] > 1) & (runs["world_size"] == runs["world_size"].max())
    _fail(runs, largest & (runs["variant"] == runs.loc[largest, "variant"].iloc[-1]), "oom")
    _fail(runs, ~largest & (runs["world_size"] > 1) & (runs["repeat"] == 1), "failed")
    return plan, results_of(plan, runs, environment=ENVIRONMENT)


def _fail(runs: pd.DataFrame, which: pd.Series, outcome: str) -> None:
    runs.loc[which, ["step_time_s", "throughput_samples_per_s", "peak_allocated_gib"]] = float("nan")
    runs.loc[which, "outcome"] = outcome
    runs.loc[which, "reason"] = "a reason"


def _environment() -> StudyEnvironment:
    """Of two kinds of hosts: twelve GPUs on a switch, eight on PCIe."""
    hosts = [hardware_facts({}, FakeNvml(*boards)) for boards in (switched(12), on_pcie(8))]
    links = study_environment([{"hardware": host} for host in hosts])
    facts = {
        "device": ("NVIDIA A100-SXM4-80GB",),
        "cpu": ("AMD EPYC 7763 64-Core Processor _ % & # { } \\ $ ~ ^ < > | 漢 \N{GRINNING FACE}",),
        "host": ("a-host-with-a-long-name-0123.cluster.example.org",),
        "python": ("3.11.7",),
        "version of torch": ("2.13.0+cu130",),
        "variable NCCL_TOPO_FILE_OF_THIS_CLUSTER": ("/opt/a/rather/long/path/to_a_file/topology.xml",),
    }
    return links.model_copy(update={"facts": dict(links.facts) | facts})


ENVIRONMENT = _environment()


def compiled(folder: Path, document_class: str, body: str, *, passes: int = 2) -> str:
    """The log of a paper with this body, in which no line is broken.

    Raises AssertionError with the end of the log if LaTeX fails.
    """
    text = (
        f"\\documentclass{document_class}\n\\usepackage[T1]{{fontenc}}\\usepackage{{lmodern}}\n"
        "\\usepackage{booktabs,siunitx,graphicx}\n\\begin{document}\n"
        f"\\title{{A paper}}\\author{{Nobody}}\\maketitle\nText.\n{body}\n\\end{{document}}\n"
    )
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(passes):
        subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            check=False,
            env=os.environ | {"max_print_line": "10000"},
        )
        log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
        assert "Output written on paper.pdf" in log, log[-3000:]
    return log


def complaints(log: str) -> list[str]:
    """The lines of a log that tell of something a reader would see."""
    return [found for pattern in COMPLAINTS for found in re.findall(pattern, log)]


def body_of(tables: Sequence[str], figures: Sequence[str] = (), appendix: bool = True) -> str:
    """The body of a paper with these tables, figures and the artifact description."""
    parts = [f"\\input{{tables/{name}}}\\clearpage" for name in tables]
    parts += [
        f"\\begin{{figure}}\\centering\\includegraphics[width=\\linewidth]{{figures/{name}}}"
        f"\\caption{{A figure.}}\\end{{figure}}\\clearpage"
        for name in figures
    ]
    return "\n".join([*parts, *(["\\appendix\n\\input{artifact_description}"] if appendix else [])])
