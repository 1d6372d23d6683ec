"""The hardware and software of a study as a table."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.publish.environment import as_text, hardware_view
from scalestudy.publish.view import study_view
from scalestudy.study.plan import Plan

SOFTWARE = {"python": "Python"} | {
    f"version of {name}": name for name in ("torch", "cuda", "nccl", "cudnn", "numpy", "transformers", "snakemake")
}


def environment_table_view(plan: Plan, summary: pd.DataFrame, environment: dict[str, Any]) -> dict[str, Any]:
    """Values for report/templates/environment_table.tex."""
    software = [(name, as_text(environment[key])) for key, name in SOFTWARE.items() if environment.get(key)]
    return {"study": study_view(plan, summary), "rows": [*hardware_view(environment), *software]}
