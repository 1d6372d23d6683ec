"""Tried advice as documents print it: before, predicted and after, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from string import Formatter
from typing import Any

from scalestudy.publish.numbers.model import Number
from scalestudy.publish.numbers.rounding import DASH, Shown, printed_of
from scalestudy.publish.numbers.verified import key_of, verified_numbers
from scalestudy.publish.templates import wrap
from scalestudy.publish.words import verified as words
from scalestudy.publish.words.labels import counted
from scalestudy.publish.words.phrases import Phrase, Piece
from scalestudy.publish.words.points import outcome_words
from scalestudy.registry.codes import AccuracyKept
from scalestudy.registry.verified import SIDES, TRIED
from scalestudy.study.config.study import Study
from scalestudy.verify.model import LeftOut, VerificationFile, Verified

Numbers = Mapping[str, Number]
NAME = 15
"""Narrowest column of the names of quantities in the text. The three sides share the rest of 80 columns."""


def verified_view(found: VerificationFile | None, study: Study, numbers: Numbers) -> dict[str, Any]:
    """`tried`, a dictionary of text for each piece of advice; `left_out`, sentences; `counted`, a sentence.

    All are empty if no advice was tried.
    """
    if found is None:
        return {"tried": [], "left_out": [], "counted": ""}
    tried = [_tried(one, study, numbers) for one in found.verified]
    return {
        "tried": [item | {"lines": "\n".join(text_lines(item))} for item in tried],
        "left_out": [_left_out(item) for item in found.left_out],
        "counted": _counted(found),
    }


def _tried(one: Verified, study: Study, numbers: Numbers) -> dict[str, Any]:
    key, workload = key_of(one), study.workloads.get(one.trial.before.workload)
    target = workload.target_accuracy if workload else None  # the study may no longer have it
    rows = [_row(one, key, printed_of(column).name, target, numbers) for column in TRIED]
    return {
        "key": key,
        "where": words.where(one.trial.before),
        "place": words.place(one.trial.before),
        "workload": one.trial.before.workload,
        "change": one.trial.change,
        "cause": one.trial.cause,
        "code": one.verdict,
        "verdict": words.VERDICTS[one.verdict],
        "said": came_of_it(one, numbers),
        "rows": [row for row in rows if row["measured"]],
        "note": _without_limits(one),
        "trial": one.trial.id,
    }


def _without_limits(one: Verified) -> str:
    """Why values of a side have no limits, in sentences; '' if all have limits."""
    sides = {"before": one.before, "after": one.after}
    alone = tuple(name for name, side in sides.items() if side.ends.get("ok") == 1)
    speedups = {name: getattr(one.quantities["speedup"], name) for name in sides}
    base = [name for name, speedup in speedups.items() if speedup.value == 1 and isnan(speedup.low)]
    said = [words.ONE_LAUNCH[alone]] if alone else []
    return " ".join([*said, *(words.IS_BASE[name] for name in base if name not in alone)])


def came_of_it(one: Verified, numbers: Numbers, *, accuracy: bool = True) -> Phrase:
    """The outcome of advice, in sentences: 'It brought 1.2 [1.1, 1.3] times the throughput; ... was predicted.'.

    accuracy: whether to include the change of accuracy.
    """
    key = key_of(one)
    told = _phrase(words.PREDICTED, key, numbers) if f"{key}.predicted.gain" in numbers else words.NOT_PREDICTED
    pieces: list[Piece | str] = []
    if f"{key}.gain" in numbers:
        pieces += [_phrase(words.BROUGHT, key, numbers), "; ", told, ". "]
    pieces.append(f"{one.reason[:1].upper()}{one.reason[1:]}.")
    if accuracy:
        pieces += [" ", *_accuracy(one, key, numbers), "."]
    return Phrase(*pieces)


def _accuracy(one: Verified, key: str, numbers: Numbers) -> list[Piece | str]:
    """The change of accuracy. It is kept only if the runs before and after the advice show this."""
    if one.accuracy_kept != AccuracyKept.NONE:
        difference = _piece(f"{key}.accuracy_difference_points", numbers)
        return [f"{words.KEPT[one.accuracy_kept]}: ", difference, " points"]
    measured = one.quantities["validation_accuracy"]
    return [
        words.NOT_MEASURED if isnan(measured.before.value) and isnan(measured.after.value) else words.NOT_COMPARED
    ]


def _row(one: Verified, key: str, name: str, target: float | None, numbers: Numbers) -> dict[str, Any]:
    """A quantity with its cells. If no run completed, the cell has the outcomes of the runs."""
    said, unit = words.quantity(name, target)
    name_of_it = f"{said} ({unit})" if unit else said
    cells = {side: _shown(f"{key}.{side}.{name}", numbers) for side in SIDES}
    measured = any(cells[side].value != DASH for side in ("before", "after"))
    for side, launches in (("before", one.before), ("after", one.after)):
        if cells[side].value == DASH and not launches.ends.get("ok"):
            cells[side] = Shown(outcome_words(launches.ends))
    return {
        "quantity": name,
        "name": name_of_it,
        "header": f"{name_of_it[:1].upper()}{name_of_it[1:]}",
        "keys": {side: f"{key}.{side}.{name}" if f"{key}.{side}.{name}" in numbers else "" for side in SIDES},
        "cells": cells,
        "measured": measured,
    }


def _shown(key: str, numbers: Numbers) -> Shown:
    return numbers[key].shown if key in numbers else Shown(DASH)


def _piece(key: str, numbers: Numbers) -> Piece:
    return Piece(str(_shown(key, numbers)), key if key in numbers else "")


def _phrase(text: str, key: str, numbers: Numbers) -> Phrase:
    """'... {gain} ...' with the number of that name after the key."""
    pieces: list[Piece | str] = []
    for before, name, *_ in Formatter().parse(text):
        pieces += [before] if name is None else [before, _piece(f"{key}.{name}", numbers)]
    return Phrase(*pieces)


def _left_out(item: LeftOut) -> str:
    return f"{words.where(item.at)}: {item.change} {item.why[:1].upper()}{item.why[1:]}."


def _counted(found: VerificationFile) -> str:
    """'2 pieces of advice tried: 1 confirmed, 1 refuted'; '0 pieces of advice tried'."""
    numbers = {word: sum(one.verdict == code for one in found.verified) for code, word in words.VERDICTS.items()}
    counts = [f"{number} {word}" for word, number in numbers.items() if number]
    return ": ".join(filter(None, [f"{counted(len(found.verified), 'piece')} of advice tried", ", ".join(counts)]))


def verification_lines(found: VerificationFile, study: Study) -> list[str]:
    """The outcome of all tried advice as lines for a terminal, at most 80 columns wide."""
    view = verified_view(found, study, dict(verified_numbers(found)))
    lines = wrap(f"study {found.study}: {view['counted']}", "", "  ").splitlines()
    for item in view["tried"]:
        lines += ["", item["lines"]]
    if view["left_out"]:
        lines += ["", "Not tried:"]
        lines += [line for said in view["left_out"] for line in wrap(said, "* ", "  ").splitlines()]
    return lines


def text_lines(item: Mapping[str, Any]) -> list[str]:
    """A piece of advice of `verified_view` as lines of at most 80 columns, with its table."""
    lines = [wrap(f"{item['where']}: {item['verdict'].upper()}", "", "  ")]
    lines += [wrap(item["change"], "  ", "  "), wrap(item["said"], "  ", "  ")]
    note = [wrap(item["note"], "  ", "  ")] if item["note"] else []
    return "\n".join([*lines, *_table(item["rows"]), *note]).splitlines()


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines of the table. Limits follow their values, or are in a line below if they do not fit."""
    if not rows:
        return []
    name = max(NAME, *(len(row["name"]) for row in rows))
    side = (75 - name) // len(SIDES)
    beside = all(len(str(cell)) <= side for row in rows for cell in row["cells"].values())

    def line(first: str, cells: Sequence[str]) -> str:
        return f"  {first:<{name}} {' '.join(f'{cell:<{side}}' for cell in cells)}".rstrip()

    lines = [line("", list(SIDES))]
    for row in rows:
        cells = list(row["cells"].values())
        lines.append(line(row["name"], [str(cell) if beside else cell.value for cell in cells]))
        if not beside and any(cell.limits for cell in cells):
            lines.append(line("", [cell.limits for cell in cells]))
    return lines
