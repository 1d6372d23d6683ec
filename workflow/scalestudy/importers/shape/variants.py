"""Tells apart several measurements in one row: precisions, strategies, units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scalestudy.importers.headers.meaning import Meaning
from scalestudy.importers.headers.terms import STRATEGIES
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import BATCHES, MEASURED, OF_COLUMNS, STATED, TIMES

_ALIKE = ({"mixed", "fp16", "bf16"}, {"fp32", "tf32"})
"""Precisions that READMEs name differently in the columns of one table."""
_SHORTEST = 3
"""Fewest letters that abbreviate a word."""
_FASTER = re.compile(
    r"(?<![\w.])(?<!no )(?<!w/o )(?<!without )(?:amp|apex|(?:fp|bf|float)-?(?:8|16)|tf32|mixed[ -]precision|"
    r"half[ -]precision|(?:torch\.)?compile|xla|flash[ -]?attention(?:[ -]?\d)?|cuda graphs?)(?!\w)"
)
"""Settings that make a step faster on any number of devices."""
_PLUS = re.compile(r"[+&]|\bwith\b")
_SEPARATORS = re.compile(r"\s*(?:,|/|;|&|\band\b)\s*")
_OVER = re.compile(
    r"\b(?:vs\.?|versus|over|relative to|compared (?:to|with)) (?:serial|sequential|baseline|1|one|single)\b.*"
)
"""What all ratios are over, which distinguishes none of them."""


@dataclass(frozen=True)
class Variant:
    """Columns of a table that belong together."""

    name: str
    places: tuple[int, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    index: int = 0
    """Its place among the variants of the table."""
    count: int = 1
    pair: tuple[int, int] | None = None
    """Columns of the first and the second precision, which a printed speedup of precision is checked with."""


def variants_of(meanings: Sequence[Meaning], of_which: Mapping[int, int]) -> list[Variant]:
    """Return the variants of a table, in the order of its columns; one if no quantity is there twice.

    of_which: place of a ratio -> place of its measurement, as the numbers show.
    """
    places = [place for place, meaning in enumerate(meanings) if meaning.role != "ignore"]
    of_role: dict[str, list[int]] = {}
    for place in places:
        if meanings[place].role in (*MEASURED, *STATED):
            of_role.setdefault(meanings[place].role, []).append(place)
    best = next((role for role in MEASURED if role in of_role), "")
    if len(of_role.get(best, ())) == 1:  # a throughput is enough: of several times beside it the first is read
        unit = meanings[of_role[best][0]].unit
        kept = {role: _of_unit(meanings, found, unit) for role, found in of_role.items() if role in MEASURED}
        places = [p for p in places if meanings[p].role not in MEASURED or p == kept[meanings[p].role]]
        of_role = {role: [kept[role]] if role in MEASURED else found for role, found in of_role.items()}
    repeated = {role: found for role, found in of_role.items() if len(found) > 1}
    if not repeated:
        named = {
            name for place in places if meanings[place].role in MEASURED for name in meanings[place].precisions
        }
        labels = {"precision": next(iter(named))} if len(named) == 1 else {}
        return [Variant("", _once(places, meanings), labels)]
    keys = {place: _key(meanings, found, place) for found in repeated.values() for place in found}
    measured = [role for role in repeated if role in MEASURED] or list(repeated)
    order = list(dict.fromkeys(keys[place] for role in measured for place in repeated[role]))
    owners = {**keys, **_behind_their_measurements(meanings, keys, repeated)}
    owners |= {
        ratio: keys[place] for ratio, place in of_which.items() if place in keys and keys.get(ratio) not in order
    }
    owners |= _in_their_group(meanings, keys, repeated)
    for place in places:  # an efficiency behind a speedup is of the same variant
        before = meanings[place - 1] if place else None
        if (
            place not in keys
            and before
            and {before.role, meanings[place].role} <= {*STATED}
            and before in meanings
        ):
            owner = next((one for one in order if _alike(_words(before), one)), "")
            if owner and not _words(meanings[place]):
                owners[place] = owner
    variants = []
    for index, key in enumerate(order):
        mine = [
            place
            for place in places
            if _is_of_all(meanings[place], key, repeated)
            or _belongs(meanings[place], owners.get(place), key, order, index)
        ]
        timed = [place for place in mine if _names(key, meanings[place]) and not {*repeated} & {*MEASURED}]
        mine = [place for place in mine if not timed or meanings[place].role not in MEASURED or place in timed]
        kind = meanings[next(place for place in mine if keys.get(place) == key)]
        label = "precision" if kind.precisions[:1] == (key,) else OF_COLUMNS
        columns = _once(mine, meanings)
        both = repeated[measured[0]]
        pair = (both[0], both[1]) if index == 0 and len(both) == 2 else None
        variants.append(Variant(key, columns, {label: key}, index, len(order), pair))
    return variants


def _of_unit(meanings: Sequence[Meaning], places: Sequence[int], unit: str) -> int:
    """The first column with a unit, as samples/s/GPU beside samples/s, or the first of all."""
    return next((place for place in places if unit and meanings[place].unit == unit), places[0])


def _behind_their_measurements(
    meanings: Sequence[Meaning], keys: Mapping[int, str], repeated: Mapping[str, Sequence[int]]
) -> dict[int, str]:
    """Place -> variant of ratios with one header that are behind a measurement each."""
    measured = [place for role, found in repeated.items() if role in MEASURED for place in found]
    own: dict[int, str] = {}
    for role, found in repeated.items():
        alike = {plain(meanings[place].header) for place in found}
        if role not in STATED or len(alike) > 1 or len(found) != len(measured):
            continue
        before = [max((one for one in measured if one < place), default=None) for place in found]
        if None not in before and len(set(before)) == len(found):
            own |= {place: keys[one] for place, one in zip(found, before, strict=True) if one is not None}
    return own


def _in_their_group(
    meanings: Sequence[Meaning], keys: Mapping[int, str], repeated: Mapping[str, Sequence[int]]
) -> dict[int, str]:
    """Place -> variant of ratios whose header begins with more words of one measurement than of any other.

    Only of variants whose names are their headers: `Fixed size per core Eff.` beside `Fixed size per core Time`.
    """
    headers = {
        place: plain(meanings[place].header).split()
        for role, found in repeated.items()
        if role in MEASURED
        for place in found
        if keys[place] == plain(meanings[place].header)
    }
    own: dict[int, str] = {}
    for place, one in enumerate(meanings):
        if len(headers) > 1 and one.role in STATED and place not in keys:
            words = plain(one.header).split()
            shared = {at: _in_common(words, names) for at, names in headers.items()}
            best = [at for at, number in shared.items() if number == max(shared.values())]
            own |= {place: keys[best[0]]} if len(best) == 1 else {}
    return own


def _in_common(words: Sequence[str], others: Sequence[str]) -> int:
    """How many words two headers have in common at their beginning."""
    alike = [one == other for one, other in zip(words, others, strict=False)]
    return alike.index(False) if False in alike else len(alike)


def _names(key: str, meaning: Meaning) -> bool:
    """Whether the words of a variant name a time: those of `Wall speedup` beside `Wall (s)`."""
    words = set(re.findall(r"\w+", plain(meaning.header).lower()))
    return meaning.role in TIMES and bool(key) and set(key.split()) <= words


def _is_of_all(meaning: Meaning, key: str, repeated: Mapping[str, Sequence[int]]) -> bool:
    """Whether a measurement that is there once is that of all ratios; not if it names another precision."""
    named = _precision(meaning)
    return meaning.role in MEASURED and not set(repeated) & set(MEASURED) and (not named or _alike(named, key))


def own_part(text: str, meaning: Meaning, variant: Variant) -> str:
    """Return a variant's part of a cell, such as '128@FP16, 64@FP32', or '24, 40' in the header's order."""
    if meaning.role not in BATCHES:
        return text
    words = plain(text)
    tagged: list[tuple[str, str]] = re.findall(
        r"(\d[\d,]*) ?[@(] ?([A-Za-z]{2,4}-?\d\d|mixed|amp)", words, re.IGNORECASE
    )
    if tagged:
        own = [number for number, name in tagged if _alike(name.lower().replace("-", ""), variant.name)]
        return own[0] if own else text
    parts = [part for part in _SEPARATORS.split(words) if part]
    expected = max(len(meaning.precisions), variant.count)
    if len(parts) < 2 or len(parts) != expected or re.fullmatch(r"\d{1,3}(,\d{3})+", words):
        return text
    if len(set(parts)) == 1:
        return parts[0]
    if len(meaning.precisions) == len(parts):
        own = [part for part, name in zip(parts, meaning.precisions, strict=True) if _alike(name, variant.name)]
        if own:
            return own[0]
    return parts[variant.index] if variant.count == len(parts) else text


def _once(places: Sequence[int], meanings: Sequence[Meaning]) -> tuple[int, ...]:
    """The first column of each role; all columns of words."""
    seen: set[str] = set()
    kept = []
    for place in places:
        role = meanings[place].role
        if role == "label" or role not in seen:
            kept.append(place)
        seen.add(role)
    return tuple(kept)


def _key(meanings: Sequence[Meaning], found: Sequence[int], place: int) -> str:
    """What tells a column from the others of its role: its precision, its other words, its unit or its header."""
    for kind in (_precision, _words, _unit):
        named = [kind(meanings[one]) for one in found]
        if len(set(named)) == len(named) and (kind is not _unit or all(named)):
            return kind(meanings[place])
    headers = [plain(meanings[one].header) for one in found]
    return headers[found.index(place)] if len(set(headers)) == len(headers) else f"column {found.index(place) + 1}"


def _precision(meaning: Meaning) -> str:
    return meaning.precisions[0] if len(meaning.precisions) == 1 else ""


def _words(meaning: Meaning) -> str:
    rest = _OVER.sub("", meaning.rest) if meaning.role in STATED else meaning.rest
    return " ".join(filter(None, dict.fromkeys((_precision(meaning), rest.strip(" +&")))))


def _unit(meaning: Meaning) -> str:
    return meaning.unit


def _alike(one: str, other: str) -> bool:
    return one == other or any(one in group and other in group for group in _ALIKE)


def _abbreviates(short: str, long: str) -> bool:
    """Whether words are the beginning, the initials or some of others: `base` for baseline, `v2` for version 2."""
    words = long.split()
    if short and set(short.split()) < set(words):
        return True
    initials = len(words) > 1 and short == "".join(word[0] for word in words)
    return initials or (len(short) >= _SHORTEST and len(words) == 1 and long.startswith(short))


def _sharing_words(own: str, order: Sequence[str]) -> list[str]:
    """The variants with a word of their own that is in `own` too: `pyg epoch` for `pyg scalability`."""
    words = {one: set(one.split()) for one in order}
    others = {one: set().union(*(words[other] for other in order if other != one)) for one in order}
    telling = {one: words[one] - others[one] for one in order}
    return [one for one in order if telling[one] & set(own.split())]


def _belongs(meaning: Meaning, own: str | None, key: str, order: Sequence[str], index: int) -> bool:
    """Whether a column is of a variant: its key says so, or it is of all of them."""
    if own is not None:
        short = [one for one in order if _abbreviates(own, one)] or _sharing_words(own, order)
        return own == key or (own not in order and (_alike(own, key) or short == [key]))
    if meaning.role in (*MEASURED, *STATED):
        named = _precision(meaning) or _words(meaning)
        if any(_alike(named, other) for other in order):
            return _alike(named, key)
        parts = [other for other in order if named and set(named.split()) < set(other.split())]
        return parts == [key] if len(parts) == 1 else index == 0
    if meaning.role in BATCHES and len(meaning.precisions) == 1:
        return _alike(meaning.precisions[0], key) or not any(
            _alike(meaning.precisions[0], other) for other in order
        )
    return meaning.role != "precision_ratio" or index == 0


def is_distributed(label: str) -> bool:
    """Return whether a label names a way to distribute a training."""
    return bool(STRATEGIES.search(label))


def faster_settings(label: str) -> set[str]:
    """Return the settings in a label that make a step faster on any number of devices: `amp` of `DDP + AMP`."""
    return {*_FASTER.findall(label.lower())}


def additions(label: str) -> set[str]:
    """Return what a label adds to a distributed run or to one on one device: `amp` of `DDP + AMP`."""
    parts = [part.strip() for part in _PLUS.split(label.lower())]
    return {part for part in parts if part and part != "multi" and not is_distributed(part)}
