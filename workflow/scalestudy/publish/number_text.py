"""One number in full: what it is, where it was measured, against what, and from which launches."""

from __future__ import annotations

from typing import Any

from scalestudy.publish import labels
from scalestudy.publish.templates import wrap

INDENT = " " * 13


def number_text(numbers: dict[str, Any], key: str, number: dict[str, Any]) -> str:
    """Some lines for a terminal."""
    value, *limits = number["shown"]
    interval = f" [{', '.join(limits)}] ({number['limits']})" if limits else " (no interval)"
    unit = f" {number['unit']}" if number["unit"] else ""
    lines = [f"{key} = {value}{unit}{interval}", _field("what", number["what"])]
    point = numbers["points"].get(number["point"])
    if point:
        where = labels.ranks(point["world_size"], point["nodes"])
        lines.append(
            _field(
                "where",
                f"{point['workload']}, {point['variant']}, {point['scaling']} scaling, {where}, batch"
                f" {point['batch_per_rank']} per rank, {point['global_batch']} global; {point['outcomes']}",
            )
        )
        if point["base"] and point["base"] != number["point"]:
            lines.append(_field("base case", point["base"]))
        lines += _launches("launches", point["runs"], numbers)
        if point["base_runs"] != point["runs"]:
            lines += _launches("of the base", point["base_runs"], numbers)
    return "\n".join(lines)


def _launches(name: str, runs: list[str], numbers: dict[str, Any]) -> list[str]:
    """A line a launch: outcome, checksum of its record, commit."""
    lines = []
    for run_id in runs:
        run = numbers["runs"].get(run_id)
        if run is None or run["outcome"] == "unneeded":
            continue
        commit = f", commit {run['commit'][:12]}" if run.get("commit") else ", no commit known"
        state = {True: " (dirty)", False: " (clean)"}.get(run.get("dirty"), "")
        digest = f", record {run['record_sha256'][:12]}" if run.get("record_sha256") else ""
        lines.append(_field(name if not lines else "", f"{run_id}: {run['outcome']}{digest}{commit}{state}"))
    return lines


def _field(name: str, text: str) -> str:
    return wrap(text, f"{name:<{len(INDENT)}}", INDENT)
