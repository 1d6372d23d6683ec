"""Says which numbers of a table are those of its devices: not per replica, and not over another system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import Meaning, normal, with_role
from scalestudy.importers.headers.terms import DEVICE, NODE, STEP
from scalestudy.importers.headers.terms import PER_NODE as OF_A_NODE
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.ratios.columns import is_quotient
from scalestudy.importers.ratios.of_all import follows_from_each
from scalestudy.importers.raw import RawTable

_PER_OTHER = re.compile(r"(?:/|\bper)[ -]?(?P<kind>replica|runner|thread|core|learner|trainer|executor|worker)")
_TASKS = re.compile(r"(?:n|num(?:ber of)?|#|total)? ?tasks?")
_EPOCHS = re.compile(r"(?:(?:#|n|no\.?|num(?:ber)?|total|training)(?: of)? ?)?(?:training )?epochs?")
_STEPS_OF_A_RUN = re.compile(
    r"(?:(?:#|n|no\.?|num(?:ber)?|total|training)(?: of)? ?)?(?:training )?(?:steps|iter(?:ation)?s|updates)"
)
_ROUND = 10
"""Numbers of steps that people set are multiples of it; those of a solver are not."""
_OF_EPOCHS = re.compile(r"\bep(?:oche?s?)?\b|\bto (?:train|target|acc|conv|reach)")
"""Headers of the time of an epoch, or until a target."""
_OF_GPUS = re.compile(r"\b(?:cuda|gpu|hip|kernel|device) ?-?time\b")
_KERNELS = re.compile(r"\bkernels?\b")
"""Headers of the time in which kernels run, which is a part of a step."""
_OF_A_REQUEST = re.compile(r"\b(?:ttft|tpot|itl|e2el|latency|response time)\b")
_OF_A_STEP = re.compile(rf"(?:/|\bper) ?{STEP}\b|\b(?:step|iteration)\b")
_OF_ALL = re.compile(r"\ball (?:threads|cores|processes|ranks|workers|cpus)\b")
"""What the time of processors is summed over."""
_PROCESSORS = re.compile(
    r"\b(?:cpu|user|sys(?:tem)?) ?-?time\b|\b(?:times?|durations?|seconds) \(?sum\b|"
    r"\bsum(?:med)? (?:of )?[a-z ]*(?:time|duration)|\bcumulative\b|\bsummed\b"
)
"""Headers of the time of the processors, or of one that is summed over them."""
_ANOTHER = (
    r" (?!(?:the |a |an |our )?(?:single|one|serial|"
    r"seq|base|cpu|host|first|smallest|fewest|ref|orig|naive|scalar|lin|ideal|perfect|theor|expected|non|un|prev|prior|"
    rf"last|before|min|t ?1|[a-z] ?=))(?!.*\b(?:{DEVICE}|{NODE})\b)[a-z]"
)
_ONE_KIND = re.compile(r"gpu|device|accelerator|cpu|core|process|proc|rank|card")
_OF_A_PROGRAM = re.compile(r"worker|actor|process|proc|rank|task")
"""Devices that a program counts over all nodes, while hardware is also counted in each of them."""
_VERSUS = r"\b(?:vs\.?|versus|relative to|compared (?:to|with))"
_OVER_ANOTHER = re.compile(rf"(?:{_VERSUS}|\b(?:over|against)){_ANOTHER}")
"""Words of a header whose numbers are relative to something else than fewer devices."""
_OVER_A_TIME = re.compile(rf"(?:{_VERSUS}|\bover\b) ~?\d[\d.,]* ?(?:[num]?s|secs?|seconds?|min|h)\b")
"""Words of a header whose numbers are relative to another time than those of the table: vs 109.9 s."""
_COMPARES = re.compile(rf"\b(?:edge|advantage|uplift)\b|{_VERSUS}{_ANOTHER}")
"""Words of a header that compares two systems, such as `Throughput edge (A vs B)`."""


def per_node(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Return a throughput per node as that of a device where nodes are the devices, and without it elsewhere."""
    roles = {meaning.role for meaning in meanings}
    role = "throughput_per_gpu" if "nodes" in roles and "gpus" not in roles else "ignore"
    return [
        replace(one, role=role, per="gpu" if role != "ignore" else "")
        if one.role == "throughput" and OF_A_NODE.search(normal(one.header)) and normal(one.header) not in said
        else one
        for one in meanings
    ]


