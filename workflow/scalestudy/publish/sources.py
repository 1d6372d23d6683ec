"""Where the numbers of the page lead: for each its place in the appendix, and what stands there."""

from __future__ import annotations

from typing import Any

from scalestudy.errors import UserError
from scalestudy.publish.launches import code_of, made, record_of, where_of
from scalestudy.publish.rounding import Shown


class Sources:
    """numbers.json as the page uses it."""

    def __init__(self, numbers: dict[str, Any], forecasts: list[dict[str, Any]]) -> None:
        """forecasts: as forecasts_view has them. UserError where numbers is something else."""
        if not isinstance(numbers, dict) or not {"numbers", "points", "runs"} <= numbers.keys():
            raise UserError("numbers.json: has no numbers; `scalestudy stage numbers` writes it")
        self._numbers = numbers
        self._forecasts = [item for item in forecasts if not item["refused"]]

    def place_of(self, key: str, text: str) -> str:
        """The place of the number with this key. UserError where numbers.json has another or none."""
        number = self._numbers["numbers"].get(key)
        there = Shown(*number["shown"]) if number else Shown("not there")
        if text not in (str(there), there.value, f"{there.value}%"):
            raise UserError(
                f"numbers.json: {key} is {there} there and {text} in the tables;"
                " `scalestudy stage numbers` writes it again"
            )
        return number["point"] or key.rpartition(".forecast.")[0] + ".forecast"

    def point_place(self, point: str) -> str:
        """The place of a point itself; UserError where numbers.json has no such point."""
        if point not in self._numbers["points"]:
            raise UserError(f"numbers.json: no point {point}; `scalestudy stage numbers` writes it again")
        return point

    def appendix(self) -> list[dict[str, Any]]:
        """A workload at a time: every point with its launches, every forecast with the points it is from."""
        found: dict[str, dict[str, Any]] = {}
        for key, point in self._numbers["points"].items():
            entry = found.setdefault(point["workload"], {"workload": point["workload"], "points": []})
            entry["points"].append(self._point(key, point))
        for item in self._forecasts:
            where = f"forecast: {item['workload']}, {item['point']}"
            entry = {"key": item["key"], "where": where, "from": self._points_behind(item["key"])}
            found[item["workload"]].setdefault("forecasts", []).append(entry)
        return [{"forecasts": []} | entry for entry in found.values()]

    def _point(self, key: str, point: dict[str, Any]) -> dict[str, Any]:
        base = point["base"] if point["base"] != key else None
        runs = self._numbers["runs"]
        return {
            "key": key,
            "where": where_of(point),
            "outcomes": point["outcomes"],
            "base": base,
            "base_runs": made(runs, point["base_runs"]) if point["base_runs"] != point["runs"] else [],
            "launches": [
                {
                    "run_id": run_id,
                    "outcome": runs[run_id]["outcome"],
                    "record": record_of(runs[run_id]),
                    "code": code_of(runs[run_id]),
                }
                for run_id in made(runs, point["runs"])
            ],
        }

    def _points_behind(self, forecast: str) -> list[str]:
        """Points that a forecast with this key rests on."""
        numbers = self._numbers["numbers"]
        found = (number["from"] for key, number in numbers.items() if key.startswith(f"{forecast}."))
        return next(found, [])
