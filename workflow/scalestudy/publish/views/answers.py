"""The answer of a study: for each workload, the speedup of its largest measured scale, and what to do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.views.diagnoses import by_one_run
from scalestudy.publish.views.told import Given, Told, is_open
from scalestudy.publish.words import answers as words
from scalestudy.publish.words import labels
from scalestudy.publish.words.phrases import Phrase, Piece, filled, spaced
from scalestudy.registry.codes import AccuracyKept, Changes, Goal, Verdict
from scalestudy.study.config.study import Study

MOST_TOLD = 3
"""Most workloads whose answers are told in full; of more, each has its first sentences only."""
MET = (Verdict.HEALTHY, Verdict.AT_TARGET)
URGENCY = (
    Verdict.NEGATIVE_SCALING,
    Verdict.POOR,
    Verdict.CONFOUNDED,
    Verdict.NOT_MEASURED,
    Verdict.UNDECIDED,
    *reversed(MET),
)
"""Verdicts in the order in which a reader should know them if there is no room for all."""


class Answer(NamedTuple):
    """The answer about a workload. The last two are '' if the study has many workloads or has no advice."""

    said: Phrase
    """How fast it is, in one sentence."""
    meaning: Phrase
    to_do: Phrase
    compared: Phrase
    verdict: Verdict

    @property
    def short(self) -> list[str]:
        """What a reader needs first: a paragraph of what is known, and one of what to do if there is advice."""
        return [" ".join(filter(None, (self.said, self.meaning))), *filter(None, [self.action])]

    @property
    def action(self) -> str:
        """'What to do: ...', or ''."""
        return f"What to do: {self.to_do}" if self.to_do else ""

    @property
    def text(self) -> str:
        """All of it, as text."""
        return " ".join(filter(None, (*self.short, self.compared)))


def answers_view(diagnoses: Sequence[dict[str, Any]], study: Study, numbers: NumbersFile) -> list[Answer]:
    """The answer about each workload that has a distributed point. diagnoses: as from diagnoses_view."""
    by_workload: dict[str, list[dict[str, Any]]] = {}
    for diagnosis in diagnoses:
        by_workload.setdefault(diagnosis["workload"], []).append(diagnosis)
    found = [_answer(mine, Told(study, numbers)) for mine in by_workload.values()]
    if len(found) > MOST_TOLD:
        return [answer._replace(to_do=Phrase(), compared=Phrase()) for answer in found]
    return found


def by_urgency(answers: Sequence[Answer]) -> list[Answer]:
    """The answers, those with the worst verdicts first."""
    return sorted(answers, key=lambda one: URGENCY.index(one.verdict))


def _answer(diagnoses: Sequence[dict[str, Any]], told: Told) -> Answer:
    known = [one for one in diagnoses if one["has_ratio"]]
    if not known:
        return _without_speedup(diagnoses, told)
    best = max(known, key=lambda one: (one["world_size"], told.speedup(one).value))
    given = told.given(best)
    fewer, faster = _smaller(best, known, told)
    beside = [one for one in known if one["world_size"] == best["world_size"] and one is not best]
    beside.sort(key=lambda one: -told.speedup(one).value)
    other = next((one for one in beside if one["scaling"] != best["scaling"]), None)
    meaning = [filled(_meaning(best, told), given)]
    if fewer:
        about = words.FASTER_THAN if faster else words.MEETS
        meaning.append(filled(about, told.given(fewer) | {"more": given["ranks"]}))
    if other:
        meaning.append(
            filled(words.AT[other["scaling"]] + _how(told.speedup(other), words.HOW_AT), told.given(other))
        )
    missing = _missing(diagnoses, best, told)
    meaning += [filled(words.MISSING, missing) if missing else Phrase(), *_caveats(best, told, given)]
    conditions = given | {
        "fewer": told.given(fewer)["many"] if fewer else "",
        "at": filled(words.AT_THIS[best["scaling"]], given) if other and other["code"] not in MET else "",
        "accuracy": words.IF_ACCURACY if (costly := _costs_accuracy(best["row"])) else "",
        "agreed": (words.AND_AGREED if costly else words.IF_AGREED) if best["row"]["one_launch"] else "",
    }
    return Answer(
        said=filled(_how(told.speedup(best), words.HOW), given),
        meaning=spaced(meaning),
        to_do=_to_do(best, conditions, use_fewer=faster, missing=str(missing.get("many", ""))),
        compared=_compared(best, beside, told, given),
        verdict=best["code"],
    )


def _without_speedup(diagnoses: Sequence[dict[str, Any]], told: Told) -> Answer:
    """The answer about a workload without any speedup: why there is none."""
    first = diagnoses[0]
    given = told.given(first)
    if first["code"] == Verdict.NOT_MEASURED:
        failed = first["row"]["failure"]
        ended = _ended([first]) if failed else ""
        given["reason"] = filled(words.NO_RUN if failed else words.NO_BASE_RUN, given | {"ended": ended})
    missing = _missing(diagnoses, first, told)
    return Answer(
        said=filled(words.NOT_KNOWN, given),
        meaning=filled(words.MISSING, missing) if missing else Phrase(),
        to_do=_to_do(first, given, use_fewer=False, missing=""),
        compared=Phrase(),
        verdict=first["code"],
    )


def _how(speedup: Number, templates: words.How) -> str:
    """The template that says whether a point is faster than one process."""
    if is_open(speedup):
        return templates.open
    return templates.faster if speedup.value >= 1 else templates.slower


def _meaning(best: Mapping[str, Any], told: Told) -> str:
    speedup = told.speedup(best)
    alone = not speedup.shown.low and speedup.value > best["world_size"]
    if best["code"] == Verdict.UNDECIDED and told.meets_target(best):
        return words.NOT_FASTER
    return words.TOO_FAST if alone else words.MEANING[best["code"]]


def _smaller(best: dict[str, Any], known: list[dict[str, Any]], told: Told) -> tuple[dict[str, Any] | None, bool]:
    """(a smaller scale worth naming, whether it is faster): the fastest if that is faster, or the largest that
    meets the target if the point does not.
    """
    smaller = [
        one for one in known if one["world_size"] < best["world_size"] and one["scaling"] == best["scaling"]
    ]
    here = told.speedup(best)
    fastest = max(smaller, key=lambda one: told.speedup(one).value, default=None)
    if fastest and _low(told.speedup(fastest)) > max(_high(here), 1):
        return fastest, True
    met = [one for one in smaller if one["code"] in MET]
    if best["code"] in (*MET, Verdict.UNDECIDED) or not met:
        return None, False
    return max(met, key=lambda one: (one["world_size"], told.speedup(one).value)), False


def _low(number: Number) -> float:
    return number.low if number.shown.low else number.value


def _high(number: Number) -> float:
    return number.high if number.shown.low else number.value


def _missing(diagnoses: Sequence[dict[str, Any]], best: dict[str, Any], told: Told) -> Given:
    """Words for the larger scales without a completed run, and for how their runs ended; empty without any."""
    failed = [one for one in diagnoses if one["row"]["failure"] and one["world_size"] > best["world_size"]]
    measured = {one["world_size"] for one in diagnoses if not one["row"]["failure"]}
    failed = [one for one in failed if one["world_size"] not in measured]
    if not failed:
        return {}
    given = told.given(failed[0])
    scales = sorted({one["world_size"] for one in failed})
    if len(scales) > 1:
        given["many"] = f"{labels.listed([*map(str, scales)])} {given['parts']}"
    return given | {"ended": _ended(failed)}


def _ended(diagnoses: Sequence[dict[str, Any]]) -> str:
    """'all 6 runs ran out of memory', '2 runs ran out of memory and 1 reached the time limit'."""
    ends: Counter[str] = Counter()
    for diagnosis in diagnoses:
        ends.update(diagnosis["row"]["ends"])
    said = {words.ENDED.get(end, end): count for end, count in ends.items()}
    if len(said) == 1:
        ((how, count),) = said.items()
        few = (words.ONLY, words.BOTH_RUNS)
        return f"{few[count - 1] if count <= 2 else words.EVERY.format(count=count)} {how}"
    (first, count), *others = said.items()
    return labels.listed([f"{labels.counted(count, 'run')} {first}", *(f"{n} {how}" for how, n in others)])


def _caveats(best: Mapping[str, Any], told: Told, given: Given) -> list[Phrase]:
    """What a speedup may cost, and what makes it less certain."""
    row, found = best["row"], []
    key = f"{row['key']}.accuracy_difference_points"
    difference = told.numbers.number(key)
    said = words.ACCURACY.get(row["accuracy_code"], "")
    if row["accuracy_code"] == AccuracyKept.NOT_SHOWN and row["lower_in_every_run"]:
        said = words.LOWER_IN_EVERY_RUN
    if said and difference and difference.shown.low and best["code"] != Verdict.NEGATIVE_SCALING:
        piece = Piece(difference.shown.value, key)
        found.append(filled(said, given | {"difference": piece, "interval": told.interval(difference)}))
    notes = {
        words.BELOW_FLOOR: row.get("verdict_below_floor"),
        words.ALONE: by_one_run(best["code"], row),
        words.FEW: row["two_launches"],
    }
    found += [Phrase(note) for note, holds in notes.items() if holds]
    if row["spoiled"]:
        found.append(filled(words.SPOILED, {"spoiled": row["spoiled"]}))
    return found


def _costs_accuracy(row: Mapping[str, Any]) -> bool:
    """Whether accuracy is lower, by the test or in every run."""
    unknown = row["accuracy_code"] == AccuracyKept.NOT_SHOWN
    return row["accuracy_code"] == AccuracyKept.LOWER or (unknown and row["lower_in_every_run"])


def _to_do(best: Mapping[str, Any], given: Given, *, use_fewer: bool, missing: str) -> Phrase:
    """What to do: by the verdict, and the first advice that was not refuted.

    Advice that names a number of ranks replaces the sentence by the verdict, unless a smaller scale is faster.
    missing: larger scales whose runs failed, which are to be looked at first; '' without any.
    """
    verdict = best["code"]
    advice = [one for one in best["recommendations"] if one not in best["refuted"]]
    lead = words.USE_FEWER if use_fewer else words.TO_DO.get(verdict, "")
    if use_fewer and best["goal"] != Goal.COST_PER_SAMPLE:
        advice = [one for one in advice if one["changes"] != Changes.RANKS]
    elif advice and (
        advice[0]["changes"] == Changes.RANKS or advice[0]["id"] in words.AS_ADVISED.get(verdict, ())
    ):
        lead = ""
    said = [filled(lead, given)]
    if missing and verdict in MET:
        said.append(filled(words.AFTER_FAILURES, {"missing": missing}))
    elif advice:
        first = advice[0]
        template = words.ADVICE.get(verdict, words.IMPROVE) if lead else "{change}"
        said.append(filled(template, given | {"change": first["change"]}))
        said.append(Phrase(words.TRIED.get(first["tried_code"], "")))
    elif not lead:
        said.append(Phrase(words.ALL_REFUTED if best["refuted"] else words.NO_ADVICE[verdict]))
    return spaced(said)


def _compared(best: Mapping[str, Any], beside: Sequence[dict[str, Any]], told: Told, given: Given) -> Phrase:
    """What was compared with what, at which batch and how often. beside: other points at this scale."""
    row, numbers = best["row"], told.numbers
    source = numbers.points.get(row["key"])
    base = numbers.points[source.base].variant if source and source.base else words.BASELINE
    counts = {"repeats": labels.counted(row["repeats"], "repeat"), "runs": labels.counted(row["repeats"], "run")}
    given, often = {**given, "base": base, **counts}, words.RUNS if told.study.imported else words.REPEATS
    work = words.AT_STRONG if best["scaling"] == "strong" else words.AT_WEAK
    said = [filled(part, given) for part in (words.COMPARED, work, often if row["repeats"] else "", ".")]
    if alike := [one for one in beside if one["scaling"] == best["scaling"]]:
        said.append(filled(words.HIGHEST, told.given(alike[0]) | {"count": str(len(alike) + 1)}))
    return Phrase(*said)
