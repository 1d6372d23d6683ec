"""Diagnoses as documents print them: evidence, shares and predicted gains of recommendations, as text."""

from collections.abc import Sequence
from typing import Any

from scalestudy.diagnose.findings import (
    AS_MEASURED,
    UNEXPLAINED,
    Bottleneck,
    Diagnosis,
    Evidence,
    Payback,
    Recommendation,
)
from scalestudy.publish.numbers.keys import evidence_key, point_key, recommendation_key, share_key, weight_key
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.withheld import RULE
from scalestudy.publish.views.verified import came_of_it
from scalestudy.publish.words import labels
from scalestudy.publish.words.causes import POSSIBLY, UNCERTAIN
from scalestudy.publish.words.goals import WORTH
from scalestudy.publish.words.payback import COST, COST_ALIKE, LEAST_HOURS, REPAID, UNPAID
from scalestudy.publish.words.phrases import Phrase, either, joined
from scalestudy.publish.words.points import BY_ONE_RUN, PREDICTED, VERDICTS, WITHOUT_RATIO
from scalestudy.publish.words.verified import VERDICTS as TRIED_WORDS
from scalestudy.registry.codes import Tried, Unpaid, Verdict
from scalestudy.verify.model import Place, VerificationFile

LEAST_SAID = 0.1
"""Smallest weight of a cause, or of the unexplained part, named in a summary beside established causes."""
LEAST_SHARE = 0.005
"""Smallest printed share of a step: less would read as 0 %."""
MOST_LISTED = 8
"""Most points that a summary lists one by one; of more it lists the largest scales and the others' verdicts."""


def diagnoses_view(
    diagnoses: Sequence[Diagnosis],
    rows: list[dict[str, Any]],
    numbers: NumbersFile,
    tried: VerificationFile | None = None,
) -> list[dict[str, Any]]:
    """Each diagnosis with its row and everything in it as text. tried: the outcome of tried advice, if any.

    `next` is the first recommendation that was not refuted, or None. `refuted` are the refuted ones, which come
    last among the recommendations. Advice for causes that are only possible comes after advice for the others.
    """
    by_key = {row["key"]: row for row in rows}
    return [_diagnosis(diagnosis, by_key[point_key(vars(diagnosis))], numbers, tried) for diagnosis in diagnoses]


def leading(diagnoses: list[dict[str, Any]], *, most: int = MOST_LISTED) -> list[dict[str, Any]]:
    """All diagnoses if there are at most `most`; otherwise each series' diagnosis at its largest scale.

    A series is a variant and kind of scaling of a workload. `others` has the verdicts of its other scales:
    'healthy on 2 and 4 ranks; undecided on 8 ranks'; '' without other scales.
    """
    if len(diagnoses) <= most:
        return [diagnosis | {"others": ""} for diagnosis in diagnoses]
    found = []
    for *smaller, largest in by_series(diagnoses):
        said = "; ".join(f"{verdict} on {places}" for verdict, places in by_verdict(smaller))
        found.append(largest | {"others": said})
    return found


