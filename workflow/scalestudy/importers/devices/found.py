"""Devices that no column of numbers has: lists of ids, counts of hardware, labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from scalestudy.importers.counts.cells import Count, read_count
from scalestudy.importers.counts.instances import devices_of_instance
from scalestudy.importers.counts.labels import count_in_words, count_of_degrees, each_node, pairs_in
from scalestudy.importers.devices.counted import noun_in
from scalestudy.importers.devices.degrees import is_degree
from scalestudy.importers.devices.in_headings import several_said
from scalestudy.importers.devices.listed import as_listed, count_by, count_from_zero, is_of_several
from scalestudy.importers.headers.meaning import (
    IN_WORDS,
    INSTANCES,
    Meaning,
    never_a_label,
    normal,
    with_role,
)
from scalestudy.importers.headers.terms import DEVICE, IDEAL, KIND, NODE, NOT_MEASURED, PER_DEVICE, SERIAL_RUN
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable

_COUNTS = re.compile(r"#|no\.?|n|num(?:ber)?|counts?|qty|quantity|amount|size|scale|units?|x")
"""Headers of a number that may be that of the hardware beside it."""
_OF_DEVICES = re.compile(
    rf"(?:[a-z.-]+ ){{1,4}}(?:{DEVICE}|{NODE})(?: (?:count|used|total))?|"
    rf"[a-z][a-z +-]{{0,20}} ?\((?:#|num(?:ber)?(?: of)? )?(?:{DEVICE}|{NODE})\)|"
    rf"(?:[a-z]+ )?(?:cluster|pool|team|gang) size(?: \((?:{DEVICE}|{NODE})\))?|"
    r"(?:#|num(?:ber)?(?: of)?|n)? ?(?:(?:parallel|concurrent|simultaneous|make) )?jobs"
    r"(?: ?\(?-{1,2}j(?:obs)?\)?)?|"
    r"(?:make |ninja )?-{1,2}j(?:obs)?|tasks|"
    r"(?:max ?|degree of )*parallelism|compute units|(?:env )?runners|slots|shards|partitions|"
    r"-{1,2}(?:n|np|[a-z_-]*(?:threads|workers|procs|processes|gpus))"
)
"""Headers of devices of another name, if no other column is of devices: Dask workers, jobs."""
_CHOSEN = re.compile(r"\b(?:optimal|optimum|best|recommended|suggested|fastest|ideal)\b")
"""Words for a number of devices that was chosen as the best of several."""
_OF_A_SIZE = re.compile(r"grid|matrix|mesh|size|dim|resol|domain|shape|volume|image|tile|kernel|problem|system")
"""Headers of the size of a problem: 256x256 below them are no nodes with devices."""
_OF_A_LAUNCH = re.compile(
    r"\b(?:thread ?|work[ -]?)(?:group|block)s?\b|\b(?:block|warp|wave(?:front)?|tile)s? ?size\b"
)
"""Headers of how a kernel is launched on one device: `32 threads` below them are no devices."""
_A_NUMBER = re.compile(r"(?!\d{1,4} [1-5]0[5-9]0$)[\d,.'+ ]+(?:e\+?\d{1,2}|[kKM])?")
_KIND = re.compile(r"\b\d{1,6} ?-?(cpu|gpu)s?\b", re.IGNORECASE)
_OF_A_CPU = re.compile(
    r"\b(?:xeon|epyc|ryzen|threadripper|graviton|opteron|core i[3579]|i[3579]-\d{4,5}\w*|apple m\d)\b|"
    r"^cpus?(?: only)? ?[(,]",
    re.IGNORECASE,
)
"""Labels of runs on a processor, which are no scale of those on GPUs: Intel Xeon (32 cores)."""
_OF_A_HOST = re.compile(r"\b\d{1,6} ?-?(?:cpu[ -])?(?:cores?|threads?|v?cpus?)\b", re.IGNORECASE)
_OF_GPUS = re.compile(r"\b\d{1,6} ?-?gpus?\b", re.IGNORECASE)
_KIND_OF_GPU = re.compile(rf"\b{KIND}\b", re.IGNORECASE)
_ON_A_GPU = re.compile(r"\b(?:gpu|cuda|opencl|hip|metal|vulkan)\b(?![ =:x-]*\d)", re.IGNORECASE)
"""Labels of runs on another kind of device than the threads or processes of the others."""
_NUMBERED = re.compile(
    r"[PN]\d{1,2}[a-z]? (?=.*[A-Za-z]{3})(?!(?:proc|rank|thread|gpu|core|node|worker|task)s?\b)"
)
_FIRST = 3
"""Columns at the left that labels may be in."""
_LABELS = ("hardware", "label", "case", "ignore", "strategy", "framework", "model", "scaling")
_NAMED = ("hardware", "label", "strategy")
"""Labels whose headers say so, which may be in any column left of the measurements."""
_MOST_OF = 0.75
_NEARLY_ALL = 0.8
"""Share of labels that name their devices from which the rows of the others are left out."""
_ALONE = re.compile(
    r"\b(?:baseline|base|non-distributed|"
    r"no[nt]?[ -]?(?:ddp|fsdp|distributed|parallel\w*|distribution)|without \w+|w/o \w+|"
    r"vanilla|local|standalone|stand-alone|plain|native|naive|reference|original|undistributed|one process|"
    rf"{SERIAL_RUN})\b",
    re.IGNORECASE,
)
"""Labels of a run on one device, beside labels that name several."""


def devices_of(meanings: list[Meaning], raw: RawTable) -> list[Meaning]:
    """Return the meanings with the devices that a table without a column of them has elsewhere."""
    roles = {meaning.role for meaning in meanings}
    if roles & {"gpus", "nodes"}:
        return [as_listed(meaning, raw.cells(place)) for place, meaning in enumerate(meanings)]
    if "gpus_per_node" in roles:  # the devices of one node
        return [replace(one, role="gpus") if one.role == "gpus_per_node" else one for one in meanings]
    for place, meaning in enumerate(meanings):
        cells = [plain(cell) for cell in raw.cells(place)]
        numbers = [int(cell) for cell in cells if re.fullmatch(r"[1-9]\d{0,5}", cell)]
        index = numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 2
        whole = len(numbers) == len(cells) > 1 and len(set(numbers)) > 1
        counted = whole and not index
        name = normal(meaning.header).strip(" .")
        named = _OF_DEVICES.fullmatch(name) and not (_CHOSEN.search(name) or PER_DEVICE.search(name))
        named = named and not never_a_label(meaning.header)
        if whole and named and meaning.role in ("ignore", "label", "strategy"):
            return with_role(meanings, place, "gpus", per="")
        beside = "hardware" in roles and _COUNTS.fullmatch(name)
        degree = is_degree(meaning.header) and devices_of_labels(meanings, raw) == meanings
        degree = degree and not _divides_others(raw, place)
        if counted and (beside or degree) and meaning.role in ("ignore", "label", "strategy"):
            return with_role(meanings, place, "gpus", per="")
    for place, meaning in enumerate(meanings[:_FIRST]):
        sizes = {devices_of_instance(cell) for cell in raw.cells(place)}
        if meaning.role in _LABELS and len(sizes) > 1 and None not in sizes:
            known = [str(devices_of_instance(cell)) for cell in raw.cells(place)]
            return [
                replace(one, role="ignore") if _counts(one, raw.cells(at)) == known else one
                for at, one in enumerate(with_role(meanings, place, "gpus", per=INSTANCES))
            ]
    return devices_of_labels(meanings, raw)


def _divides_others(raw: RawTable, degree: int) -> bool:
    """Whether a degree of parallelism times another column is the same number in all rows: of all devices."""
    for place in range(len(raw.header)):
        pairs = [(plain(row[degree]), plain(row[place])) for _, row in raw.rows if len(row) > max(degree, place)]
        if place == degree or not all(re.fullmatch(r"[1-9]\d{0,5}", cell) for pair in pairs for cell in pair):
            continue
        if len(pairs) > 1 and len({int(own) * int(other) for own, other in pairs}) == 1:
            return True
    return False


def devices_of_labels(meanings: list[Meaning], raw: RawTable) -> list[Meaning]:
    """Reads the number of devices from one of the first columns, if all of its labels name one."""
    places = [at for at, one in enumerate(meanings) if one.role in (*MEASURED, *STATED)]
    measured = places[0] if places else len(meanings)
    ratios = any(one.role in STATED for one in meanings)
    with_numbers = replace(raw, rows=tuple(row for row in raw.rows if _has_digits(row[1], places)))
    for read, per in ((read_count, ""), (count_in_words, IN_WORDS)):
        for place, meaning in enumerate(meanings[: max(_FIRST, measured)]):
            cells = (with_numbers if places else raw).cells(place)
            if place >= _FIRST and meaning.role not in _NAMED:
                continue
            of_result = meaning.role == "ignore" and bool(
                re.search(rf"\b{IDEAL}\b|target", normal(meaning.header))
            )
            if (
                meaning.role not in _LABELS
                or len(cells) < 2
                or of_result
                or _OF_A_LAUNCH.search(normal(meaning.header))
                or count_from_zero(cells)
                or _are_numbered(cells)
                or _of_a_size(meaning, cells, ratios=ratios)
            ):
                continue
            cells = [cell for cell in cells if not NOT_MEASURED.search(plain(cell).rpartition("(")[2])] or cells
            named = [cell for cell in cells if not _A_NUMBER.fullmatch(plain(cell)) or meaning.role == "hardware"]
            counts = [count_by(cell, read) for cell in named]
            sizes = {count.gpus for count in counts if count}
            if all(count and count.either for count in counts):  # of each node, perhaps
                pairs = pairs_in(cells)
                sizes |= {each_node(count, pairs).gpus for count in counts if count}
            missing = [cell for cell, count in zip(named, counts, strict=True) if not count]
            if len(sizes) > 1:  # rows of a processor without a number are left out
                missing = [cell for cell in missing if not _OF_A_CPU.search(plain(cell))]
            if named and all(map(count_of_degrees, map(plain, named))) and _are_of_more(raw, sizes):
                continue  # degrees of parallelism, beside others that no label has
            of_two = len(cells) == 2 and len(sizes) == 1 and any(map(says_one_device, missing))
            if per and (len(sizes) > 1 or of_two) and 1 not in sizes and missing:
                missing = [cell for cell in missing if not _is_alone(cell, [c for c in counts if c])]
                sizes |= {1}
            if per and len(sizes) > 1 and 1 in sizes and not any(map(_ON_A_GPU.search, {*named} - {*missing})):
                missing = [cell for cell in missing if not _ON_A_GPU.search(cell)]  # their rows are left out
            if per and 1 in sizes and _differ_in_numbers_only([count for count in counts if count]):
                missing = missing if len(missing) > (1 - _MOST_OF) * len(named) else []  # their rows are left out
            least = _MOST_OF if not per else _NEARLY_ALL if 1 in sizes else 1.0
            enough = bool(named) and 1 - len(missing) / len(named) >= least
            if not per and enough and is_of_several(cells):
                continue  # the other words are the names of variants
            if enough and len(named) == len(cells) and (not per or len(sizes) > 1):
                of_nodes = re.fullmatch(rf"{NODE}s?", normal(meaning.header))
                return with_role(
                    meanings, place, "gpus", per=per, unit="nodes" if of_nodes else _noun(named, counts)
                )
    return meanings


def _are_of_more(raw: RawTable, sizes: Collection[int]) -> bool:
    """Whether the text around a table names one number of devices, a multiple of those of all labels."""
    whole = int(several_said(raw)[0] or 0)
    return whole > max(sizes, default=whole) and all(whole % size == 0 for size in sizes)


def _noun(labels: Sequence[str], counts: Sequence[Count | None]) -> str:
    """What labels count, if all that name several devices have one noun; no nodes of several devices each."""
    several = {label: count for label, count in zip(labels, counts, strict=True) if count and count.gpus > 1}
    noun = noun_in(several)
    of_nodes = [
        re.search(rf"\b{count.gpus} ?-?{NODE}\b", label, re.IGNORECASE) for label, count in several.items()
    ]
    alike = all(count.nodes in (None, count.gpus) for count in several.values())
    return noun if alike and (noun != "nodes" or all(of_nodes)) else ""


def _counts(meaning: Meaning, cells: Sequence[str]) -> list[str]:
    """The devices of labels such as `8x V100`, which a column of instances beside them says too."""
    counts = [count_by(cell, read_count) for cell in cells] if meaning.role in _NAMED else []
    return [str(count.gpus) for count in counts if count]


def _has_digits(cells: Sequence[str], places: Sequence[int]) -> bool:
    """Whether a row has a number in one of its measurements; the label of another says nothing of devices."""
    return any(re.match(r"[~<>(]? ?\.?\d", plain(cells[place])) for place in places if place < len(cells))


def _differ_in_numbers_only(counts: Sequence[Count]) -> bool:
    """Whether labels have the same words beside their numbers: `--jobs 1`, `--jobs 2`."""
    return len({count.gpus for count in counts}) > 1 and len({replace(count, gpus=1) for count in counts}) == 1


def _of_a_size(meaning: Meaning, cells: Sequence[str], *, ratios: bool) -> bool:
    """Whether cells such as 256x256 are the size of a problem. ratios: whether the table has speedups."""
    factors = [re.fullmatch(r"(\d+) ?x ?(\d+)(?: ?x ?\d+)?", plain(cell)) for cell in cells]
    if sizes := bool(_OF_A_SIZE.search(normal(meaning.header))):
        factors += [re.fullmatch(r"[LMNn] ?= ?\d+", plain(cell)) for cell in cells]  # its letter
    if re.search(r"\b(?:mpi|p|tasks?|proc(?:ess(?:or|es)?)?s?|ranks?|gpus?|topology)\b", normal(meaning.header)):
        return False
    order = any(re.match(r"p(?: ?=|50$|9\d$)", plain(cell)) for cell in cells)  # of polynomials; a percentile
    order = order and not (ratios and _doubles(cells))
    return order or (any(factors) and (sizes or all(one and one[1] == one[2] for one in factors)))


def _are_numbered(cells: Sequence[str]) -> bool:
    """Whether most labels begin with the letter P or N and a number, with a name behind it: `P4 big bucket`."""
    found = [cell for cell in cells if _NUMBERED.match(plain(cell))]
    return 2 * len(found) > len(cells) and len(found) > 1


def _doubles(cells: Sequence[str]) -> bool:
    """Whether each of several cells `p = 1`, `p = 2`, `p = 4` is twice the one before or more."""
    found = [re.match(r"p ?= ?(\d{1,6})(?![\d.])", plain(cell)) for cell in cells]
    sizes = [int(one[1]) for one in found if one]
    return len(sizes) == len(cells) > 2 and all(few * 2 <= many for few, many in pairwise(sizes))


def says_one_device(label: str) -> bool:
    """Return whether a label says no more than that a run is on one device: Baseline, No DDP."""
    return bool(_ALONE.fullmatch(label.strip()))


def _is_alone(cell: str, others: Sequence[Count]) -> bool:
    """Whether a label without a number is of one device: a baseline, or the hardware of the other labels."""
    words = plain(cell).lower()
    hardware = {one.hardware.lower() for one in others} | {one.words.lower() for one in others}
    return bool(_ALONE.search(words)) or words in hardware


def of_kind(count: Count, text: str, cells: Sequence[str]) -> Count:
    """Return the devices of a label with CPU or GPU as their hardware, if others name the other of the two.

    A kind of GPU names it too: `8 CPUs` beside `2x V100`.
    """
    of_a_cpu = any(_OF_A_CPU.search(plain(cell)) for cell in cells)
    if of_a_cpu and _OF_A_CPU.search(plain(text)) and not all(_OF_A_CPU.search(plain(cell)) for cell in cells):
        return replace(count, hardware=count.hardware or count.words or "CPU", words="")
    hosts = [bool(_OF_A_HOST.search(plain(cell)) and not _OF_GPUS.search(plain(cell))) for cell in cells]
    of_gpus = bool(_OF_GPUS.search(plain(text)))
    if (
        any(hosts)
        and not of_gpus
        and _OF_A_HOST.search(plain(text))
        and any(map(_OF_GPUS.search, map(plain, cells)))
    ):
        return replace(count, hardware=count.hardware or "CPU")  # 12 cores beside 2 GPUs
    kinds = {found[1].upper() for cell in cells if (found := _KIND.search(plain(cell)))}
    kinds |= {"CPU"} if of_a_cpu or any(hosts) else set()
    kinds |= (
        {"GPU"} if any(_KIND_OF_GPU.search(cell) or _OF_GPUS.search(cell) for cell in map(plain, cells)) else set()
    )
    own = _KIND.search(plain(text))
    if own is None or count.hardware or len(kinds) < 2:
        return count
    return replace(count, hardware="GPU" if of_gpus else own[1].upper())
