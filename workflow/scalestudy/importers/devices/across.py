"""Devices across: a row of them, products and strategies as headers, numbers in a caption, single devices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from scalestudy.importers.counts.cells import Count, nodes_by_each
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.counts.of_one_node import noun_of_a_node
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, HARDWARE, KIND, MAKER, NODE, STRATEGIES
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.published import BATCHES, MEASURED
from scalestudy.importers.quantities import known_role, quantity_of
from scalestudy.importers.raw import RawTable

_NUMBERED = re.compile(r"(?P<words>[^\d]*[a-z#][^\d]*?)(?P<number>\d{1,6})")
_NAMES_ONE = re.compile(r"(?:gpu|device|rank|accelerator|card|tpu|npu|worker|process|thread|core|node|host)$")
_NUMBER_OF = re.compile(
    r"(?:(?:#|n|no\.?|num(?:ber)?|total)(?: of)? ?)?(?:gpus|devices|accelerators|tpus|npus|ranks|"
    r"processes|workers|world ?size)(?: used)?"
)
_NOUN = re.compile(rf"\b(?:{DEVICE}|{NODE})\b")
_NOUN_OF_A_WAY = (
    (re.compile(r"\b(?:multi|single)?[- ]?thread(?:ed|ing)|\b(?:openmp|omp|pthreads?|tbb)\b"), "threads"),
    (re.compile(r"\bmpi\b|\bnp\b"), "processes"),
    (re.compile(r"(?<!\w)-j(?:obs)?[ =]?\d"), "workers"),
)
"""What is counted where a way to run in parallel is named."""
_PLACED = re.compile(rf"(\d ?(?:{DEVICE})) ?\( ?\d{{1,4}} ?{NODE} ?\)")
"""Devices with the nodes that they are on: `16 GPUs (2 nodes)`."""
_BEHIND_A_NUMBER = re.compile(rf"^(\d{{1,6}}) ?\([^()]*\d[^()]*{NODE}[^()]*\)$")
"""A number of devices with the nodes that they are on: `16 (2 nodes x 8)`."""
_OF_A_KIND = re.compile(rf"\d{{1,6}} ?x ?{MAKER}*{KIND}")
_OF_REPLICAS = re.compile(r"\b(?:dp|data[- ]parallel(?:ism)?)[ -]?(?:degree|size)\b")
"""Headers of the degree of data parallelism, whose replicas may have several devices each."""
_OF_ANY_DEVICE = re.compile(r".*(?<![a-z])(?:p|n) ?[=(_ ]? ?\d.*")
"""Headers with the letter of any devices: P=4, T(p=4)."""
_PRODUCT = re.compile(rf"{nodes_by_each()}(?P<rest> [a-z].*|)")
_FEW = 2
_BEHIND_DEVICES = re.compile(r"ratio|speed-?up|change|factor|improvement|gain|x")
"""Header of a last column that compares the ones in front of it."""
_SCALING = re.compile(r"(?:strong |weak )?scaling")
_BEYOND = 4
"""Times its devices, a number above this is no speedup."""
_LETTER = re.compile(r"\d+ ?([tc])")
_OF_LETTERS = {"t": "threads", "c": "cores"}
"""Letters behind numbers, and the devices that they mean: 1T | 2T | 4T."""


def products_across(header: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return place -> (devices, other words) of the columns `1*1`, `1*8`, `4*8` if the first names both.

    None if two of them are the same number of devices with the same words, since one speedup cannot be of both.
    """
    names = [
        normal(name) for name in header[:1] if re.search(NODE, normal(name)) and re.search(DEVICE, normal(name))
    ]
    pairs = [_PRODUCT.fullmatch(plain(name)) for name in header[1:]]
    found = [(str(int(pair["nodes"]) * int(pair["each"])), pair["rest"].strip()) for pair in pairs if pair]
    named = bool(names) or (bool(header) and _are_on_nodes(header[0], [pair for pair in pairs if pair]))
    if not named or len(found) < max(_FEW, len(pairs)) or len(set(found)) < len(found) or ("0", "") in found:
        return {}
    return dict(enumerate(found, start=1))


def _are_on_nodes(first: str, pairs: Sequence[re.Match[str]]) -> bool:
    """Whether the first header names nodes, and all products on several nodes have as many devices on each."""
    each = {pair["each"] for pair in pairs if pair["nodes"] != "1"}
    return bool(re.search(rf"\b{NODE}\b", normal(first))) and len(each) == 1 and each != {"1"}


def is_scaled_measurement(table: RawTable, place: int, named: tuple[Count, str]) -> bool:
    """Return whether `8 GPU Strong Scaling` is of measurements: numbers that are no speedup on its devices."""
    if not _SCALING.fullmatch(named[1]):
        return False
    values = []
    for cell in table.cells(place):
        with suppress(ValueError):
            ratio = quantity_of(cell) in ("speedup", "efficiency")
            values.append(0.0 if ratio else read_cell(cell).printed.value)
    return bool(values) and min(values) > _BEYOND * named[0].gpus


