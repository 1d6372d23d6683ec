"""The hardware and software of a study as a table."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.publish.environment import as_text, hardware_view
from scalestudy.publish.views.rows import study_view
from scalestudy.study.plan import Plan

SOFTWARE = {"python": "Python"} | {
    f"version of {name}": name for name in ("torch", "cuda", "nccl", "cudnn", "numpy", "transformers", "snakemake")
}


def environment_table_view(plan: Plan, summary: pd.DataFrame, environment: StudyEnvironment) -> dict[str, Any]:
    """Values for report/templates/environment_table.tex."""
    facts = environment.facts
    software = [(name, as_text(facts[key])) for key, name in SOFTWARE.items() if facts.get(key)]
    return {"study": study_view(plan, summary), "rows": [*hardware_view(facts), *software]}
