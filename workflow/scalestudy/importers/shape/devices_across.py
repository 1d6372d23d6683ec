"""Columns that are numbers of devices: place -> (devices as text, other words of the header)."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.headers import PARTS, count_of_header
from scalestudy.importers.counts.labels import count_among_words, each_node
from scalestudy.importers.counts.of_one_node import with_node
from scalestudy.importers.devices.across import (
    is_scaled_measurement,
    products_across,
    strategies_across,
    with_devices_of_a_row,
)
from scalestudy.importers.devices.degrees import is_degree, without_degrees
from scalestudy.importers.devices.found import says_one_device
from scalestudy.importers.devices.in_headings import several_said
from scalestudy.importers.devices.listed import lists_across
from scalestudy.importers.devices.machines import machines_across
from scalestudy.importers.devices.templates import begins_with_devices, templates_across
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import NODE, NOT_MEASURED, SERIAL_RUN, STRATEGIES
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import RawTable
from scalestudy.importers.shape.between_devices import bare_between, repeated_behind
from scalestudy.importers.shape.corners import has_sizes_across
from scalestudy.importers.shape.ratios_across import size_of, with_ratios_of_devices

_NAME_AND_UNIT = re.compile(r"(?P<name>(?!time\b)[^()\[\]]*?|) ?(?P<unit>(?:time )?(?:[(\[][^()\[\]]*[)\]])?)")
"""Other words of a header of devices: a name, and the unit of its numbers."""
_PARTS = rf"(?:{PARTS}|proc)"
_ALONE = re.compile(rf"(?:single|one)[ -]?{_PARTS}(?:ed|ing)?|{SERIAL_RUN}")
_SEVERAL = re.compile(rf"multi(?:ple)?[ -]?{_PARTS}(?:s|es|ed|ing)?|parallel")
_SETTING = re.compile(r"(?:^|[(\[])(?:\d+ [a-z]+|[a-z]+ ?= ?\d+)(?:$|[)\]])")
"""A number of something else in the header of devices."""
_SIZE = re.compile(r"(?P<kind>(?:tpu ?)?v\d[a-z]*|trn\d[a-z]*|inf\d)-(?P<size>[1-9]\d{0,5})")
"""A slice of a TPU or its like with its size: v5p-128."""
ROUND = str.maketrans("[]", "()")
"""Square brackets as round ones."""
_WAY = re.compile(rf"{STRATEGIES.pattern}|\bdp\b", re.IGNORECASE)
_SERIAL = re.compile(
    rf"(?:t[_ ]?)?(?:{SERIAL_RUN}|seq\.?)(?:[ _]?(?:run ?)?time)?(?: ?[(\[](?P<unit>[^()\[\]]*)[)\]])?",
    re.IGNORECASE,
)
"""Header of times of a serial program, perhaps with their unit."""
_UNIT = re.compile(r"[a-z]{1,7}")
_OVER_ANOTHER = re.compile(
    r"(?:vs\.?|versus|over|relative to|compared (?:to|with)) (?!.*(?:\d|\bone\b|\bsingle\b))"
)
"""Other words of a header of ratios over something else than devices: 16 threads vs serial build."""
_REMARK = re.compile(r"\s*[(\[\uff08][^()\[\]\uff08\uff09]+[)\]\uff09]$")
_FEW = 2  # columns of devices from which a table has devices across


def devices_across(table: RawTable) -> tuple[RawTable, dict[int, tuple[str, str]]]:
    """Return the table, whose header may now be a row of devices, and its columns of devices."""
    table = _without_remarks(_with_labels(table))
    for one in (table, with_devices_of_a_row(table)):
        if across := _across(one):
            across, note = without_degrees(across)
            return one.noted(note), with_ratios_of_devices(one, across)
        table = one
    across, note = templates_across(table)
    if 1 not in {size_of(devices) for devices, _ in across.values()}:
        across = dict(sorted((across | _named_alone(table, across)).items()))
    return table.noted(note), with_ratios_of_devices(table, across)


def _without_remarks(table: RawTable) -> RawTable:
    """The table without a remark in brackets behind some of its devices, or without their column if not measured.

    The others have the same words beside their numbers: `TP=1`, `TP=2`, `TP=4 (made up)`.
    """
    bare = [_REMARK.sub("", plain(name)) for name in table.header]
    alike = [re.sub(r"\d+", "0", name.lower()).rstrip("s") for name in bare]
    groups = {words: [at for at in range(1, len(bare)) if alike[at] == words] for words in {*alike[1:]}}
    for words, places in groups.items():
        marked = [at for at in places if bare[at] != plain(table.header[at])]
        if not re.search(r"\d|0", words) or len(places) < _FEW or not 0 < 2 * len(marked) <= len(places):
            continue
        inside = {at: plain(table.header[at])[len(bare[at]) :].strip(" ()\uff08\uff09[]") for at in marked}
        if len({bare[at] for at in places}) < len(places) or not all(map(_is_remark, inside.values())):
            continue
        planned = [at for at, said in inside.items() if NOT_MEASURED.fullmatch(said)]
        names = ", ".join(f"'{plain(table.header[at])}'" for at in marked)
        kept = [at for at in range(len(table.header)) if at not in planned]
        header = tuple(table.header[at] if at not in marked else bare[at] for at in kept)
        rows = tuple((line, tuple(cells[at] for at in kept if at < len(cells))) for line, cells in table.rows)
        if planned:
            return replace(table, header=header, rows=rows, legend_lacks=f"{names} is not measured").noted(
                f"{names} is not measured by its name, so it was left out"
            )
        return replace(table, header=header, rows=rows).noted(f"the remark of {names} is not read")
    return table


def _is_remark(words: str) -> bool:
    """Whether words in brackets are no unit, no measurement and no number of something."""
    known = meaning_of(words).role in (*MEASURED, *STATED) or meaning_of(f"time ({words})").unit
    return bool(words) and not known and not re.search(r"\d|%|/", words)


def _with_labels(table: RawTable) -> RawTable:
    """The table with an empty column of labels, if its first column too is one of devices: 1 GPU, 2 GPUs."""
    first, *others = table.header
    named = [count_of_header(header) for header in others]
    own = count_of_header(first)
    same = own is not None and any(one and one[1] == own[1] and one[0].gpus != own[0].gpus for one in named)
    same = same or begins_with_devices(table.header)
    if not same or share(table.cells(0), read_cell) < 1:
        return table
    rows = tuple((line, ("", *cells)) for line, cells in table.rows)
    return replace(table, header=("setup", *table.header), rows=rows)


def _across(table: RawTable) -> dict[int, tuple[str, str]]:
    """Columns that are numbers of devices: place -> (devices as text, other words of the header)."""
    of_devices = (
        meaning_of(table.header[0]).role in ("gpus", "nodes")
        or re.search(r"\bgpus?\b|\bdevices?\b", normal(table.header[0]))
        or is_degree(table.header[0])
    )
    if of_devices and has_sizes_across(table):
        return {}
    if of_devices or meaning_of(table.header[0]).role in ("label", "hardware"):
        counts = [_count(words) for words in map(plain, table.header[1:])]
        measured = [known_role(row[0]) in (*MEASURED, *STATED) for _, row in table.rows if row]
        if all(counts) and len(set(counts)) == len(counts) >= _FEW and any(measured):
            return {place: (str(count), "") for place, count in enumerate(counts, start=1)}
    if of_machines := machines_across(table.header):
        return of_machines
    found: dict[int, tuple[str, str]] = {}
    nodes: dict[int, int | None] = {}
    ids = list(map(plain, table.header[1:])) == [str(at) for at in range(len(table.header) - 1)]
    among = filter(None, map(count_among_words, table.header))
    pairs = frozenset((count.nodes, count.gpus) for count in among if count.nodes)
    for place, header in enumerate(table.header[1:], start=1):
        words = plain(header)
        if of_devices and not ids and re.fullmatch(r"\d{1,7}", words):
            found[place] = (words, "")
        elif (named := count_of_header(header)) and not _OVER_ANOTHER.match(named[1]):
            count = with_node(named[0], words, table.header)
            if (own := count_among_words(header)) and own.gpus == count.gpus:
                count = replace(count, gpus=each_node(own, pairs).gpus)  # 2 nodes, 8 GPUs beside 1 node, 8 GPUs
            hardware = f"x {count.hardware}" if count.hardware else ""
            rest = named[1]
            rest = "" if is_scaled_measurement(table, place, named) else rest
            rest = f"time ({rest})" if meaning_of(f"time ({rest})").unit and _UNIT.fullmatch(rest) else rest
            found[place] = (f"{count.gpus}{hardware}", rest)
            nodes[place] = count.nodes
    found |= bare_between(table.header, found)
    found |= repeated_behind(table.header, found)
    found = _with_placements(found, nodes)
    found = dict(sorted((found | _of_one_device(table, found)).items()))
    found = _with_names_carried(_without_sizes(_without_settings(found)))
    sizes = [devices for devices, _ in found.values()]
    if len(set(sizes)) == len(sizes) >= _FEW:  # where the devices are: 4 ranks (node1 + node2)
        found = {place: (devices, "" if _says_where(rest) else rest) for place, (devices, rest) in found.items()}
    bare = {place: (devices, " ".join(_WAY.sub(" ", rest).split())) for place, (devices, rest) in found.items()}
    whole = all(rest or sizes.count(devices) == 1 for devices, rest in bare.values())
    found = bare if whole and len(set(bare.values())) == len(bare) else found  # `1 GPU time | 2 GPU DDP time`
    if len({devices for devices, _ in found.values()}) < _FEW:
        listed = {place: (number, "") for place, number in lists_across(table.header).items()}
        found = products_across(table.header) or listed or strategies_across(table) or _of_the_caption(table)
    if len({devices for devices, _ in found.values()}) < _FEW:
        return {}
    return found


def _with_placements(
    found: dict[int, tuple[str, str]], nodes: dict[int, int | None]
) -> dict[int, tuple[str, str]]:
    """The columns with their nodes, if others with the same words are on as many devices of other nodes."""
    placed = {place: nodes[place] for place in found if nodes.get(place)}
    several = {
        said for said in found.values() if len({placed.get(at) for at, own in found.items() if own == said}) > 1
    }
    return {
        at: (said[0], f"{said[1]} on {placed[at]} nodes".strip()) if said in several and at in placed else said
        for at, said in found.items()
    }


def _with_names_carried(found: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """The columns with the name in front of them if they are the same without: A 1 GPU, 2 GPU, B 1 GPU, 2 GPU."""
    parts = {place: _NAME_AND_UNIT.fullmatch(rest) for place, (_, rest) in found.items()}
    names = {place: part["name"].strip() if part else "" for place, part in parts.items()}
    if len(set(found.values())) == len(found) or len({*names.values()} - {""}) < _FEW or not names[min(found)]:
        return found
    result, name = {}, ""
    for place, (devices, rest) in found.items():
        part = parts[place]
        name = names[place] or name
        result[place] = (devices, f"{name} {part['unit']}".strip() if part else rest)
    return result if len(set(result.values())) == len(result) else found


def _without_settings(found: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """The columns without a setting that changes with the devices: 4 GPUs (32 experts), 8 GPUs (64 experts)."""
    parts = {words: _SETTING.search(words) for _, words in found.values()}
    settings = {(devices, part[0]) for devices, words in found.values() if (part := parts[words])}
    sizes = {devices for devices, _ in found.values()}
    alike = {re.sub(r"\d+", "0", setting) for _, setting in settings}
    if (
        None in parts.values()
        or len(alike) != 1
        or not len(settings) == len(sizes) == len({one for _, one in settings})
    ):
        return found
    return {place: (devices, _SETTING.sub("", words).strip()) for place, (devices, words) in found.items()}


def _without_sizes(found: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """The columns without the size in the name of hardware that grows as the devices: v5p-128 (64 chips)."""
    named = {place: _SIZE.fullmatch(words) for place, (_, words) in found.items()}
    sizes = {place: one["size"] for place, one in named.items() if one}
    shares = {int(size) / size_of(found[place][0]) for place, size in sizes.items()}
    if len(sizes) < len(found) or len({*sizes.values()}) < _FEW or len(shares) != 1:
        return found
    kinds = {place: one["kind"] for place, one in named.items() if one}
    alone = len({*kinds.values()}) == 1
    return {place: (devices, "" if alone else kinds[place]) for place, (devices, _) in found.items()}


def _named_alone(table: RawTable, across: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """The column of one device beside headers that differ in their number: `Single GPU | TP=2 | TP=4`."""
    counts = {
        place: count_of_header(name) for place, name in enumerate(table.header) if place and place not in across
    }
    rests = {rest for _, rest in across.values()}
    alone = [place for place, one in counts.items() if one and one[0].gpus == 1 and not one[1]]
    return {alone[0]: ("1", "")} if len(alone) == 1 and rests == {""} else {}


def _of_the_caption(table: RawTable) -> dict[int, tuple[str, str]]:
    """The columns `Single Thread` and `Multi Thread` if the text above the table names one number of devices."""
    alone = [place for place, name in enumerate(table.header) if place and _ALONE.fullmatch(normal(name))]
    several = [place for place, name in enumerate(table.header) if place and _SEVERAL.fullmatch(normal(name))]
    count, _ = several_said(table)
    if len(alone) != 1 or len(several) != 1 or not count:
        return {}
    return {alone[0]: ("1", ""), several[0]: (count, "")}


def _of_one_device(table: RawTable, across: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """The column `Baseline` beside two or more columns of several devices each, or `Serial` beside any of them."""
    sizes = {size_of(devices) for devices, _ in across.values()}
    serial = {
        at: f"({found['unit']})" if found["unit"] else ""
        for at, name in enumerate(table.header)
        if at and at not in across and (found := _SERIAL.fullmatch(normal(name)))
    }
    others = {rest for _, rest in across.values() if meaning_of(rest).role not in STATED}
    if len(serial) == 1 and 1 not in sizes and len(others) > 1:  # of several ways, in the same unit
        place, unit = next(iter(serial.items()))
        if unit and {rest.rpartition(" ")[2].translate(ROUND) for rest in others} == {unit}:
            return {place: ("1", f"time {unit}")}
    if len(serial) == len(others) == 1 and 1 not in sizes:
        (place, unit), (rest,) = *serial.items(), others
        if unit and not rest:
            return {place: ("1", f"time {unit}")}  # its unit is that of all
        if unit in rest and ("(" not in rest or unit):
            return {place: ("1", rest)}
    places = [place for place, header in enumerate(table.header) if place and says_one_device(plain(header))]
    if len(sizes) < _FEW or 1 in sizes or len(places) != 1 or places[0] in across:
        return {}
    return {places[0]: ("1", "")}


def _count(words: str) -> int:
    """The devices of a header that is no more than their number; 0 for another."""
    try:
        return read_count(words).gpus
    except ValueError:
        return 0


def _says_where(rest: str) -> bool:
    """Whether other words of a header name nodes, and no quantity."""
    named = re.search(rf"\b{NODE}\b|\bnode\d|\bsockets?\b|\bnuma\b", rest)
    return bool(named) and meaning_of(rest).role not in (*MEASURED, *STATED)
