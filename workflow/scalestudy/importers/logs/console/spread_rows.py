"""Console logs with a row over several lines: a name and a number on each, in a box or below the number of a step.

    [batch=3/30]:                         | Iteration          |  737 |
        Train throughput/samples: 57.6    | Samples_Per_Second | 11600 |

The lines of a row are joined to one, which is read as a row of any trainer. Rows end at rules, such as `-----`, or
begin at the lines with the number of a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from scalestudy.importers.logs.console import any_trainer
from scalestudy.importers.logs.console.form import LEARNED_FROM, MEASURED, Form, form_of_lines
from scalestudy.importers.logs.console.spread_blocks import joined_in_blocks
from scalestudy.importers.logs.console.spread_lines import BEGIN, RULE, Joiner, rule_of
from scalestudy.importers.logs.lines import blocks, numbered_lines
from scalestudy.importers.logs.model import Given, Log


def form_of(path: Path) -> Form | None:
    """Return the form of the rows of a log; None if no row over several lines has a step and its time or rate."""
    form = form_of_lines(islice(joined(path), LEARNED_FROM))
    if form is None or not MEASURED & set(form.read) or "step" not in form.read:
        return None
    time = form.read.get("step_time_s")
    return form if "work_per_s" in form.read or (time and (time.of_a_step or time.since_start)) else None


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log. Raises UserError as any_trainer.read does."""
    form = form_of(path)
    if form and (names := _named(form)):  # a row has no other lines, such as one with a time stamp
        again = form_of_lines(islice(joined(path, names), LEARNED_FROM))
        form = again if again and again.read.keys() == form.read.keys() else form
    return any_trainer.read_lines(path, given, form, lambda form: joined(path, _named(form)))


def _named(form: Form) -> tuple[bytes, ...]:
    """The names of the numbers that are read; none if one of them has no name."""
    names = [one.name.encode() for one in form.named]
    return tuple(names) if all(names) else ()


def joined(path: Path, names: tuple[bytes, ...] = ()) -> Iterator[tuple[int, bytes]]:
    """Yield (number of its first line, line) of the rows of a log, each as one line.

    names: only lines with one of them are joined; none for all lines.
    """
    joiner = Joiner(names, rules=_rules_of(path))
    if names:
        yield from joined_in_blocks(blocks(path), joiner)
        return
    number = 0
    for here, line in numbered_lines(path):
        for row in joiner.take(here, line):
            yield number, row
        number = joiner.number
    for row in joiner.end():
        yield number, row


def _rules_of(path: Path) -> bytes:
    """What the rules that separate rows begin with: those in front of the first step. '' if rules do not separate
    rows: between two of them is more than one line with the number of a step."""
    kind, before = b"", b""
    rules = most = begins = 0
    for _, line in islice(numbered_lines(path), LEARNED_FROM):
        if RULE.match(line):
            here = rule_of(line)
            before = before if kind else here
            if here == kind or not kind:
                rules += 1
                most, begins = max(most, begins), 0
        elif BEGIN.search(line):
            kind = kind or before
            begins += 1
    return kind if rules > 0 and max(most, begins) == 1 else b""
