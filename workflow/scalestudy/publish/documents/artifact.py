"""Content of the artifact description: only known facts, and a remark where something is not known."""

from typing import Any

from scalestudy.project import installed
from scalestudy.publish.documents.report import latex_facts
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.results import Results
from scalestudy.publish.views.facts import effort_view
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.datasets import Dataset
from scalestudy.study.plan import Plan

PLACES = ("path", "url", "sha256", "files")
"""Keys of a data set for its location."""


def artifact_view(
    plan: Plan, results: Results, facts: dict[str, Any], *, book: NumbersFile, command: str
) -> dict[str, Any]:
    """Values for report/templates/artifact_description.tex. command: runs the study; '' if not known."""
    known = dict(facts["environment"])
    versions = {"Python": "python"} | results.environment.packages
    variables = results.environment.variables
    return latex_facts(results, facts) | {
        "hosts": known.get("nodes") or known.get("host", ""),
        "versions": [(name, known[fact]) for name, fact in versions.items() if fact in known],
        "variables": [(name, known[fact]) for name, fact in variables.items() if fact in known],
        "data": _data(plan),
        "effort": effort_view(plan, results.runs, book),
        "command": command,
        # The command of a study says where it ran, so that its documents can be rebuilt elsewhere.
        "packaged": command.startswith("scalestudy ") if command else installed(),
    }


def _data(plan: Plan) -> list[dict[str, Any]]:
    """Each data set once, with the workloads that are trained on it."""
    found: dict[str, dict[str, Any]] = {}
    for name, workload in plan.study.workloads.items():
        if isinstance(workload, CommandWorkload):
            continue  # the data of a script are not known
        entry = found.setdefault(workload.data.store_name, _dataset(workload.data) | {"workloads": []})
        entry["workloads"].append(name)
    return list(found.values())


def _dataset(data: Dataset) -> dict[str, Any]:
    settings = data.model_dump(mode="json", exclude_defaults=True, exclude={"type", *PLACES})
    return {
        "type": data.type,
        "what": (type(data).__doc__ or "").splitlines()[0].rstrip("."),
        "settings": ", ".join(f"{name}: {value}" for name, value in settings.items()),
        "files": _files(data) if data.prepared else [],
    }


def _files(data: Any) -> list[dict[str, str]]:
    """The location of each file, and the checksum against which it was checked."""
    parts = getattr(data, "files", None)
    if parts:
        return [{"place": part.url, "sha256": part.sha256} for part in (parts.train, parts.test)]
    return [{"place": data.url or data.path or "", "sha256": data.sha256 or ""}]
