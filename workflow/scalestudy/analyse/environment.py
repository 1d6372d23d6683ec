"""The environment of a study: what was the same in all its runs, and what was not."""

from __future__ import annotations

from typing import Any

from scalestudy.record.observation import Observation

# Recorded with the environment by the rank that knows them, but properties of the model.
OF_A_WORKLOAD = ("parameters", "gradient_bytes")


def study_environment(observations: list[Observation]) -> dict[str, list[Any]]:
    """For every fact of the runs' environments, its distinct values in order of appearance."""
    facts: dict[str, list[Any]] = {}
    for observation in observations:
        flat = dict(observation.record.environment)
        flat.update({f"version of {k}": v for k, v in (flat.pop("packages", None) or {}).items()})
        flat.update({f"variable {k}": v for k, v in (flat.pop("variables", None) or {}).items()})
        for key, value in flat.items():
            if key in OF_A_WORKLOAD:
                continue
            values = facts.setdefault(key, [])
            if value is not None and value not in values:
                values.append(value)
    return {key: values for key, values in facts.items() if values}
