"""Reads one cell of a table: a number with its last printed digit, its unit, and what else the cell says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape

from scalestudy.importers.numbers.greek import with_greek_letters

NUMBER = re.compile(r"[-+]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][-+]?\d{1,2})?", re.ASCII)
"""Accepted forms of a number. Everything that is calculated from such numbers is finite."""
BEGINS_WITH_NUMBER = re.compile(r"[^A-Za-z]*(?:[xX] ?)?\d")
"""A cell that begins with a number, also with one behind the sign of a factor: x1.93."""
_LONGEST = 400
"""Characters of a cell that are read; a number and its unit are shorter."""
SHOWN = 60
"""Characters of a cell that a message quotes."""
_BLANK = re.compile(
    r"[-_.\u2010-\u2015\u2212*]*|n/?\.?a\.?|nan|none|null|tbd|todo|oom|out of memory|err(?:or)?|fail(?:ed)?|\?+|"
    r"#(?:value|ref|name|num|null|n/a|div/0)[!?]?",
    re.IGNORECASE,
)
_FAILED = re.compile(r"oom|out of memory|err|fail", re.IGNORECASE)
_MARKUP = re.compile(
    r"<sup>.*?</sup>|<ref[^<>]{0,200}>.*?</ref>|(?<=\S) ?\[#?\w{0,20}\]_(?!\w)|\\? ?:sup:`[^`]*`|"
    r"\[\^[^\]]*\]|<[^<>]{0,200}>|(?<=\S) ?(?:\^[a-z*\u2020\u2021]{1,2}\^|[\u00a7\u00b6\u1d43-\u1d4d]+$)",
    re.IGNORECASE,
)
_BREAK = re.compile(r"(?<=\d)((?: ?(?:%|[mu]?s|min|h|x|k))?) ?<br ?/?> ?(?=[\d~])", re.IGNORECASE)
"""A line break between two numbers."""
PICTURE = r"[\u23e9-\u23fa\u2600-\u2714\u2716-\u2793\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f ]+"
_PICTURES = re.compile(rf"^{PICTURE}(?=\D{{0,3}}\d)|(?<=\d){PICTURE}$")
"""Pictures in front of a number or behind it: a trophy, a rocket."""
_MATH = re.compile(r"\$(?:(?! )([^$]{1,60})(?<! )\$(?!\d)|(\\[a-z]{2,6})\$)")
_SIGNS_OF_MATH = (
    (re.compile(r" ?\\times\b ?"), "x"),
    (re.compile(r" ?\\pm\b ?"), " \u00b1 "),
    (re.compile(r"\\mu(?![a-z]{2}) ?"), "u"),
    (re.compile(r"\\(?:sim|approx)\b ?"), "~"),
    (re.compile(r"\{,\}|\\[,;:! ](?=\d{3})"), ","),
    (re.compile(r"\\(?:math|text)(?:bf|rm|it|sf)?\b ?"), ""),
    (re.compile(r"\\(?=[%#&_])|[{}]"), ""),
)
_ONE_STAR = re.compile(r"(?<!\*)\*(?!\*)")
_LINK = re.compile(r"!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)|(?<![\w)\]])\[([^\[\]]+)\]\[[^\[\]]*\]")
_ITALIC = re.compile(r"_([^_\s](?:[^_]*[^_\s])?)_")
_SIGNS = str.maketrans(
    {"\u00d7": "x", "\u2715": "x", "\u2212": "-", "\u2248": "~", "\u223c": "~", "\u00a0": " ", "\u202f": " "}
    | {"\u2009": " ", "\u00b5": "u", "\uff0c": ", ", "\uff08": "(", "\uff09": ")"}
    | dict.fromkeys("\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u2020\u2021", "")
)
_MICRO = re.compile("(?<![\u0370-\u03ff\u1f00-\u1fff])\u03bc(?![\u0370-\u03ff\u1f00-\u1fff])")
"""The factor of a unit, which is no letter of a Greek word."""
_COUNTED = re.compile(
    r"[~ ]*(?P<number>[-+]?(?:\d[\d.,'\u2019_ ]*\d|\d|\.\d+)\.?(?:[eE][-+]?\d{1,2})?)"
    r"(?P<factor>(?:[kKMGTB]| [kKM](?!\d)| ?(?:million|mln|thousand|billion|bn|\u4e07|\u4ebf))(?![A-Za-z]))?"
    r"(?P<spread> *(?:\+/?-|\u00b1) *[\d.,]+ *%?)?(?P<rest>.*)",
    re.ASCII | re.DOTALL,
)
_FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
_FACTORS |= {"thousand": 1e3, "million": 1e6, "mln": 1e6, "billion": 1e9, "bn": 1e9, "\u4e07": 1e4, "\u4ebf": 1e8}
_THOUSANDS = re.compile(r"[-+]?\d{1,3}([ ,.'\u2019_])\d{3}(\1\d{3})*", re.ASCII)
_COMMA = re.compile(r"[-+]?(\d+,(\d{1,2}|\d{4,})|0,\d+|\d{1,3}(\.\d{3})+,\d+)", re.ASCII)
"""A number whose comma can only separate its decimals."""
_REMARK = re.compile(
    r"\s*(?:[(\[][^()\[\]]*[)\]]|"
    r"(?:,| --?| [\u2013\u2014]) (?!slow|less|worse|fail|oom|and\b|or\b|to\b)[a-z][a-z ]{2,30})\s*$",
    re.IGNORECASE,
)
"""What follows a number and does not change it: (3 runs), - baseline."""
_BRACKETS = re.compile(r" ?[(\[](?P<inside>[^()\[\]]{3,60})[)\]]")
_OF_AN_INTERVAL = re.compile(
    r"(?:\d\d(?:\.\d)? ?% ?)?(?:c\.?i\.?|conf[a-z.]*(?: interval)?)? ?[:=,]? ?(?=[-+\d.])", re.I
)
"""What names the interval behind a number: 95 % CI: 1.65, 1.74."""
_TO = (";", ", ", " to ", "\u2013", "\u2014", " - ", "-", "..", ",")
"""What separates the ends of an interval."""
_PAIR = re.compile(r"\(\s*(?P<first>[\d.]+)\s*[,;]\s*[\d.]+\s*\)", re.ASCII)
"""A mean with its standard deviation, as Python prints a tuple."""
_OR_GAIN = re.compile(r"(?<=[\dx]) or [-+]?\d{1,5}(?:\.\d+)? ?%$", re.ASCII)
"""The same ratio as a gain, behind a number: 1.95 or 95%."""
_NAMED = re.compile(r"(?:base(?:line)?|ref(?:erence)?|serial|single) ?\((?P<number>\d[^()]*)\)", re.IGNORECASE)
"""A number of the baseline: Baseline (1.0x)."""
_ABOUT = re.compile(
    r"(?<![\w.])(?:about|approx\.?|approximately|around|circa|ca\.|c\.|roughly|aprox\.?|environ|etwa|ungef\u00e4hr|"
    r"\u7ea6|\u7d04|\uc57d)\s*(?=[`*]*\.?\d)",
    re.IGNORECASE,
)
_TIMES_FIRST = re.compile(r"[xX]\s*(?P<number>\d+(?:[.,]\d+)?)", re.ASCII)
_UNIT_BEHIND = re.compile(r"(?<=\d) ?[(\[]([nmu]s|m?secs?|s|seconds?|min|h|hrs?)[)\]]$")
_FOLD = re.compile(r"(?<=\d)(?:-fold| fold|fold| times| ?\u500d| ?\ubc30)$", re.IGNORECASE)
_PERCENT = re.compile(r"^(?:per ?cent|pct)\b", re.IGNORECASE)
ABOUT = 0.05
"""Relative uncertainty of a number that is printed as `about`: ~140."""
_TIMES = r"(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b"
_TWO_TIMES = re.compile(rf"{_TIMES}\.?\W+(?:and )?\d[\d.]* ?{_TIMES}", re.IGNORECASE)


@dataclass(frozen=True)
class Printed:
    """A number as printed, and the value of one unit in its last digit.

    It may have been rounded or truncated, so it represents all numbers less than one such unit away.
    """

    value: float
    last: float = 0.0
    plain: bool = field(default=False, compare=False)
    """Whether it is a ratio with nothing but its digits, so that it is at most half a unit above its value."""

    @property
    def low(self) -> float:
        return self.value - self.last

    @property
    def high(self) -> float:
        return self.value + self.last

    def times(self, factor: float) -> Printed:
        """Return the number in another unit; factor > 0."""
        return Printed(self.value * factor, self.last * factor, self.plain)


@dataclass(frozen=True)
class Cell:
    """A cell with a number. `unit` is the text after the number; it is empty if there is none."""

    printed: Printed
    unit: str = ""
    percent: bool = False
    spread: float = 0.0
    """The number after a plus-minus sign, or the distance to the farther end of an interval in brackets."""


_UNIT_TWICE = re.compile(
    r"^(?P<number>[\d.,]+) ?(?P<unit>[^\W\d]+(?:/[^\W\d]+)*) ?"
    r"(?P<sign>\+/?-|\u00b1) ?(?P<spread>[\d.,]+) ?(?P=unit)$"
)
"""A spread with the unit of its number: 468.9 ms ± 7.6 ms."""
_POWER = re.compile(
    r"(?<=\d) ?(?:[x\u00d7\u00b7*]|\\times|\\cdot) ?10"
    r"(?:\^?([\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)|\^\{?([-\u2212]?\d+)\}?|<sup>([-\u2212]?\d+)</sup>)"
)
_POWER_OF_TEN = re.compile(
    r"(?<![\w.,^\u00d7\u00b7*])10([\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{2,}|[\u00b3\u2074-\u2079])(?!\w)"
)
"""A power of ten alone, 10³; ¹ and ² behind a 10 may be notes."""
_RAISED = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u2212", "0123456789--")


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """Return the text of a cell without markup: no emphasis, links, footnotes or HTML."""
    text = _POWER.sub(lambda found: "e" + next(filter(None, found.groups())).translate(_RAISED), text[:_LONGEST])
    text = _POWER_OF_TEN.sub(lambda found: f"1e{found[1].translate(_RAISED)}", text)
    text = _MATH.sub(_of_math, unescape(_LINK.sub(lambda link: link[1] or link[2] or "", text)))
    text = _PICTURES.sub("", _MICRO.sub("u", text.translate(_SIGNS)))
    text = _BREAK.sub(r"\1 / ", text)
    text = _MARKUP.sub(lambda tag: " " if tag.group().lower().startswith("<br") else "", text)
    text = _ABOUT.sub("~", re.sub(r"\\([~*_`#%&<>\[\](){}.!+-])", r"\1", text))
    if len(_ONE_STAR.findall(text)) == 1:  # two or more are emphasis
        text = re.sub(r"(?<=[\w)]) ?(?<!\*)\*(?!\*) ?(?=[\w(])", "x", text)
    text = " ".join(re.sub(r"[*`]+|(?<!\w)__|__(?!\w)", "", text).split())
    return _ITALIC.sub(r"\1", text) if _ITALIC.fullmatch(text) else text


def _of_math(found: re.Match[str]) -> str:
    """The text between dollar signs, with its commands as signs: $1.9\\times$ is 1.9x."""
    text = with_greek_letters(found[1] or found[2])
    for pattern, sign in _SIGNS_OF_MATH:
        text = pattern.sub(sign, text)
    return text


@lru_cache(maxsize=8192)
def is_blank(text: str) -> bool:
    """Return whether a cell says that there is no value: empty, a dash, n/a, nan, TODO, OOM."""
    text = plain(text)
    named = re.match(r"none\b.*\d", text.lower())  # none (1 GPU)
    return bool(_BLANK.fullmatch(text) or (not named and _BLANK.fullmatch(_REMARK.sub("", text) or text)))


def says_failed(text: str) -> bool:
    """Return whether a cell without a value says that its run failed: OOM, error."""
    return is_blank(text) and bool(_FAILED.match(plain(text)))


def says_base(text: str) -> bool:
    """Return whether a cell says, without a number, that ratios are relative to its row: baseline, (ref.)."""
    return bool(re.fullmatch(r"\W*(?:base|ref)[^\d]*", plain(text).lower()))


def is_ditto(text: str) -> bool:
    """Return whether a cell says that it is as the cell above."""
    return plain(text).lower() in ('"', "''", "\u201d", "\u2033", "\u3003", "^^", "^", "\u2191", "ditto", "same")


@lru_cache(maxsize=8192)
def read_cell(text: str, *, comma: bool = False) -> Cell:
    """Return the number of a cell with its unit. comma: decimals follow a comma, as in 1.234,5.

    A remark in brackets after the number and a spread after a plus-minus sign are left out. '12k' is 12000 with
    1000 as last digit; '~140' has an uncertainty of 5 %.
    Raises ValueError for anything else, such as a range, a limit or an infinite value.
    """
    whole = _OR_GAIN.sub("", plain(text).rstrip(",;"))
    if named := _NAMED.fullmatch(whole):
        whole = named["number"]
    if pair := _PAIR.fullmatch(whole):
        whole = pair["first"]
    whole = _UNIT_TWICE.sub(r"\g<number> \g<sign> \g<spread> \g<unit>", whole)
    whole, spread_value = _without_interval(_UNIT_BEHIND.sub(r" \1", _FOLD.sub("x", whole)), comma=comma)
    if factor := _TIMES_FIRST.fullmatch(whole if re.search(r"\(.*\d", whole) else _REMARK.sub("", whole)):
        whole = f"{factor['number']}x"
    found = _COUNTED.fullmatch(_REMARK.sub("", whole) or whole)
    rest = found["rest"].strip() if found else whole
    if not found or re.match(r"[-\u2010-\u2015~<>=,.:\d]|(to|or|and)\b|[/x] ?\d", rest, re.IGNORECASE):
        raise ValueError(f"{text} is not a number")
    if _TWO_TIMES.match(rest):
        raise ValueError(f"{text} is a duration of several parts")
    printed = _number(found["number"].strip(), comma=comma)
    if found["factor"]:
        printed = printed.times(_FACTORS[found["factor"].strip()])
    if whole.startswith("~"):
        printed = Printed(printed.value, max(printed.last, abs(printed.value) * ABOUT))
    rest = _PERCENT.sub("%", rest)
    percent = rest.startswith("%")
    spread = re.search(r"\d[\d.,]*|\.\d+", found["spread"] or "")
    spread_value = _number(spread.group().rstrip("."), comma=comma).value if spread else spread_value
    return Cell(printed, rest.lstrip("%").strip(), percent, spread_value)


def _without_interval(text: str, *, comma: bool) -> tuple[str, float]:
    """(a cell without the interval in brackets after its number, distance to the farther end of that interval)"""
    for found in _BRACKETS.finditer(text):
        inside = _OF_AN_INTERVAL.sub("", found["inside"], count=1)
        for separator in _TO:
            ends = inside.split(separator)
            if len(ends) != 2 or not found.start():
                continue
            try:
                cells = [read_cell(one, comma=comma) for one in (ends[0], text[: found.start()], ends[1])]
            except ValueError:
                continue
            low, value, high = (cell.printed.value for cell in cells)
            if len({(cell.unit, cell.percent) for cell in cells} - {("", False)}) > 1:
                continue  # two ratios: (6.61x, 83 % efficiency)
            if low <= value <= high and low < high:
                return text[: found.start()] + text[found.end() :], max(value - low, high - value)
    return text, 0.0


def has_decimal_commas(texts: Iterable[str]) -> bool | None:
    """Return whether commas separate decimals in these cells; None if no cell shows it."""
    commas = points = 0
    for text in texts:
        found = _COUNTED.fullmatch(_REMARK.sub("", plain(text)))
        digits = found["number"].strip() if found else ""
        last = max(digits.rfind(","), digits.rfind("."))
        if last < 0 or (_THOUSANDS.fullmatch(digits) and not re.match(r"[-+]?0", digits)):
            continue
        commas, points = commas + (digits[last] == ","), points + (digits[last] == ".")
    return None if commas == points else commas > points


def _number(digits: str, *, comma: bool) -> Printed:
    """Return the number that digits spell. Three digits after a separator are thousands."""
    comma = comma or bool(_COMMA.fullmatch(digits))
    if comma and not re.fullmatch(r"[-+]?\d*\.\d{1,2}", digits, re.ASCII):
        digits = digits.replace(".", "").replace(",", ".")
    elif (found := _THOUSANDS.fullmatch(digits)) and found[1] == "." and digits.count(".") > 1:
        digits = digits.replace(".", "")
    if ", " in digits:
        raise ValueError(f"{digits} is not a number")
    digits = re.sub(r"[ ,'\u2019_](?=\d{3})", "", digits)
    if not NUMBER.fullmatch(digits):
        raise ValueError(f"{digits} is not a number")
    mantissa, _, exponent = digits.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return Printed(float(digits), 10.0 ** (int(exponent or 0) - decimals))


def read_printed(text: str) -> Printed:
    """Return '7.60' as 7.6 with last digit 0.01. Also reads '87.3%', '1.75x', '12,369'; else ValueError."""
    return read_cell(text).printed


def share(cells: Sequence[str], read: Callable[[str], object]) -> float:
    """Return the share of cells that can be read."""
    readable = 0
    for cell in cells:
        try:
            read(cell)
            readable += 1
        except ValueError:
            continue
    return readable / len(cells) if cells else 0.0
