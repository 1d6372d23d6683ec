"""Finds tables of LaTeX: tabular, tabularx, longtable and their like, with the markup of cells removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from scalestudy.importers.markup.latex_letters import with_letters
from scalestudy.importers.numbers.greek import with_greek_letters
from scalestudy.importers.raw import RawTable

_BEGIN = re.compile(r"\\begin\{(?P<name>tabular[xy*]?|tabulary|longtable\*?|longtabu|tabu|tblr|NiceTabular)\}")
_ARGUMENTS = dict.fromkeys(("tabularx", "tabular*", "tabulary"), 2)
"""Environments with a width before their columns."""
_ROW = re.compile(r"(?<!\\)&.*\\\\")
LONGEST_ROW = 5000
"""Characters of a line that may be a row of a table without its environment."""
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|endfirsthead|endhead|endfoot|endlastfoot)\b(?:\[[^\]]*\])?"
    r"|\\(?:cmidrule|cline|specialrule|rowcolor|addlinespace|noalign|arrayrulecolor|rowcolors)\*?"
    r"(?:\([^)]*\))?(?:\[[^\]]*\])?(?:\{[^{}]*\})*"
)
_LOST = re.compile(
    r"\\(?:cite[pt]?|footnote(?:mark|text)?|tnote|label|ref|textsuperscript|vspace|hspace|cellcolor|color|phantom)\*?"
    r"(?:\[[^\]]*\])*(?:\{[^{}]*\})?"
)
_SIGNS = (
    (r"\\per\b ?", "/"),
    (r"\\milli\b ?(?=\\second)", "m"),
    (r"\\second\b ?", "s"),
    (r"\\minute\b ?", "min"),
    (r"\\hour\b ?", "h"),
    (r"\\percent\b ?", "%"),
    (r"\\(?:times|texttimes)\b ?", "x"),
    (r"\\pm\b ?", " ± "),
    (r"(?<!\\)~", " "),
    (r"\\(?:sim|approx)\b ?", "~"),
    (r"\\(?:micro|mu)\b ?", "u"),
    (r"\\(?:checkmark|cmark)\b", "yes"),
    (r"\\([%&#_$])", r"\1"),
    (r"\\[,;:! ]", " "),
    (r"\{,\}", ","),
    (r"---?", "-"),
    (r"\^\{?(?:\\dagger|\\ddagger|\\ast|\*|[a-z])\}?", ""),
)
_ARGUMENT = re.compile(r"\s*([{\[])")
_AFTER_ROW = re.compile(r"\*?(?:\[[^\]\n]{0,20}\])?")
_MOST_NESTED = 6
_NEAR = 1500
"""Characters before and after a table in which its caption is looked for."""


def latex_tables(text: str) -> Iterator[RawTable]:
    """Yield the tables of a text of LaTeX; rows with & and \\\\ without a tabular around them are one table."""
    if "&" not in text or "\\" not in text:
        return
    text = with_letters(text.replace("\\tabularnewline", "\\\\"))
    text = re.sub(r"(?<!\\)%[^\n]*", lambda comment: " " * len(comment.group()), text)
    found = False
    for begin in _BEGIN.finditer(text):
        end = text.find(f"\\end{{{begin['name']}}}", begin.end())
        start = _after_arguments(text, begin.end(), _ARGUMENTS.get(begin["name"], 1))
        if end > start:
            found = True
            yield from _table(text, start, end)
    if not found and "\\\\" in text:
        places = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
        rows = [
            (place, place + line.rfind("\\\\") + 2)
            for place, line in zip(places, text.split("\n"), strict=False)
            if len(line) <= LONGEST_ROW and _ROW.search(line)
        ]
        if rows:
            yield from _table(text, rows[0][0], rows[-1][1])


def _table(text: str, start: int, end: int) -> Iterator[RawTable]:
    body = _without_captions(_RULES.sub(lambda rule: " " * len(rule.group()), text[start:end]))
    rows = []
    for place, row in _split(body, "\\\\"):
        cells = [cell for _, part in _split(row, "&") for cell in _cell(part)]
        if any(cells):
            first = place + len(row) - len(row.lstrip())
            rows.append((text.count("\n", 0, start + first) + 1, tuple(cells)))
    if rows:
        headings = tuple(
            _plain(name) for name in re.findall(r"\\(?:sub)*section\*?\{([^{}]*)\}", text[:start])[-1:]
        )
        yield RawTable(rows[0][0], rows[0][1], tuple(rows[1:]), headings, _caption(text, start, end))


def _without_captions(body: str) -> str:
    """The body of a long table without its captions, which end like rows."""
    while found := re.search(r"\\caption\*?(?:\[[^\]]*\])?(?=\{)", body):
        close = _braced(body, found.end())[1]
        close = (
            skip.end()
            if (skip := re.compile(r"(?:\s*\\label\{[^}]*\})?\s*(?:\\\\|\\tabularnewline)").match(body, close))
            else close
        )
        body = body[: found.start()] + re.sub(r"[^\n]", " ", body[found.start() : close]) + body[close:]
    return body


def _caption(text: str, start: int, end: int) -> str:
    around = text[max(0, start - _NEAR) : start].rpartition("\\begin{table")[2], text[end : end + _NEAR]
    for part in (around[0], text[start:end], around[1].partition("\\end{table")[0]):
        if found := re.search(r"\\caption\*?(?:\[[^\]]*\])?\{", part):
            return _plain(_braced(part, found.end() - 1)[0])
    return ""


def _after_arguments(text: str, place: int, most: int) -> int:
    """The place after the width, the position and the columns of an environment. most: arguments in braces."""
    while (found := _ARGUMENT.match(text, place)) is not None and (most or found[1] == "["):
        if found[1] == "[":
            close = text.find("]", place)
            if close < 0:
                return place
            place = close + 1
            continue
        place, most = _braced(text, found.end() - 1)[1], most - 1
    return place


def _braced(text: str, place: int) -> tuple[str, int]:
    """The text between the brace at a place and its partner, and the place after that."""
    depth = 0
    for at in range(place, len(text)):
        if text[at] in "{}" and (at == 0 or text[at - 1] != "\\"):
            depth += 1 if text[at] == "{" else -1
            if depth == 0:
                return text[place + 1 : at], at + 1
    return text[place + 1 :], len(text)


def _split(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """Parts of a text between marks that are not within braces, each with its place."""
    depth, start, at = 0, 0, 0
    while at < len(text):
        if text.startswith(mark, at) and depth == 0:
            yield start, text[start:at]
            at += len(mark)
            if mark == "\\\\" and (skip := _AFTER_ROW.match(text, at)):
                at = skip.end()
            start = at
            continue
        if text[at] == "\\":
            at += 2
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    yield start, text[start:]


def _cell(part: str) -> list[str]:
    """The plain text of a cell, as often as it has columns."""
    found = re.match(r"\s*\\multicolumn\s*\{(\d{1,3})\}\s*", part)
    if found is None:
        return [_plain(part)]
    place = _braced(part, found.end())[1] if part[found.end() : found.end() + 1] == "{" else found.end()
    inside = part.find("{", place)
    text = _braced(part, inside)[0] if inside >= 0 else part[place:]
    return [_plain(text)] * int(found[1])


def _plain(text: str) -> str:
    text = _LOST.sub("", text)
    text = re.sub(r"\\multirow(?:\[[^\]]*\])?\{[^{}]*\}(?:\[[^\]]*\])?\{[^{}]*\}(?:\[[^\]]*\])?", "", text)
    text = re.sub(r"\\(?:SI|qty)(?:\[[^\]]*\])?\{([^{}]*)\}\{([^{}]*)\}", r"\1 \2", text)
    text = re.sub(r"\\\\(?:\[[^\]]*\])?", " ", text)
    for pattern, sign in _SIGNS:
        text = re.sub(pattern, sign, text)
    text = with_greek_letters(text)
    for _ in range(_MOST_NESTED):
        text, count = re.subn(r"\\[A-Za-z]+\*?(?:\[[^\]]*\])?\{([^{}]*)\}|\{([^{}\\]*)\}", r"\1\2", text)
        if not count:
            break
    text = re.sub(r"\\[A-Za-z]+\b|[{}$]|\\[()\[\]]", " ", text)
    return " ".join(text.split()).replace(" x ", "x ") if text.strip() else ""