def by_series(diagnoses: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The diagnoses of each series, from the smallest scale to the largest."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for diagnosis in diagnoses:
        series = diagnosis["workload"], diagnosis["variant"], diagnosis["scaling"]
        found.setdefault(series, []).append(diagnosis)
    return [sorted(mine, key=lambda one: (one["world_size"], one["nodes"])) for mine in found.values()]


def by_verdict(diagnoses: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """('healthy', '2 and 4 ranks') for each verdict, in the order of first occurrence."""
    found: dict[str, list[tuple[int, int]]] = {}
    for diagnosis in diagnoses:
        found.setdefault(diagnosis["verdict"], []).append((diagnosis["world_size"], diagnosis["nodes"]))
    return [(verdict, labels.places(places)) for verdict, places in found.items()]


def _diagnosis(
    diagnosis: Diagnosis, row: dict[str, Any], numbers: NumbersFile, tried: VerificationFile | None
) -> dict[str, Any]:
    point = row["key"]
    given = [_recommendation(diagnosis, cause, item, numbers, tried) for cause, item in diagnosis.recommendations]
    given += [
        _recommendation(diagnosis, cause, item, numbers, tried) | {"cause": UNCERTAIN.format(cause=cause)}
        for cause, item in diagnosis.uncertain
    ]
    left = [item for item in given if item["tried_code"] != Tried.REFUTED]
    refuted = [item for item in given if item["tried_code"] == Tried.REFUTED]
    return dict(diagnosis) | {
        "code": diagnosis.verdict,
        "verdict": VERDICTS[diagnosis.verdict] + (BY_ONE_RUN if by_one_run(diagnosis.verdict, row) else ""),
        "has_ratio": diagnosis.verdict not in WITHOUT_RATIO,
        "ranks": row["ranks_text"],
        "row": row,
        "causes": _causes(numbers, diagnosis, point),
        "limited_by": _limited_by(numbers, diagnosis.bottleneck, point),
        "findings": [
            dict(finding)
            | {"evidence": [_evidence(numbers, point, finding.cause, item) for item in finding.evidence]}
            | {"weight": _weight(numbers, diagnosis, finding.cause), "found": finding in diagnosis.findings}
            for finding in diagnosis.named
        ],
        "not_judged": [
            f"{', '.join(item.causes)}: {item.unseen}. To see it: {item.shown_by}."
            for item in diagnosis.not_judged
        ],
        "recommendations": [*left, *refuted],
        "next": left[0] if left else None,
        "refuted": refuted,
    }


def by_one_run(verdict: Verdict, row: dict[str, Any]) -> bool:
    """Whether a verdict is about a speedup without an interval, which a further run may change."""
    return bool(row["one_launch"]) and verdict != Verdict.UNDECIDED and verdict not in WITHOUT_RATIO


def _causes(numbers: NumbersFile, diagnosis: Diagnosis, point: str) -> Phrase:
    """'comm-bound', or with weights 'comm-bound (0.60) or launch-bound (0.40)'; the largest weight first.

    Only the findings name a cause with a weight below LEAST_SAID, unless it is established.
    """
    found = [finding.cause for finding in diagnosis.findings if finding.cause != diagnosis.verdict]
    by_weight = [
        cause
        for cause in sorted(diagnosis.weights, key=lambda cause: -diagnosis.weights[cause])
        if cause in found or diagnosis.weights[cause] >= LEAST_SAID
    ]
    if diagnosis.verdict in (Verdict.HEALTHY, Verdict.AT_TARGET):  # no loss to explain
        by_weight = [cause for cause in by_weight if cause != UNEXPLAINED]
    plain = [cause for cause in found if cause not in diagnosis.weights]
    if set(by_weight) <= set(found) and len(by_weight) == 1:
        return joined(list(map(Phrase, [*by_weight, *plain])))
    weighted = either([Phrase(cause, _weight(numbers, diagnosis, cause)) for cause in by_weight])
    if weighted and not any(finding.cause in by_weight for finding in diagnosis.findings):
        weighted = Phrase(POSSIBLY, weighted)
    return joined([*([weighted] if weighted else []), *map(Phrase, plain)])


def _weight(numbers: NumbersFile, diagnosis: Diagnosis, cause: str) -> Phrase:
    """' (0.60)'; '' if the cause has no weight."""
    if cause not in diagnosis.weights:
        return Phrase()
    return Phrase(" (", numbers.piece(weight_key(point_key(vars(diagnosis)), cause)), ")")


def _recommendation(
    diagnosis: Diagnosis, cause: str, item: Recommendation, numbers: NumbersFile, tried: VerificationFile | None
) -> dict[str, Any]:
    """A recommendation as text. `tried` is its outcome, `tried_code` its verdict; both empty if untried."""
    point = point_key(vars(diagnosis))
    found = tried.of(Place.of(diagnosis), cause, item) if tried else None
    return dict(item) | {
        "cause": cause,
        "prediction": _prediction(numbers, diagnosis, cause, item),
        "payback": _payback(numbers, recommendation_key(point, cause, item.id), item.payback),
        "tried": came_of_it(found, numbers.numbers, accuracy=False) if found else Phrase(),
        "tried_code": found.verdict if found else "",
        "tried_verdict": TRIED_WORDS[found.verdict] if found else "",
    }


def _payback(numbers: NumbersFile, recommendation: str, payback: Payback | None) -> Phrase:
    """The cost of trying a recommendation and when it is repaid, in sentences; or why this is not known."""
    if payback is None:
        return Phrase()
    key = f"{recommendation}.payback"
    alike = numbers.shown(f"{key}.least_device_hours") == numbers.shown(f"{key}.most_device_hours")
    cost = numbers.phrase(key, (COST_ALIKE if alike else COST)[_unit(payback.most_device_hours)])
    if payback.unknown in (Unpaid.NO_TRIAL, Unpaid.COST_UNKNOWN):
        return Phrase(UNPAID[payback.unknown])
    if payback.unknown != Unpaid.NONE:
        return Phrase(cost, " ", UNPAID[payback.unknown])
    return Phrase(cost, " ", numbers.phrase(key, REPAID[_unit(payback.saved_device_hours.value)]))


def _unit(hours: float) -> str:
    """The unit in which a number of device-hours is printed."""
    return "s" if hours < LEAST_HOURS else "hours"


def _limited_by(numbers: NumbersFile, bottleneck: Bottleneck, point: str) -> Phrase:
    """'communication (communication 41 %, compute 38 %, launch 21 %)'; '' if it is not known.

    If the cost of communication is not resolved, neither is what remains for computation: their shares are left
    out, and none of the two is named as the larger one.
    """
    shares = sorted(bottleneck.shares.items(), key=lambda item: -item[1])
    known = {kind: numbers.number(share_key(point, kind)) for kind, _ in shares}
    withheld = [kind for kind, number in known.items() if number and not number.resolved]
    said = [
        Phrase(f"{kind} ", numbers.piece(share_key(point, kind), "{} %"))
        for kind, share in shares
        if share >= LEAST_SHARE and kind not in withheld
    ]
    if withheld:
        together = 100 * sum(bottleneck.shares[kind] for kind in withheld)
        said.insert(0, Phrase(f"{' and '.join(withheld)} together {together:.0f} %, not resolved separately"))
    kind = " or ".join(withheld) if bottleneck.kind in withheld else bottleneck.kind
    return Phrase(f"{kind} (", joined(said), ")") if said else Phrase(kind)


def _evidence(numbers: NumbersFile, point: str, cause: str, item: Evidence) -> Phrase:
    key = evidence_key(point, cause, item.id)
    number = numbers.number(key)
    if number and not number.resolved:
        return Phrase(f"{item.name}: ", numbers.piece(key), f" ({RULE})")
    unit = f" {item.unit}" if item.unit else ""
    threshold = f" ({item.threshold})" if item.threshold else ""
    return Phrase(f"{item.name}: ", numbers.piece(key), f"{unit}{threshold}")


def _prediction(numbers: NumbersFile, diagnosis: Diagnosis, cause: str, recommendation: Recommendation) -> Phrase:
    """The predicted effect of a recommendation, in a sentence; or why there is no prediction."""
    prediction = recommendation.prediction
    if prediction is None:
        return Phrase(f"Not predicted: {recommendation.unpredicted}")
    key = recommendation_key(point_key(vars(diagnosis)), cause, recommendation.id)
    brings = joined(
        [
            numbers.phrase(key, quantity.said)
            for name, quantity in PREDICTED.items()
            if numbers.number(f"{key}.{name}")
        ]
    )
    if numbers.number(f"{key}.worth"):
        brings = Phrase(brings, numbers.phrase(key, WORTH[diagnosis.goal]))
    if prediction.assumes == AS_MEASURED:
        return Phrase("Measured: ", brings, ".")
    return Phrase("Predicted: ", brings, f", {prediction.assumes}.")