def of_each_node(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read a column `gpu` beside nodes as devices: of each node if one is below the nodes, else of all."""
    roles = [one.role for one in meanings]
    settled = any(normal(one.header) in said for one in meanings if one.role == "gpus")
    if settled or "nodes" not in roles or "gpus_per_node" in roles:
        return meanings
    named = [
        place
        for place, one in enumerate(meanings)
        if one.role == "gpus" or (_ONE_KIND.fullmatch(normal(one.header)) and normal(one.header) not in said)
    ]
    pairs = [
        (plain(row[roles.index("nodes")]), plain(row[named[0]]))
        for _, row in raw.rows
        if named and len(row) == len(meanings)
    ]
    if len(named) != 1 or not pairs or not all(nodes.isdecimal() and gpus.isdecimal() for nodes, gpus in pairs):
        return meanings
    fewer = any(int(gpus) < int(nodes) for nodes, gpus in pairs)
    same = len({gpus for _, gpus in pairs}) == 1 < len({nodes for nodes, _ in pairs})  # 8 of 2, of 4 and of 8
    of_a_program = bool(_OF_A_PROGRAM.search(normal(meanings[named[0]].header)))
    if fewer and of_a_program and len({gpus for nodes, gpus in pairs if gpus == nodes}) > 1:
        # one worker on a node; further nodes are those of parameter servers
        return with_role(with_role(meanings, roles.index("nodes"), "ignore"), named[0], "gpus")
    fewer |= (same or _is_full_on_several(pairs)) and not of_a_program
    return with_role(meanings, named[0], "gpus_per_node" if fewer else "gpus")


def _is_full_on_several(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether one node has 1, 2, 4 and 8 devices, and several nodes have 8 as often as there are rows of them.

    pairs: (nodes, devices) of each row.
    """
    one = {int(gpus) for nodes, gpus in pairs if nodes == "1"}
    several = {int(nodes): int(gpus) for nodes, gpus in pairs if nodes != "1"}
    return len(one) > 1 and len(several) > 1 and set(several.values()) == {max(one)}


def run_lengths(meanings: Sequence[Meaning], raw: RawTable) -> int | None:
    """Return the place of a column of differing numbers of epochs or steps beside times of whole runs, or None."""
    whole = [normal(one.header) for one in meanings if one.role == "total_time_s"]
    if not whole or any(_OF_EPOCHS.search(name) for name in whole) or any(one.role in STATED for one in meanings):
        return None
    for place, one in enumerate(meanings):
        cells = list(map(plain, raw.cells(place)))
        counted = one.role == "ignore" and all(re.fullmatch(r"[1-9][\d,]{0,6}", cell) for cell in cells)
        if not counted or len(cells) < len(raw.rows) or len(set(cells)) < 2:
            continue
        steps = _STEPS_OF_A_RUN.fullmatch(normal(one.header)) and _of_steps_beside(raw, meanings, place)
        if _EPOCHS.fullmatch(normal(one.header)) or steps or _are_set_steps(one, raw, meanings, place):
            return place
    return None


def _of_steps_beside(raw: RawTable, meanings: Sequence[Meaning], place: int) -> bool:
    """Whether a whole time over the time of a step beside it is the number of steps in a column."""
    whole = [at for at, one in enumerate(meanings) if one.role == "total_time_s"]
    each = [at for at, one in enumerate(meanings) if one.role == "step_time_s"]
    return any(is_quotient(raw, place, (time, step)) for time in whole for step in each)


def _are_set_steps(one: Meaning, raw: RawTable, meanings: Sequence[Meaning], place: int) -> bool:
    """Whether numbers of steps were set, such as 200 and 5000, and do not fall as with larger batches."""
    devices = next((at for at, other in enumerate(meanings) if other.role == "gpus"), None)
    if devices is None or not _STEPS_OF_A_RUN.fullmatch(normal(one.header)):
        return False
    counts = []
    for _, row in raw.rows:
        with suppress(ValueError, IndexError):
            counts.append((read_count(row[devices]).gpus, int(plain(row[place]).replace(",", ""))))
    steps = [number for _, number in sorted(counts)]
    rounded = bool(steps) and all(number % _ROUND == 0 for number in steps)
    return rounded and steps == sorted(steps) and steps[-1] >= 2 * steps[0]


def per_others(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a throughput per replica or thread as one per device if these are the devices, else leaves it out.

    They are the devices if the rate of another unit follows from it: Samples/s/core beside GPUs and TFLOP/s.
    """
    devices = " ".join(normal(one.header) for one in meanings if one.role == "gpus")
    kinds = [_PER_OTHER.search(normal(one.header)) for one in meanings]
    foreign = [
        one.role == "throughput_per_gpu"
        and of is not None
        and bool(devices)
        and of["kind"] not in devices
        and not follows_from_each(raw, meanings, place)
        for place, (one, of) in enumerate(zip(meanings, kinds, strict=True))
    ]
    own = [
        one.role == "throughput" and of is not None and of["kind"] in devices and normal(one.header) not in said
        for one, of in zip(meanings, kinds, strict=True)
    ]
    named = [
        replace(one, role="throughput_per_gpu", per="gpu") if of_them else one
        for one, of_them in zip(meanings, own, strict=True)
    ]
    return _without(named, foreign, said)


def tasks_beside_nodes(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads `Tasks` beside nodes, as SLURM has them, as devices if they differ more than the nodes."""
    roles = [one.role for one in meanings]
    places = [at for at, one in enumerate(meanings) if _TASKS.fullmatch(normal(one.header))]
    if "gpus" in roles or "nodes" not in roles or len(places) != 1 or normal(meanings[places[0]].header) in said:
        return meanings
    nodes = roles.index("nodes")
    pairs = [(plain(row[nodes]), plain(row[places[0]])) for _, row in raw.rows if len(row) == len(meanings)]
    if not all(one.isdecimal() and other.isdecimal() and int(other) >= int(one) for one, other in pairs):
        return meanings
    more = len({tasks for _, tasks in pairs}) > len({count for count, _ in pairs})
    return with_role(meanings, places[0], "gpus") if more else meanings


def of_one_scaling(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Leaves out efficiencies of weak scaling beside strong speedups, or the other way round: of other runs."""
    kinds = {one.scaling for one in meanings if one.role == "printed_speedup"} - {""}
    measured = {one.scaling for one in meanings if one.role in MEASURED}
    own = ("", *kinds, *measured)
    others = [one.role == "printed_efficiency" and one.scaling not in own for one in meanings]
    return _without(meanings, others if kinds else [False] * len(meanings), said)


def by_the_clock(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Leaves out the times of the processors and of the kernels beside a time by the clock.

    The first adds up over the devices, and the second is a part of a step.
    """
    names = [normal(one.header) if one.role in TIMES else "" for one in meanings]
    sums = [bool(_PROCESSORS.search(name) and _OF_ALL.search(name)) for name in names]
    if any(sums):
        return by_the_clock(_without(meanings, sums, said), said)
    others = [bool(_PROCESSORS.search(name) or _KERNELS.search(name)) for name in names]
    own = [bool(_OF_GPUS.search(normal(one.header))) for one in meanings]
    if all(others[place] or own[place] for place, one in enumerate(meanings) if one.role in MEASURED):
        return meanings
    return _without(meanings, others, said)


def latencies_of_requests(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Leaves out the latency of requests beside a throughput: it has the time in the queue."""
    rated = any(one.role in ("throughput", "throughput_per_gpu") for one in meanings)
    found = [one.role in TIMES and _is_of_a_request(one.header) for one in meanings]
    return _without(meanings, found if rated else [False] * len(meanings), said)


def _is_of_a_request(header: str) -> bool:
    """Whether a header is of a latency, but not of that of a step: Latency per step."""
    return bool(_OF_A_REQUEST.search(normal(header))) and not _OF_A_STEP.search(normal(header))


def is_over_another(header: str) -> bool:
    """Return whether a header says that its numbers are relative to another system: Speedup vs PyTorch."""
    return bool(_OVER_ANOTHER.search(normal(header)))


def comparisons(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Leaves out what compares two systems below the name of a measurement: `Throughput edge (A vs B)`."""
    compare = [one.role in MEASURED and bool(_COMPARES.search(normal(one.header))) for one in meanings]
    return _without(meanings, compare, said)


def over_other_systems(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out speedups over another system beside those over fewer devices, or if nothing else is measured.

    A measurement would show their baseline. The header or all cells say so: `3.5x vs. another program`.
    """
    measured = any(one.role in MEASURED for one in meanings)
    others = [_is_over_others(one, raw.cells(at)) for at, one in enumerate(meanings)]
    own = {one.role for one, other in zip(meanings, others, strict=True) if not other}
    left_out = [
        other and one.role in STATED and (one.role in own or not measured)
        for one, other in zip(meanings, others, strict=True)
    ]
    return _without(meanings, left_out, said)


def _is_over_others(meaning: Meaning, cells: Sequence[str]) -> bool:
    """Whether the header of ratios, or all of their cells, name another system or another time.

    One that is 1 in a row has its baseline in the table.
    """
    if any(share([cell], read_cell) and read_cell(cell).printed.value == 1 for cell in cells):
        return False
    if _OVER_A_TIME.search(normal(meaning.header)):
        return True
    named = is_over_another(meaning.header) or (bool(cells) and all(map(is_over_another, cells)))
    return meaning.role != "printed_efficiency" and named


def _without(meanings: Sequence[Meaning], left_out: Sequence[bool], said: set[str]) -> list[Meaning]:
    """The meanings without these columns, except for those whose kind the user says."""
    return [
        replace(one, role="ignore") if found and normal(one.header) not in said else one
        for one, found in zip(meanings, left_out, strict=True)
    ]
