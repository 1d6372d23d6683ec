"""`--fail-if "step_time > +3%"`: parses the limits of a guard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

import click

from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.analyse.guard.limits import Limit, Quantity

EXITS = "0: within all limits; 1: worse than a limit; 2: an error in the command or its studies; 3: cannot tell."
_FORM = re.compile(r"\s*(\w[\w -]*?)\s*(<=?|>=?)\s*([+-]?)(\d+(?:\.\d+)?|\.\d+)\s*(%|points?|)\s*")


fail_if = partial(
    click.option,
    "--fail-if",
    multiple=True,
    metavar="LIMIT",
    help="Change that counts as a failure, such as 'step_time > +3%' or 'throughput < -3%'; may be repeated."
    f" Exit status {EXITS}",
)


def parse_limits(texts: Sequence[str], *, live: bool = False) -> list[Limit]:
    """Return the limits. Raises UserError with what is wrong in a limit and what would be right.

    live: the limits are for single runs, which have no speedup.
    """
    limits = [_limit(text, live=live) for text in texts]
    for limit in limits:
        if sum(other.quantity == limit.quantity for other in limits) > 1:
            raise UserError(f"--fail-if: {limit.quantity} has two limits; give one")
    return limits


def _limit(text: str, *, live: bool) -> Limit:
    from scalestudy.analyse.guard.limits import QUANTITIES, Limit

    found = _FORM.fullmatch(text)
    if not found:
        raise _mistake(text, "not a limit; write QUANTITY > +X% or QUANTITY < -X%, such as 'step_time > +3%'")
    word, sign, plus, digits, unit = found.groups()
    name = word.lower().replace("-", "_").replace(" ", "_")
    known = [quantity.name for quantity in QUANTITIES.values() if quantity.live or not live]
    if name not in QUANTITIES:
        near = get_close_matches(name, known, n=1)
        advice = f"did you mean {near[0]}?" if near else f"the quantities are {', '.join(known)}"
        raise _mistake(text, f"unknown quantity {word}; {advice}")
    quantity = QUANTITIES[name]
    if name not in known:
        raise _mistake(
            text,
            f"{name} needs runs of the baseline, which a guard does not have; limit step_time or throughput, or"
            " compare two finished studies",
        )
    right = _right(quantity, digits)
    if not sign.startswith(quantity.sign):
        better = "smaller" if quantity.worse > 0 else "larger"
        raise _mistake(text, f"a {better} {name} is not a failure; write '{right}'")
    if unit != ("%" if quantity.relative else unit) or not unit or (not quantity.relative and unit == "%"):
        of = "a change in percent" if quantity.relative else "a difference in points"
        raise _mistake(text, f"the limit of {name} is {of}; write '{right}'")
    number = float(digits)
    if number and plus != ("+" if quantity.worse > 0 else "-") and (plus or quantity.worse < 0):
        raise _mistake(text, f"the limit has the wrong sign; write '{right}'")
    if quantity.worse < 0 and number >= 100:
        raise _mistake(text, f"{name} cannot fall by 100 or more; write less, such as '{_right(quantity, '3')}'")
    return Limit(quantity=name, change=quantity.worse * number / 100)


def _right(quantity: Quantity, digits: str) -> str:
    unit = "%" if quantity.relative else " points"
    return f"{quantity.name} {quantity.sign} {'+' if quantity.worse > 0 else '-'}{digits}{unit}"


def _mistake(text: str, said: str) -> UserError:
    return UserError(f"--fail-if {text!r}: {said}")