def counted_across(headers: Iterable[str]) -> str:
    """Return the header of a column of such devices: `threads` of the columns `1 thread | 2 threads`."""
    headers = [re.sub(r"\bworker (?=thread|process)", "", normal(header)) for header in headers]
    headers = [_BEHIND_A_NUMBER.sub(r"\1", _PLACED.sub(r"\1", header)) for header in headers]
    of_a_node = noun_of_a_node(headers)
    nouns = [of_a_node] if of_a_node else [found[0] for header in headers if (found := _NOUN.search(header))]
    kinds = [header for header in headers if _OF_A_KIND.match(header) and not _NOUN.search(header)]
    nouns = [] if len(kinds) > len(nouns) and not of_a_node else nouns  # the cores of a CPU beside 4x V100
    nouns = nouns or [noun for header in headers for form, noun in _NOUN_OF_A_WAY if form.search(header)]
    noun = re.sub(r"(?<!s)$|(?<=ss)$", "s", nouns[-1]).replace("sss", "sses") if nouns else ""
    if meaning_of(noun).role in ("gpus", "nodes"):
        return noun
    if headers and all(map(_OF_REPLICAS.search, headers)):
        return "replicas"
    if headers and all(re.search(r"\bv?cpus?\b", header) for header in headers):
        return "cpus"
    letters = {one[1] for header in headers if (one := _LETTER.fullmatch(header))}
    if len(letters) == 1 and all(map(_LETTER.fullmatch, headers)):
        return _OF_LETTERS[letters.pop()]
    return "devices" if all(map(_OF_ANY_DEVICE.fullmatch, headers)) else "gpus"


def strategies_across(table: RawTable) -> dict[int, tuple[str, str]]:
    """Return place -> devices and strategy of the columns `single`, `ddp-2`, `ddp-4` above measurements."""
    found: dict[int, tuple[str, str]] = {}
    for place, name in enumerate(table.header[1:] if _measures(table) else (), start=1):
        try:
            count = count_in_words(name)
        except ValueError:
            return {}
        found[place] = (str(count.gpus), count.words)
    named = [words for _, words in found.values() if STRATEGIES.search(words)]
    several = len({devices for devices, _ in found.values()}) >= _FEW and len(set(found.values())) == len(found)
    return found if several and len(named) >= _FEW else {}


def with_devices_of_a_row(table: RawTable) -> RawTable:
    """Return a table across whose header is its row `GPUs | 1 | 2`, which has measurements in other rows."""
    measured = _measures(table)
    behind = int(bool(_BEHIND_DEVICES.fullmatch(normal(table.header[-1]))))
    for at, (_, cells) in enumerate(table.rows):
        numbers = list(map(plain, cells[1 : len(cells) - behind]))
        counted = all(re.fullmatch(r"[1-9]\d{0,5}", number) for number in numbers)
        apart = len(cells) == len(table.header) and len(set(numbers)) == len(numbers) >= _FEW
        if measured and counted and apart and _NUMBER_OF.fullmatch(normal(cells[0])):
            rows = [row for row in table.rows if row is not table.rows[at]]
            if any(re.search(HARDWARE, plain(name).lower()) for name in table.header[1:]):
                rows.append((table.line, ("hardware", *table.header[1:])))
            whole = tuple((line, own[: len(own) - behind]) for line, own in rows)
            return replace(table, header=(cells[0], *numbers), rows=whole)
    return table


def _measures(table: RawTable) -> bool:
    """Whether a row is named after a measurement."""
    return any(known_role(cells[0]) in MEASURED for _, cells in table.rows if cells)


def single_devices(header: Sequence[str]) -> list[str]:
    """Return headers that may be the names of single devices: `GPU0`, `GPU1`, or `GPU1`, `GPU2`."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for name in map(plain, header[1:]):
        found = _NUMBERED.fullmatch(name.lower())
        words = found["words"].strip(" =:_#-") if found else ""
        if found and _NAMES_ONE.search(words):
            groups.setdefault(words, []).append((int(found["number"]), name))
    for named in groups.values():
        numbers = [number for number, _ in named]
        follow = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        if follow and numbers[0] < _FEW <= len(numbers):
            return [name for _, name in named]
    return []


_ONE_NAMED = re.compile(rf"1 {DEVICE}", re.IGNORECASE)


def with_noun_of_the_first(table: RawTable) -> RawTable:
    """Return a table whose headers of numbers count what the first of them names: `1 thread | 2 | 4`."""
    named = [place for place, words in enumerate(table.header) if _ONE_NAMED.fullmatch(plain(words))]
    behind = [plain(words) for words in table.header[named[0] + 1 :]] if len(named) == 1 else []
    numbers = [int(words) for words in behind if re.fullmatch(r"[1-9]\d{0,5}", words)]
    if not numbers or len(numbers) < len(behind) or sorted({1, *numbers}) != [1, *numbers]:
        return table
    noun = plain(table.header[named[0]]).split()[1]
    header = (*table.header[: named[0] + 1], *(f"{number} {noun}" for number in numbers))
    return replace(table, header=header)


def with_devices_of_the_caption(table: RawTable) -> RawTable:
    """Return a table with devices across if its caption says that the numbers are: `on up to 16 GPUs`."""
    places = [place for place, words in enumerate(table.header) if re.fullmatch(r"[1-9]\d{0,5}", plain(words))]
    numbers = [int(plain(table.header[place])) for place in places]
    if len(numbers) < _FEW or sorted(set(numbers)) != numbers:
        return table
    most = rf"(?:up to|to|\u2013|-) ?{numbers[-1]:,} (?:[\w-]+ ){{0,2}}{DEVICE}\b"
    said = rf"{most}|(?:numbers? of|different|various|varying) (?:[\w-]+ ){{0,2}}{DEVICE}\b|\b{DEVICE} counts?\b"
    if meaning_of(table.header[0]).role in BATCHES:
        return table  # the numbers are those of the batch
    captions = (table.caption.lower(), table.below.lower())
    if not any(re.search(said, words) and not re.search(r"\bbatch|\bseq\w* len", words) for words in captions):
        return table
    return replace(
        table,
        header=tuple(
            f"{plain(words)} GPUs" if place in places else words for place, words in enumerate(table.header)
        ),
    )
