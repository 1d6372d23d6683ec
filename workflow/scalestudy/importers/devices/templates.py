"""Devices across in headers that differ in one number only: `Time p=8`, `T(8)`, `8T (s)`, `GPUx8 FPS`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.counts.numerals import in_digits, spelled
from scalestudy.importers.devices.across import single_devices
from scalestudy.importers.headers.languages import in_english
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, KIND, MAKER, NODE, TIME_UNIT
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import RawTable

_NUMBER = re.compile(r"(?<![\d.])(?<!\dx)(?<!\d\*)(?<!\d x )(?<!\d \* )\d{1,6}(?![\d.]| ?[x*] ?\d)")
_PRODUCT = re.compile(r"(?<![\w.])(\d{1,4}) ?(?:[x*] ?(\d{1,3})|n[_ -]?(\d{1,3}) ?g)(?![\w.])", re.IGNORECASE)
"""Nodes times the devices of each: 2x8, 2n8g."""
_BY_LETTERS = re.compile(r"\d ?n[_ -]?\d{1,3} ?g(?!\w)", re.IGNORECASE)
_MOST_OF_A_NODE = 16
_OF_A_SIZE = re.compile(r"batch|size|resol|image|tile|grid|shape|kernel|matrix|mesh|dim|domain|problem|input|crop")
"""Headers of sizes: 128 x 4 beside them is no number of devices."""
_JOIN = r"(?:(?:on|with|using|at|for|over|across) )?"
_BEFORE = re.compile(
    rf"{_JOIN}(?<![^\W_])(?<!/)(?<!\bper )"
    rf"(?:{DEVICE}|{NODE}|np|nt|nw|n_?procs?|ws|world[ _]?size|mpi|omp|openmp|pthreads?|ddp|"
    rf"(?:f?sdp2?|hsdp|dp|tp|(?:data|tensor|pipeline)[- ]parallel(?:ism)?)(?: ?(?:degree|size))?|horovod|"
    rf"par(?:allel)?|local(?=\[)|-j(?:obs)?|{MAKER}*(?P<kind>{KIND})(?= ?[x*]))"
    r"[ =:_(\[@*x-]*$"
)
"""Words in front of a number that make it one of devices."""
_BEHIND = re.compile(
    rf"[ _]?-?(?:{DEVICE}|{NODE}|gpu|thr|way|proc|dev|accel|[x*]? ?{MAKER}*(?P<kind>{KIND}))s?\.?(?![^\W_])\)?"
    r"(?: parallel\b)?"
)
"""Words behind a number that make it one of devices."""
OTHER = re.compile(
    r"batch|\bm?bs\b|\bgbs\b|\bseq|\blen|ctx|context|size|\bdim|layer|epoch|\bsteps?\b|\biter|\btop|hidden|\bheads?\b|"
    r"depth|level|\brun\b|trial|fold|version|\bv$|stage|seed|\bpass\b|\btest|case|scenario|config|model|part\b|phase|"
    r"round|\btry|attempt|users?\b|clients?\b|concurren|\bvus?\b|request|conn|\b[kmgt]i?b\b|\bpx\b|percentile|quantile|\bk\b|"
    r"order|degree|scale|\bq\b|\blr\b|rate\b|resolution|beam|shot|block|tile|rows?\b|col|\bday|year|month|week"
)
"""Words that make a number one of something else, where nothing says that it is of devices."""
_LETTER = re.compile(r"(?:^|(?<=[ (_]))(?:n|p|x|@|-?j|#|t|s|e)[ =:_(]*$")
_LETTER_BEHIND = re.compile(r" ?(?:t|c|p|x|n|g|w|cores)(?![^\W_])\)?")
"""Single letters beside a number, which alone do not show that it is of devices."""
_IN_BRACKETS = re.compile(r"\(0 ?x\)")
"""A factor in brackets, which is one of devices in a table of kinds of hardware: `Model 8B (2×) tokens/s`."""
_QUANTITIES = {"t": "time", "s": "speedup", "e": "efficiency"}
"""Letters of quantities that are functions of the number of devices: T(8), S_8."""
_ABOVE = 1.3
"""How far a speedup may be above the number of its devices, and an efficiency above 1."""
_PERCENTILES = {50, 75, 90, 95, 99, 999}
_FEW, _FEW_WITHOUT_WORDS = 2, 3
_BEGINS = 16
"""Largest number of devices that a series begins with, where only the numbers show what they are."""
_FACTOR = 1.5
"""Least factor from one number of devices to the next, where only the numbers show what they are."""


@dataclass(frozen=True)
class _Found:
    """A header with its number, and what it says beside it."""

    number: int
    rest: str
    kind: str
    says_devices: bool
    template: tuple[str, str]


def templates_across(table: RawTable) -> tuple[dict[int, tuple[str, str]], str]:
    """Return place -> (devices, other words of the header), and a note if only the numbers show what they are.

    Nothing if no two headers differ in a number of devices only.
    """
    if _has_devices(table):
        return {}, ""
    corner = meaning_of(table.header[0]).role in ("gpus", "nodes")
    of_hardware = meaning_of(table.header[0]).role == "hardware"
    groups: dict[tuple[str, str], dict[int, _Found]] = {}
    products = _products(table.header)
    for place, header in enumerate(table.header[1:], start=1):
        for found in _numbers_in(header, products):
            groups.setdefault(found.template, {})[place] = found
    for group in sorted(groups.values(), key=lambda one: (-len(one), not next(iter(one.values())).says_devices)):
        sizes = [found.number for found in group.values()]
        if len(set(sizes)) < len(sizes) or len(sizes) < _FEW or min(sizes) < 1 or set(sizes) <= _PERCENTILES:
            continue
        told = corner or all(found.says_devices for found in group.values())
        told = told or (of_hardware and _is_in_brackets(group))
        of_nodes = products and _change_alike(table, [*group])
        told = told or bool(of_nodes and _BY_LETTERS.search(plain(table.header[next(iter(group))])))
        shown = are_sizes(sizes) and (_is_bare(group) or _is_of_scaling(table, group))
        shown = shown or (min(sizes) == 1 and _is_bare(group) and _is_of_scaling(table, group))  # 1p | 8p
        if not (told or of_nodes or shown):
            continue
        alike = [one for one in groups.values() if told and one is not group and _is_of_sizes(one, sizes)]
        alike += [one for one in groups.values() if of_nodes and _are_ratios_on(one, sizes)]
        if not told and not of_nodes:
            alike = [one for one in groups.values() if one is not group and _is_shown_too(table, one, sizes)]
        across = {
            place: (f"{found.number}{f'x {found.kind}' if found.kind else ''}", found.rest)
            for one in (group, *alike)
            for place, found in one.items()
        }
        names = " and ".join(plain(table.header[place]) for place in list(group)[:2])
        kind = "nodes times the devices of each" if of_nodes else "numbers of devices"
        return across, "" if told else f"the numbers in headers such as {names} are read as {kind}"
    return {}, ""


def _is_of_sizes(group: dict[int, _Found], sizes: Sequence[int]) -> bool:
    """Whether other headers are of the same numbers of devices: `small, 1 thread` beside `large, 1 thread`."""
    told = all(one.says_devices for one in group.values()) or _is_in_brackets(group)
    return told and [found.number for found in group.values()] == sizes


def _is_shown_too(table: RawTable, group: dict[int, _Found], sizes: Sequence[int]) -> bool:
    """Whether other headers have the same numbers and change with them: B-1, B-2 beside A-1, A-2."""
    return [found.number for found in group.values()] == list(sizes) and _is_of_scaling(table, group)


def _are_ratios_on(group: dict[int, _Found], sizes: Sequence[int]) -> bool:
    """Whether headers are of printed ratios on some of these devices: `4x8 speedup`."""
    ratios = all(meaning_of(found.rest).role in STATED for found in group.values())
    return ratios and {found.number for found in group.values()} <= {*sizes}


def _is_in_brackets(group: dict[int, _Found]) -> bool:
    return all(_IN_BRACKETS.search("0".join(found.template)) for found in group.values())


def begins_with_devices(header: Sequence[str]) -> bool:
    """Return whether the first header too is one of devices, and differs from the next one in its number only."""
    if len(header) < _FEW:
        return False
    firsts, seconds = (_numbers_in(name) for name in header[:2])
    return any(
        one.says_devices and one.template == other.template and one.number != other.number
        for one in firsts
        for other in seconds
    )


def _has_devices(table: RawTable) -> bool:
    """Whether a column has devices, the first one has labels that name them, or columns are single devices."""
    roles = [meaning_of(name).role in ("gpus", "nodes") for name in table.header]
    cells = table.cells(0)
    if any(roles[1:]) or single_devices(table.header):
        return True
    if roles[0]:  # above names of quantities it is that of the other headers
        return not any(known_role(cell) in (*MEASURED, *STATED) for cell in cells)
    if OTHER.search(normal(table.header[0])):  # 1, 16, 48 requests at a time
        cells = [cell for cell in cells if not plain(cell).isdecimal()]
    return 2 * sum(count_or_none(cell) is not None for cell in cells) > len(cells)


def _products(header: Sequence[str]) -> bool:
    """Whether headers name nodes with as many devices each, and differ in the nodes: 2x8, 4x8."""
    if _OF_A_SIZE.search(normal(header[0])):
        return False
    bare = [name for name in header[1:] if not _is_ratio(name)]
    found = [one for name in bare if len(one := _PRODUCT.findall(plain(name))) == 1]
    pairs = [(int(nodes), int(by or letters)) for ((nodes, by, letters),) in found]
    each = {devices for _, devices in pairs}
    alike = {_PRODUCT.sub("0", plain(name)) for name in bare if _PRODUCT.search(plain(name))}
    distinct = len(pairs) >= _FEW and len({*pairs}) == len(pairs)
    return distinct and len(alike) == 1 and len(each) == 1 and 1 < each.pop() <= _MOST_OF_A_NODE


def _is_ratio(header: str) -> bool:
    """Whether a header is of a printed ratio on nodes times devices: 2x8 efficiency."""
    return meaning_of(_PRODUCT.sub("", plain(header)).strip()).role in STATED


def _change_alike(table: RawTable, places: Sequence[int]) -> bool:
    """Whether the numbers of most rows grow, or fall, from each of some columns to the next."""
    votes = []
    for _, row in table.rows:
        with suppress(ValueError, IndexError):
            values = [read_cell(row[place]).printed.value for place in places]
            votes.append(len({(few > many) - (few < many) for few, many in pairwise(values)} - {0}) == 1)
    return 2 * sum(votes) > len(votes)


def _numbers_in(header: str, products: bool = False) -> list[_Found]:
    words = plain(header)
    if products:
        words = _PRODUCT.sub(lambda one: str(int(one[1]) * int(one[2] or one[3])), words)
    text = in_english(in_digits(spelled(words.lower()))).replace("_", " ")
    result = []
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        before, behind = _BEFORE.search(text[:start]), _BEHIND.match(text[end:])
        kind = next((one["kind"] for one in (before, behind) if one and one["kind"]), "") or ""
        says = bool(before or behind)
        start = before.start() if before else start
        end = end + behind.end() if behind else end
        bracketed = text[:start].endswith("(") and re.match(r" ?x\)", text[end:])
        if not says:
            if not bracketed and (OTHER.search(text[:start]) or OTHER.search(text[end:])):
                continue
            letter, unit = _LETTER.search(text[:start]), _LETTER_BEHIND.match(text[end:])
            quantity = _QUANTITIES.get(letter[0].strip(" =:_("), "") if letter and letter.start() == 0 else ""
            start = letter.start() if letter else start
            end = end + unit.end() if unit and not letter else end
            start, end = (start - 1, end + 1) if bracketed else (start, end)
            rest = _cleaned(f"{quantity} {text[:start]} {text[end:]}")
        else:
            rest = _cleaned(f"{text[:start]} {text[end:]}")
        template = tuple(
            re.sub(r"(?<=[a-z])s\b", "", part) for part in (text[: number.start()], text[number.end() :])
        )
        result.append(_Found(int(number[0]), rest, kind, says, (template[0], template[1])))
    return result


def _singular(words: str) -> str:
    return re.sub(r"(?<=[a-z])s\b", "", words)


def _cleaned(words: str) -> str:
    """Other words of a header without empty brackets and loose signs; a unit of time alone is one of a time."""
    words = re.sub(r"[(\[]\s*[)\]]", " ", words)
    words = re.sub(r"(?:^|\s)(?:on|with|using|at|for|over|across|@)(?=\s*$|\s+[(\[])", " ", words)
    words = " ".join(words.split()).strip(" ,;:=@*-")
    opened = words.count("(") - words.count(")") or words.count("[") - words.count("]")
    words = words.strip("()[] ") if opened or re.fullmatch(r"[(\[][^()\[\]]*[)\]]", words) else words
    if meaning_of(words).role in (*MEASURED, *STATED):
        return words
    unit = re.search(rf"(?:^|[(\[ ])({TIME_UNIT}|h)[)\]]?$", words)
    return f"time ({unit[1]})" if unit else words


def are_sizes(sizes: Sequence[int]) -> bool:
    """Return whether numbers grow as numbers of devices do, from a few, and are no names such as 1, 2 and 3."""
    grown = all(many >= _FACTOR * few and many - few > (few > 1) for few, many in pairwise(sizes))
    return len(sizes) >= _FEW_WITHOUT_WORDS and sizes[0] <= _BEGINS and grown


def _is_bare(group: dict[int, _Found]) -> bool:
    """Whether headers are a number with the letter of threads, processes, cores or workers: 1p, 2p, 4p."""
    return all(
        found.template[0] == "" and found.template[1].strip() in ("t", "p", "c") for found in group.values()
    )


def _is_of_scaling(table: RawTable, group: dict[int, _Found]) -> bool:
    """Whether the numbers below such headers change as with devices: times fall, rates and speedups grow."""
    first, *_, last = group
    role = meaning_of(group[first].rest).role
    bare = group[first].template == ("", "")
    votes = {True: 0, False: 0}
    known = (*MEASURED, *STATED)
    of_caption = next((one for words in table.captions if (one := meaning_of(words).role) in known), "")
    for _, row in table.rows:
        own = role if role in known else known_role(row[0]) if row else ""
        own = own if own in known else of_caption
        with suppress(ValueError, IndexError):
            values = {place: read_cell(row[place]).printed.value for place in group}
            change = values[last] - values[first]
            if own in STATED:
                votes[_are_ratios(own, [(group[place].number, values[place]) for place in group])] += 1
            elif own in MEASURED and change and not bare:
                votes[(change < 0) == (own in TIMES)] += 1
    return votes[True] > votes[False]


def _are_ratios(role: str, values: Sequence[tuple[int, float]]) -> bool:
    """Whether numbers are possible speedups on these devices, or efficiencies as fractions or in per cent."""
    if role == "printed_efficiency":
        most = max(value for _, value in values)
        return 0 < most <= _ABOVE or 2 < most <= 100 * _ABOVE
    grows = values[-1][1] > values[0][1]
    return grows and all(0 < value <= _ABOVE * devices for devices, value in values)
