"""A study as answers see it: words for its points and devices, and its numbers with their intervals."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from scalestudy.analyse.point.scaling import compounded_efficiency
from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.words import answers as words
from scalestudy.publish.words.phrases import Piece
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.study import Study

Given = dict[str, Piece | str]
"""Words for the names in a template."""


class Told(NamedTuple):
    """A study as answers see it."""

    study: Study
    numbers: NumbersFile

    def speedup(self, diagnosis: Mapping[str, Any]) -> Number:
        """The speedup of a point. Raises UserError if numbers.json is older than the tables."""
        key = f"{diagnosis['row']['key']}.speedup"
        self.numbers.place_of(key)
        return self.numbers.numbers[key]

    def interval(self, number: Number) -> str:
        """'95 % interval 1.71 to 2.17'."""
        if not number.shown.low:
            return words.ONE_RUN
        level = f"{100 * self.numbers.confidence:.4g} %"
        return words.SURE.format(level=level, low=number.shown.low, high=number.shown.high)

    def sure(self, speedup: Number) -> str:
        """The same, and whether it includes 1."""
        return self.interval(speedup) + (words.MAYBE if is_open(speedup) else "")

    def target(self, ranks: float) -> str:
        """'75 %', of more than two ranks '56 % (75 % for each doubling)'."""
        doubling = self.study.report.target_efficiency
        found = {
            "target": f"{100 * compounded_efficiency(doubling, ranks):.0f}",
            "doubling": f"{100 * doubling:.0f}",
        }
        return (words.TARGET if ranks == 2 else words.TARGET_OF_MORE).format(**found)

    def meets_target(self, diagnosis: Mapping[str, Any]) -> bool:
        """Whether the whole interval of the speedup of a point is at or above the target."""
        ranks, speedup = int(diagnosis["world_size"]), self.speedup(diagnosis)
        target = compounded_efficiency(self.study.report.target_efficiency, ranks)
        return bool(speedup.shown.low) and speedup.low >= ranks * target

    def named(self, workload: str) -> str:
        """The name of a workload in a sentence, with a noun before a user's own word, such as train."""
        own = isinstance(self.study.workloads.get(workload), CommandWorkload)
        return words.NAMED.format(workload=workload) if own else workload

    def given(self, diagnosis: Mapping[str, Any]) -> Given:
        """Words for a point and for its devices, and its numbers without their limits, each linked to its runs."""
        row, ranks = diagnosis["row"], int(diagnosis["world_size"])
        base = int(row["base_ranks"])
        part, parts = words.PROCESS if row["on_cpu"] else words.GPU
        nodes = f" on {diagnosis['nodes']} nodes" if diagnosis["nodes"] > 1 else ""
        count = words.NUMBERS[ranks] if ranks < len(words.NUMBERS) else str(ranks)
        of_all = (words.BOTH if ranks == 2 else words.ALL).format(count=count, parts=parts)
        many = f"{count} {parts}{nodes}"
        keys = {name: f"{row['key']}.{name}" for name in ("speedup", "efficiency_percent")}
        keys = {name: key for name, key in keys.items() if self.numbers.number(key)}
        return {
            "Many": many[:1].upper() + many[1:],
            "many": f"{ranks} {parts}{nodes}",
            "all": of_all + nodes,
            "part": part,
            "parts": parts,
            "ranks": str(ranks),
            "target": self.target(ranks / base),
            "one": words.ONE if base == 1 else words.ONE_OF_SEVERAL.format(ranks=base, parts=parts),
            "base_on": f"one {part}" if base == 1 else f"{base} {parts}",
            "workload": self.named(diagnosis["workload"]),
            "variant": diagnosis["variant"],
            "global_batch": str(row["global_batch"]),
            "batch_per_rank": str(row["batch_per_rank"]),
            "reason": diagnosis["sentence"],
            "sure": self.sure(self.speedup(diagnosis)) if diagnosis["has_ratio"] else "",
            **{name: Piece(self.numbers.shown(key).value, key) for name, key in keys.items()},
        }


def is_open(speedup: Number) -> bool:
    """Whether the interval of a speedup includes 1."""
    return bool(speedup.shown.low) and speedup.low <= 1 <= speedup.high
