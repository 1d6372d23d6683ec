"""The answer of a study: for each workload, the speedup of its largest measured scale, and what to do."""

from collections.abc import Sequence
from string import Formatter
from typing import Any, NamedTuple

from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.words import answers as words
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase, Piece
from scalestudy.registry.codes import Verdict

MOST_TOLD = 3
"""Most workloads whose answers are told in full; of more, each has its first sentences only."""


class Answer(NamedTuple):
    """The answer about a workload. The last two are '' if the study has many workloads or has no advice."""

    said: Phrase
    to_do: Phrase
    compared: Phrase

    @property
    def text(self) -> str:
        """All of it, as text."""
        to_do = f"What to do: {self.to_do}" if self.to_do else ""
        return " ".join(filter(None, (self.said, to_do, self.compared)))


def answers_view(diagnoses: Sequence[dict[str, Any]], numbers: NumbersFile) -> list[Answer]:
    """The answer about each workload that has a distributed point. diagnoses: as from diagnoses_view."""
    by_workload: dict[str, list[dict[str, Any]]] = {}
    for diagnosis in diagnoses:
        by_workload.setdefault(diagnosis["workload"], []).append(diagnosis)
    found = [_answer(mine, numbers) for mine in by_workload.values()]
    if len(found) > MOST_TOLD:
        return [answer._replace(to_do=Phrase(), compared=Phrase()) for answer in found]
    return found


def chosen(diagnoses: Sequence[dict[str, Any]], numbers: NumbersFile) -> dict[str, Any]:
    """The diagnosis that answers for a workload: the fastest at the largest scale with a speedup, or the first."""
    known = [one for one in diagnoses if one["has_ratio"]]
    if not known:
        return diagnoses[0]
    return max(known, key=lambda one: (one["world_size"], _speedup(one, numbers).value))


def _speedup(diagnosis: dict[str, Any], numbers: NumbersFile) -> Number:
    """The speedup of a point. Raises UserError if numbers.json is older than the tables."""
    key = f"{diagnosis['row']['key']}.speedup"
    numbers.place_of(key)
    return numbers.numbers[key]


def _answer(diagnoses: Sequence[dict[str, Any]], numbers: NumbersFile) -> Answer:
    best = chosen(diagnoses, numbers)
    given = _words(best, best["row"]["on_cpu"]) | _numbers(best, numbers)
    said = _said(best, numbers, given)
    if not best["has_ratio"]:
        return Answer(_spaced(said), _to_do(best, given), Phrase())
    larger = [
        one for one in diagnoses if one["code"] == Verdict.NOT_MEASURED and one["world_size"] > best["world_size"]
    ]
    if larger:
        least = min(larger, key=lambda one: int(one["world_size"]))
        lost = _words(least, best["row"]["on_cpu"])
        said.append(_filled(words.MISSING, lost | {"outcomes": least["row"]["outcomes"]}))
    alike = [one for one in diagnoses if one["has_ratio"] and one["world_size"] == best["world_size"]]
    return Answer(_spaced(said), _to_do(best, given), _compared(best, numbers, given, ways=len(alike)))


def _said(best: dict[str, Any], numbers: NumbersFile, given: dict[str, Piece | str]) -> list[Phrase]:
    """How fast the point is, with its interval, and what this means, in sentences."""
    if not best["has_ratio"]:
        return [_filled(words.NOT_KNOWN, given)]
    speedup, row = _speedup(best, numbers), best["row"]
    first, how_sure = words.FASTER if speedup.value >= 1 else words.SLOWER, words.ONE_RUN
    if low := speedup.shown.low:
        how_sure = words.HOW_SURE.format(level=f"{numbers.confidence:.0%}", low=low, high=speedup.shown.high)
        if speedup.low <= 1 <= speedup.high:
            first, how_sure = words.OPEN, how_sure + words.MAYBE
    caveats = ((row.get("verdict_below_floor"), words.BELOW_FLOOR), (row["two_launches"], words.FEW))
    return [
        _filled(first, given | {"how_sure": how_sure}),
        _filled(words.MEANING[best["code"]], given),
        *(Phrase(caveat) for holds, caveat in caveats if holds),
    ]


def _to_do(best: dict[str, Any], given: dict[str, Piece | str]) -> Phrase:
    """What to do: by the verdict, and the first advice that was not refuted."""
    verdict, advice = best["code"], best["next"]
    said = [_filled(words.TO_DO.get(verdict, ""), given)]
    if advice is None:
        said.append(Phrase(words.NO_ADVICE[verdict]))
    else:
        said.append(_filled(words.ADVICE.get(verdict, "{change}"), {"change": advice["change"]}))
        if advice["tried"]:
            said.append(_filled(words.TRIED, {"verdict": advice["tried_verdict"]}))
    return _spaced(said)


def _compared(best: dict[str, Any], numbers: NumbersFile, given: dict[str, Piece | str], *, ways: int) -> Phrase:
    """What was compared with what, at which batch and how often. ways: number of series at this scale."""
    row = best["row"]
    source = numbers.points.get(row["key"])
    base = numbers.points[source.base].variant if source and source.base else words.BASELINE
    given = given | {
        "variant": best["variant"],
        "base": base,
        "global_batch": str(row["global_batch"]),
        "batch_per_rank": str(row["batch_per_rank"]),
        "repeats": labels.counted(row["repeats"], "repeat"),
        "count": str(ways),
    }
    work = words.AT_STRONG if best["scaling"] == "strong" else words.AT_WEAK
    said = [words.COMPARED, work, words.REPEATS if row["repeats"] else "", "."]
    return Phrase(*(_filled(part, given) for part in (*said, words.FASTEST if ways > 1 else "")))


def _words(diagnosis: dict[str, Any], on_cpu: bool) -> dict[str, Piece | str]:
    """Words for a point and for its devices; {many}: 'two GPUs', '16 processes on 2 nodes'."""
    ranks, nodes = int(diagnosis["world_size"]), int(diagnosis["nodes"])
    part, parts = words.PROCESS if on_cpu else words.GPU
    count = words.NUMBERS[ranks] if ranks < len(words.NUMBERS) else str(ranks)
    many = f"{count} {parts}" + (f" on {nodes} nodes" if nodes > 1 else "")
    return {
        "many": many,
        "Many": many[0].upper() + many[1:],
        "part": part,
        "parts": parts,
        "ranks": str(ranks),
        "workload": diagnosis["workload"],
        "sentence": diagnosis["sentence"],
    }


def _numbers(diagnosis: dict[str, Any], numbers: NumbersFile) -> dict[str, Piece | str]:
    """The numbers of a point without their limits, each linked to its runs."""
    keys = {name: f"{diagnosis['row']['key']}.{name}" for name in ("speedup", "efficiency_percent")}
    return {name: Piece(numbers.shown(key).value, key) for name, key in keys.items() if numbers.number(key)}


def _filled(template: str, given: dict[str, Piece | str]) -> Phrase:
    """A template with its names replaced. Braces in the replacements, such as in a user's names, are kept."""
    parts = [
        part for before, name, *_ in Formatter().parse(template) for part in (before, given[name] if name else "")
    ]
    return Phrase(*(part for part in parts if part))


def _spaced(phrases: Sequence[Phrase]) -> Phrase:
    """The sentences with a space between them."""
    return Phrase(*[piece for phrase in phrases if phrase for piece in (" ", phrase)][1:])
