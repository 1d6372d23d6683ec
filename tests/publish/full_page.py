"""A page with everything that report.html can contain, for tests that look at it in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pynvml
from builders import WORKLOAD_FIGURES, frames_of, page_of, results_of, study_of
from conftest import mlp_workload, small_content
from nvml import FakeNvml, bridged
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.analyse.study.environment import StudyEnvironment, WarningCount, study_environment
from scalestudy.publish.embedding import data_uri
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.results import Results
from scalestudy.record.host.environment import hardware_facts
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.verify.model import VerificationFile
from scalestudy.verify.score import score
from test_documents import epochs_of
from test_every_number import TIMES
from test_measured_views import TRACE, probed
from tried_advice import trial_of, tried_study


def full_study() -> tuple[Plan, Results]:
    """A study of two workloads: probes, a trace, twins, failed runs, warnings, links of GPUs and tried advice."""
    content = small_content(
        description="Two small networks.",
        repeats=3,
        scales=["1x2", "1x4"],
        measure={"floor": True},
        workloads={"mlp": mlp_workload(target_accuracy=0.8), "other": mlp_workload()},
    )
    plan = make_plan(parse_study(content, source="x"))
    runs = study_of(plan, TIMES | {("other", *key[1:]): value for key, value in TIMES.items()})
    runs["record_sha256"], runs["commit"], runs["dirty"] = "abcdef" * 10, "0123456789abcdef", False
    runs.loc[runs["variant"] == "single-again", "step_time_s"] *= 1.004
    plain = results_of(plan, runs)
    links = study_environment(
        [{"hardware": hardware_facts({}, FakeNvml(*bridged(), ancestor=pynvml.NVML_TOPOLOGY_SYSTEM))}]
    ).links
    environment = StudyEnvironment(
        facts={
            "device": ("cpu",),
            "cpu": ("AMD EPYC 7763 64-Core Processor",),
            "variable OMP_NUM_THREADS": ("1",),
        },
        links=links,
        warnings=(WarningCount(kind="busy host", launches=2, example="others used 0.6 cores before this run"),),
    )
    tried = score(trial_of(Interval(2.0, 1.9, 2.1)), *tried_study(small_content()))
    made = {run: {"outcome": "ok"} for run in (*tried.before.runs, *tried.after.runs)}
    file = VerificationFile(study="small", verified=(tried,), left_out=(), runs=made)
    given: dict[str, Any] = {"traces": [TRACE], "environment": environment, "verification": file}
    return plan, results_of(plan, runs, probed(plain.summary), **given)


def write_full_page(folder: Path) -> Path:
    """Write that page with real figures, and return its path."""
    plan, results = full_study()
    text = page_of(plan, results)
    frames = frames_of(plan, results.summary, epochs=epochs_of(plan))
    with paper_style():
        for name in WORKLOAD_FIGURES:
            _, svg, *_ = save_figure(drawing(name)(plan, "mlp", frames), folder / name)
            text = text.replace(f'src="data:,{name}"', f'src="{data_uri(svg.read_text(encoding="utf-8"))}"')
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path
