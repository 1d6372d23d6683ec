"""Console logs with a row over several lines: a name and a number on each, in a box or below the number of a step.

    [batch=3/30]:                         | Iteration          |  737 |
        Train throughput/samples: 57.6    | Samples_Per_Second | 11600 |

The lines of a row are joined to one, which is read as a row of any trainer. Rows end at rules, such as `-----`, or
begin at the lines with the number of a step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from scalestudy.importers.logs import console
from scalestudy.importers.logs.console_form import LEARNED_FROM, LONGEST_ROW, MEASURED, Form, form_of_lines
from scalestudy.importers.logs.lines import numbered_lines
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.parts import parts_of

_RULE = re.compile(rb"^[\s|+]*[-=*_#+\xe2\x94\x80\xe2\x95\x90]{5,}[-=*_#+|\s\xe2\x94\x80\xe2\x95\x90]*$")
_BEGIN = re.compile(
    rb"(?i)(?<![a-z/_])(?:(?:global|training|train)[ _])?(?:step|iteration|iter|batch)s?"
    rb"['\"]?[\s:=#|\[]{1,40}\d+(?![\d.]*[a-z])"
)
_BOX = re.compile(rb"^[\s|*\xe2\x94\x82\xe2\x95\x91]+|[\s|*,;\xe2\x94\x82\xe2\x95\x91]+$")
_BEFORE = re.compile(rb"\s*[|:=\xe2\x94\x82]?\s+(?=[-+]?[\d.]+(?:e[-+]?\d+)?\s*[a-z%/]{0,12}$)", re.IGNORECASE)
"""What separates a name from its number at the end of a line."""
_WORDS, _RULES = (b"step", b"iter", b"batch"), (b"-", b"=", b"*", b"_", b"#", b"\xe2")
MOST_LINES = 200
"""Lines of a row."""


def form_of(path: Path) -> Form | None:
    """Return the form of the rows of a log; None if no row over several lines has a step and its time or rate."""
    form = form_of_lines(islice(joined(path), LEARNED_FROM))
    if form is None or not MEASURED & set(form.read) or "step" not in form.read:
        return None
    time = form.read.get("step_time_s")
    return form if "work_per_s" in form.read or (time and time.of_a_step) else None


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log. Raises UserError as console.read does."""
    return console.read_lines(path, given, form_of(path), lambda form: joined(path, _named(form)))


def _named(form: Form) -> tuple[bytes, ...]:
    """The names of the numbers that are read; none if one of them has no name."""
    names = [one.name.encode() for one in form.named]
    return tuple(names) if all(names) else ()


def joined(path: Path, names: tuple[bytes, ...] = ()) -> Iterator[tuple[int, bytes]]:
    """Yield (number of its first line, line) of the rows of a log, each as one line.

    names: only lines with one of them are joined; none for all lines.
    """
    ruled = _has_rules(path)
    number, parts, size, begun = 0, list[bytes](), 0, False
    for here, line in numbered_lines(path):
        for part in parts_of(line):
            is_rule = part.lstrip(b" |+\t")[:1] in _RULES and _RULE.match(part) is not None
            lower = part.lower()
            begins = any(word in lower for word in _WORDS) and _BEGIN.search(part) is not None
            if is_rule if ruled else begins:
                if begun:
                    yield number, b" | ".join(parts) + b"\n"
                number, parts, size, begun = here, [], 0, False
            begun |= begins
            if names and not begins and not any(name in part for name in names):
                continue
            if not is_rule and (begun or ruled) and len(parts) < MOST_LINES and size < LONGEST_ROW:
                text = _BEFORE.sub(b": ", _BOX.sub(b"", part), count=1)
                if text and size + len(text) + 3 < LONGEST_ROW:
                    parts.append(text)
                    size += len(text) + 3
    if begun:
        yield number, b" | ".join(parts) + b"\n"


def _has_rules(path: Path) -> bool:
    """Whether rules separate the rows: between two of them is at most one line with the number of a step."""
    rules = most = begins = 0
    for _, line in islice(numbered_lines(path), LEARNED_FROM):
        if _RULE.match(line):
            rules += 1
            most, begins = max(most, begins), 0
        else:
            begins += _BEGIN.search(line) is not None
    return rules > 0 and max(most, begins) == 1
