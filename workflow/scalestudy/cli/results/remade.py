"""Makes the tables and documents of a study from its runs, stage by stage in this process. No run is started."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STAGES = ("aggregate", "diagnose", "plot", "numbers", "tables", "text", "page", "documents")
TABLES_ONLY = STAGES[:2]
OPTIONS: dict[str, dict[str, Any]] = {
    "plot": {"workload": None, "processes": None},
    "documents": {"called": ""},
}


def make_documents(folder: Path, stages: Sequence[str] = STAGES) -> None:
    """Run stages from the observations to the documents, without their output."""
    from scalestudy.cli.stage import analyse, publish

    for stage in stages:
        command = getattr(analyse, stage, None) or getattr(publish, stage)
        with contextlib.redirect_stdout(io.StringIO()):
            command.callback(study=(), results=folder, **OPTIONS.get(stage, {}))


def typeset_documents(folder: Path) -> str:
    """Typeset the LaTeX documents as PDF. Returns '', or what is missing for it."""
    from scalestudy.deposit.layout import TYPESET
    from scalestudy.publish.typeset import missing_tex, typeset
    from scalestudy.record.files import write_bytes

    if missing := missing_tex():
        return missing
    with tempfile.TemporaryDirectory(prefix="scalestudy-log-") as logs:
        for name in TYPESET:
            made = typeset(folder / f"{name}.tex", log=Path(logs) / f"{name}.log")
            write_bytes(folder / f"{name}.pdf", made.pdf)
    return ""
