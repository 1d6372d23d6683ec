"""Columns with two numbers: 3,170 / 25,360 below `Tokens/s (per GPU / total)`, 8x4 below `GPUs x batch`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import meaning_of, never_a_label
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.raw import RawTable

_EACH = rf"(?:per |/ ?){DEVICE}"
_ALL = r"(?:total|overall|aggregated?|global|all(?: \w+)?)"
_HEADER = re.compile(
    rf"(?P<name>.+?)[,:]? *[(\[]?(?P<first>{_EACH}|{_ALL}) *[/|,] *(?P<second>{_EACH}|{_ALL})[)\]]?", re.IGNORECASE
)
_PRODUCT = re.compile(
    rf"(?P<first>(?:#|n|num(?:ber)?(?: of)?)?[ _]?{DEVICE}) ?[x*] ?"
    rf"(?P<second>(?:images|samples|sequences|batch(?:[ _]?size)?|bs)(?:[ _/]*(?:per[ _])?{DEVICE})?)",
    re.IGNORECASE,
)
"""Devices and the batch of each."""
_OF_SERVERS = re.compile(r"(?:ps|param(?:eter)? ?servers?) ?[:/] ?(?:workers?|gpus?)", re.IGNORECASE)
_COUNTS = re.compile(r"(?P<first>\d{1,6}) ?[:/] ?(?P<second>\d{1,6})")
"""Parameter servers and workers: 1 : 4."""
_ACCUMULATED = re.compile(
    r"(?:micro[- ]?)?(?:batch(?:[ _]?size)?|bs|micro|mbs) ?[x*] ?(?:grad\w*[. ]*)?acc\w*(?: steps)?", re.IGNORECASE
)
"""The batch of a device times its micro-batches: `micro x accum`."""
_TWO_BATCHES = re.compile(
    r"(?P<first>local|micro|device|per[- ]gpu) ?/ ?(?P<second>global|total|effective) "
    r"(?P<noun>batch(?:[ _]?size)?|bs)",
    re.IGNORECASE,
)
_BEHIND_A_NAME = re.compile(
    rf"(?P<name>\w[\w ]{{0,30}}?) ?\((?:bs|batch(?:[ _]?size)?) ?[x*] ?(?P<devices>{DEVICE})\)", re.IGNORECASE
)
_NAME_AND_PRODUCT = re.compile(
    r"(?P<name>[^()]{1,40}?) ?\((?P<batch>\d{1,6}) ?[x*] ?(?P<count>\d{1,6})\)", re.IGNORECASE
)
_OF_A_PRODUCT = re.compile(r"(?P<first>\d{1,6}) ?[x*] ?(?P<second>\d{1,6})", re.IGNORECASE)
_BATCHES = re.compile(
    r"(?:(?P<all>\d{1,7}) ?\()?(?P<first>\d{1,6}) ?[x*] ?(?P<second>\d{1,6})(?(all)\))"
    r"(?: ?= ?[\d,]+)?(?: ?\([^()]*\))?",
    re.IGNORECASE,
)
"""The batch of each device times the devices, or the other way round, with a remark."""
_REMARK = re.compile(r"\(([^()]+)\)")
_BATCH_AND_REMARK = re.compile(r"(?P<batch>\d[\d,]*k?) ?\((?P<remark>\d{1,5} [a-z][a-z -]{2,20})\)", re.IGNORECASE)
_RATE_PRODUCT = re.compile(r"(?P<rate>\d+(?:\.\d+)?) ?[x*\u00d7] ?(?P<times>\d{1,6})", re.IGNORECASE)
_CELL = re.compile(
    r"(?P<first>[^/|]*\d[^/|]*?) *[/|] *(?P<second>[^/|]*\d[^/|]*|[-\u2013\u2014]+|n\.?a\.?)", re.IGNORECASE
)
_NAMED_PAIR = re.compile(
    r"(?P<name>[^()|]*?) ?[(\[] ?(?P<first>[^()/|]{2,20}?) ?[/|] ?(?P<second>[^()/|]{2,20}?) ?[)\]]"
)
"""A header with the names of two quantities in brackets."""
_STATISTIC = r"(?:min(?:imum)?|max(?:imum)?|mean|avg|average|median|p\d\d)"
_NAMED_PARTS = re.compile(
    r"(?P<name>[^()|]+?) ?\((?P<parts>[^()|/]{1,20}(?:/[^()|/]{1,20}){2,5})\)|"
    rf"(?P<of>[^()|/]+?) (?P<statistics>{_STATISTIC}(?: ?/ ?{_STATISTIC}){{1,4}})",
    re.IGNORECASE,
)
"""A header with three names or more in brackets, or with statistics: Time (s) min / median / max."""
_OF_SIZES = re.compile(
    r"(?P<name>[^\d/]*[^\W\d_]) *[(\[]?(?P<sizes>\d{1,6}(?: ?/ ?\d{1,6}){1,7})[)\]]?(?: ?[a-z]+)?", re.I
)
"""A header of one ratio for several numbers of devices: efficiency 2 / 4."""
_TWO_NAMES = re.compile(r"(?P<first>[^|]{2,40}?) (?:/|\|) (?P<second>[^|]{2,40})")
_LABEL_AND_COUNT = re.compile(r"(?P<first>[^/|]*[^\W\d_][^/|]*?) ?[/|] ?(?P<second>[^/|]+)")
_OF_A_LABEL = re.compile(r"(?P<first>[^/|]*[^\W\d_][^/|]*?) ?[/|] ?(?P<second>\d{1,6})")


def with_pairs(table: RawTable) -> RawTable:
    """Return a table in which such a column is two: `Tokens/s per GPU` and `Tokens/s total`."""
    table = _with_ratios_of_sizes(_with_batches_behind_names(table))
    table = _with_named_pairs(_with_counts_of_one_product(_with_label_and_count(table)))
    for place, header in enumerate(table.header):
        names, form = _names_of_both(plain(header))
        cells = table.cells(place)
        if not names or not cells or not all(form.fullmatch(plain(cell)) for cell in cells):
            continue
        return with_pairs(_split(table, place, names, partial(_parts, form=form)))
    return table


def _names_of_both(header: str) -> tuple[list[str], re.Pattern[str]]:
    """The headers of the two numbers of a column, and the form of its cells; no headers if it has one number."""
    if both := _TWO_BATCHES.fullmatch(header):
        return [f"{both[which]} {both['noun']}" for which in ("first", "second")], _CELL
    if named := _HEADER.fullmatch(header):
        return [f"{named['name']} {named[which]}" for which in ("first", "second")], _CELL
    if product := _PRODUCT.fullmatch(header.replace("_", " ")):
        return [product["first"], "batch size per GPU"], _OF_A_PRODUCT
    if _OF_SERVERS.fullmatch(header):
        return ["parameter servers", "workers"], _COUNTS
    if _ACCUMULATED.fullmatch(header):
        return ["batch size per GPU", "gradient accumulation"], _OF_A_PRODUCT
    if both := _TWO_NAMES.fullmatch(header):
        names = [both["first"], both["second"]]
        measured = any(meaning_of(name).role in MEASURED for name in names)
        known = all(meaning_of(name).role in (*MEASURED, *STATED) or never_a_label(name) for name in names)
        return names if measured and known else [], _CELL
    return [], _CELL


def with_remarks_of_batches(table: RawTable) -> RawTable:
    """Return a table with the remarks behind batches, `64 (4 chunks)`, as labels, if two of them differ."""
    for place, header in enumerate(table.header):
        found = [_BATCH_AND_REMARK.fullmatch(plain(cell)) for cell in table.cells(place)]
        remarks = {one["remark"] for one in found if one}
        if meaning_of(header).role not in BATCHES or len(remarks) < 2:
            continue
        rows = []
        for line, row in table.rows:
            one = _BATCH_AND_REMARK.fullmatch(plain(row[place])) if place < len(row) else None
            own = (one["batch"], one["remark"]) if one else (row[place] if place < len(row) else "", "default")
            rows.append((line, (own[1], *row[:place], own[0], *row[place + 1 :])))
        return replace(table, header=("setting", *table.header), rows=tuple(rows))
    return table


def with_batch_products(table: RawTable) -> RawTable:
    """Return a table whose batches that are products, 64x8 and 512x8=4096 (lr=0.4), are those of all devices.

    Remarks in brackets are labels if they distinguish rows.
    """
    for place, header in enumerate(table.header):
        cells = list(map(plain, table.cells(place))) if meaning_of(header).role in BATCHES else []
        products = sum(_BATCHES.fullmatch(cell) is not None for cell in cells)
        if not products or 2 * products < len(cells) or not all(re.match(r"\d", cell) for cell in cells):
            continue
        rows = tuple(
            (line, (*row[:place], _whole(row[place]), *row[place + 1 :]) if place < len(row) else row)
            for line, row in table.rows
        )
        name = header if meaning_of(header).role == "global_batch" else "global batch size"
        whole = replace(table, header=(*table.header[:place], name, *table.header[place + 1 :]), rows=rows)
        remarks = [_REMARK.findall(plain(row[place])) if place < len(row) else [] for _, row in table.rows]
        names = ["".join(found) or "default" for found in remarks]
        if len({*names}) < 2 or any(re.match(r"\d+ ?[x*]", found) for found in names):
            return whole
        labelled = tuple((line, (found, *row)) for found, (line, row) in zip(names, whole.rows, strict=True))
        return replace(whole, header=("setting", *whole.header), rows=labelled)
    return table


def with_rate_products(table: RawTable) -> RawTable:
    """Return a table whose rates that are products with the devices of their row, `57.91*8`, are multiplied."""
    devices = next((at for at, name in enumerate(table.header) if meaning_of(name).role == "gpus"), None)
    rates = [at for at, name in enumerate(table.header) if meaning_of(name).role == "throughput"]
    if devices is None or not rates:
        return table
    rows = []
    for line, row in table.rows:
        gpus = plain(row[devices]) if devices < len(row) else ""
        cells = list(row)
        for at in rates:
            found = _RATE_PRODUCT.fullmatch(plain(row[at])) if at < len(row) else None
            if found and found["times"] == gpus:
                digits = len(found["rate"].partition(".")[2])
                cells[at] = f"{float(found['rate']) * int(gpus):.{digits}f}"
        rows.append((line, tuple(cells)))
    return replace(table, rows=tuple(rows))


def _with_counts_of_one_product(table: RawTable) -> RawTable:
    """The table with two columns for `4 × 2` below `workers × threads`, if most rows have one product.

    The first is then the number of devices that changes, and the second a remark.
    """
    names = [part.strip() for part in re.split(r" [x*\u00d7] ", plain(table.header[0]))]
    pairs = [_OF_A_PRODUCT.fullmatch(plain(cell).replace("\u00d7", "x")) for cell in table.cells(0)]
    if len(names) != 2 or meaning_of(names[0]).role != "gpus" or not pairs or not all(pairs):
        return table
    products = [int(one["first"]) * int(one["second"]) for one in pairs if one]
    firsts = {one["first"] for one in pairs if one}
    if 2 * products.count(max(products, key=products.count)) <= len(pairs) or len(firsts) < len(pairs):
        return table
    rows = []
    for (line, row), one in zip(table.rows, pairs, strict=False):
        rows.append((line, (one["first"], f"{one['second']} {names[1]}", *row[1:]) if one else row))
    note = f"most rows have one product of {names[0]} and {names[1]}, so {names[0]} are read as the devices"
    return replace(table, header=(names[0], f"{names[1]} of each", *table.header[1:]), rows=tuple(rows)).noted(
        note
    )


def _with_named_pairs(table: RawTable) -> RawTable:
    """The table with two columns for one whose header names both quantities of its cells: `DDP (time/mem)`."""
    for place, header in enumerate(table.header):
        named = _NAMED_PAIR.fullmatch(plain(header))
        cells = table.cells(place)
        if not named or not cells or not all(_CELL.fullmatch(plain(cell)) for cell in cells):
            continue
        roles = [meaning_of(named[which]).role in MEASURED for which in ("first", "second")]
        of_both = meaning_of(named["name"]).role in MEASURED and not meaning_of(f"time ({named['first']})").unit
        if not any(roles) and not of_both:
            continue
        names = [f"{named['name']} {named[which]}".strip() for which in ("first", "second")]
        return _with_named_pairs(_split(table, place, names, partial(_parts, form=_CELL)))
    return _with_named_parts(table)


def _with_batches_behind_names(table: RawTable) -> RawTable:
    """The table with three columns for `r50(512*8)` below `Backbone (bs*gpus)`."""
    for place, header in enumerate(table.header):
        named = _BEHIND_A_NAME.fullmatch(plain(header))
        cells = table.cells(place)
        if not named or not cells or not all(_NAME_AND_PRODUCT.fullmatch(plain(cell)) for cell in cells):
            continue
        names = [named["name"], "batch size per GPU", named["devices"]]
        return _split(table, place, names, _name_and_product)
    return table


def _name_and_product(cell: str) -> tuple[str, str, str]:
    found = _NAME_AND_PRODUCT.fullmatch(plain(cell))
    return (found["name"], found["batch"], found["count"]) if found else (cell, "", "")


def _with_named_parts(table: RawTable) -> RawTable:
    """The table with three columns or more for one with as many names and numbers: `A(GPU/CPU/Python)`."""
    for place, header in enumerate(table.header):
        named = _NAMED_PARTS.fullmatch(plain(header))
        parts = [part.strip() for part in (named["parts"] or named["statistics"]).split("/")] if named else []
        cells = [_numbers(cell) for cell in table.cells(place)]
        if not named or not cells or any(len(own) != len(parts) for own in cells):
            continue
        names = [f"{part} {named['of']}" if named["of"] else f"{named['name']} {part}".strip() for part in parts]
        return _split(table, place, names, partial(_numbers_or_blanks, count=len(parts)))
    return table


def _split(table: RawTable, place: int, names: Sequence[str], parts: Callable[[str], Sequence[str]]) -> RawTable:
    """The table with several columns for one. parts: of a cell, as many as there are names."""
    rows = tuple(
        (line, (*row[:place], *parts(row[place]), *row[place + 1 :]) if place < len(row) else row)
        for line, row in table.rows
    )
    return replace(table, header=(*table.header[:place], *names, *table.header[place + 1 :]), rows=rows)


def _with_ratios_of_sizes(table: RawTable) -> RawTable:
    """The table with a column for each ratio below `efficiency 2 / 4` beside `1 GPU | 2 GPUs | 4 GPUs`."""
    sizes = {str(count.gpus): plain(name) for name in table.header if (count := count_or_none(plain(name)))}
    for place, header in enumerate(table.header):
        named = _OF_SIZES.fullmatch(plain(header))
        of = re.findall(r"\d+", named["sizes"]) if named else []
        parts = [[part.strip() for part in plain(cell).split("/")] for cell in table.cells(place)]
        whole = named and meaning_of(named["name"]).role in STATED and {*of} <= {*sizes}
        if not named or not whole or not parts or any(len(own) != len(of) for own in parts):
            continue
        names = [f"{sizes[size]} {named['name']}" for size in of]
        return _split(table, place, names, partial(_of_each, count=len(of)))
    return table


def _of_each(cell: str, count: int) -> list[str]:
    parts = [part.strip() for part in plain(cell).split("/")]
    return parts if len(parts) == count else [""] * count


def _numbers_or_blanks(cell: str, count: int) -> list[str]:
    return _numbers(cell) or [""] * count


def _numbers(cell: str) -> list[str]:
    """The numbers between the slashes of a cell; none if it has something else."""
    parts = [part.strip() for part in plain(cell).split("/")]
    return parts if all(re.fullmatch(r"~?\d[\d.,]*k?", part, re.IGNORECASE) for part in parts) else []


def _whole(cell: str) -> str:
    found = _BATCHES.fullmatch(plain(cell))
    return found["all"] or str(int(found["first"]) * int(found["second"])) if found else cell


def _with_label_and_count(table: RawTable) -> RawTable:
    """The table with two columns of a first one with `DDP / 4` below `Method / GPUs`."""
    named = _LABEL_AND_COUNT.fullmatch(plain(table.header[0]))
    cells = [plain(cell) for cell in table.cells(0)]
    if not named or meaning_of(f"{named['second']} count").role != "gpus" or not cells:
        return table
    if not all(_OF_A_LABEL.fullmatch(cell) for cell in cells):
        return table
    rows = tuple((line, (*_parts(row[0], _OF_A_LABEL), *row[1:]) if row else row) for line, row in table.rows)
    return replace(table, header=(named["first"], named["second"], *table.header[1:]), rows=rows)


def _parts(cell: str, form: re.Pattern[str]) -> tuple[str, str]:
    found = None if is_blank(cell) else form.fullmatch(plain(cell))
    return (found["first"], found["second"]) if found else (cell, "")
