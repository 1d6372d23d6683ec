"""What a column is by the cells below its header: GPU may be a number or the name of a device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.cells.units import is_in_percent
from scalestudy.importers.counts.cells import SIZE_OF_A_MODEL, nodes_by_each, read_count
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.devices.listed import are_ids, count_from_zero, ids_in
from scalestudy.importers.devices.machines import role_of_machines
from scalestudy.importers.headers.meaning import IDS, IN_WORDS, Meaning, meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, NODE, REAL_TIME
from scalestudy.importers.numbers.durations import is_duration_in_words
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import (
    are_times,
    in_brackets,
    most_are,
    of_steps,
    quantity_of,
    rate_of,
    unit_of_cells,
)
from scalestudy.importers.ratios.columns import is_of_most
from scalestudy.importers.ratios.gains import says_gain
from scalestudy.importers.raw import RawTable

_OF_SCALING = re.compile(
    rf"\b(?:{DEVICE}|{NODE}|scaling|parallel\w*|speed-?up|mpi|openmp)\b|t ?[(_]?1\)? ?/ ?t ?[(_]?n\b"
)
_HOST = r"[a-z]+(?:-[a-z]+)*(?:-\d+|\d{3,})*(?:-?\[[\d,-]+\])?"
_HOSTS = re.compile(rf"{_HOST}(?:, ?{_HOST})*")
"""Names of hosts, and lists of them: node-17, cn[03,07]."""
_NAME = re.compile(r"(?!(?:milli|micro)?(?:sec|min|hour|day)|mean|median)\b[^\W\d_]{4,}", re.IGNORECASE)
"""A word that is no unit of time."""
_ONE = re.compile(r"\W*(?:1(?:\.0*)? ?[x\u00d7]?|100(?:\.0*)? ?%)\W*")
_BY_EACH = re.compile(rf"{nodes_by_each(f' ?(?:{NODE})?')}(?: ?{DEVICE}\b|\W*$)", re.IGNORECASE)
_HOW_MANY = re.compile(r"#|(?:num(?:ber)?|no\.?|count|n)\b ?(?:of )?(?!$)", re.IGNORECASE)
"""Begin of a header of how many devices there are, of which 0 is a run on none, and no id."""
_OF_A_DEVICE = re.compile(rf"\d[\d,]* ?(?:samples |images )?(?:/|per) ?{DEVICE}")
_OF_A_BATCH = re.compile(r"(?:(?:mean|avg|average|batch|training|inference) )?latency(?: ?\([^()]*\))?")
_OF_HARDWARE = re.compile(r"\b(?:[gtnchx]pu|device|accel|card|chip|gcd|core)")
"""Headers of devices that may be of their kind too."""
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b(?:19|20)\d\d$|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b")
_MOST_PER_NODE = 1024
_MOST_OF_A_NODE = 256
"""The same where each node has as many."""
_UNIT_RATIO = re.compile(r"1(?:\.0+)? ?x")
_NODES = re.compile(rf"\d{{1,6}} ?{NODE}", re.IGNORECASE)
_COUNTED = re.compile(rf"\d{{1,6}} ?-?(?:{DEVICE}|{NODE})\b", re.IGNORECASE)


_ANSWER = re.compile(r"(?:yes|no|true|false|y|n|pass|fail)\b", re.IGNORECASE)
"""A cell that says whether a goal is reached."""
_CORES_OR_GPUS = re.compile(r"\d ?x? ?-?(?:cpu[ -])?(?:cores?|[gn]pus?|tpus?)\b", re.IGNORECASE)
_NODES = re.compile(rf"\d ?-?{NODE}\b", re.IGNORECASE)
_OF_A_MODEL = re.compile(rf"{SIZE_OF_A_MODEL.pattern}(?= [A-Za-z])")
"""A label that begins with the size of a model: 7B MoE."""
_SLOWER = re.compile(r"\d ?(?:x|times) slower", re.IGNORECASE)


def by_cells(meaning: Meaning, raw: RawTable, place: int, meanings: Sequence[Meaning], *, stated: bool) -> Meaning:
    """Return what a column is by the cells below its header. stated: whether a header is that of a speedup."""
    cells, role = raw.cells(place), meaning.role
    if role == "step_time_ms":
        return replace(meaning, role="step_time_s", unit="ms")
    if role == "batch" and any(_OF_A_DEVICE.fullmatch(normal(cell)) for cell in cells):
        return replace(meaning, role="batch_per_gpu", per="gpu")  # 4 per GPU
    if "batch" in role and (own := of_steps(cells) or rate_of(cells)):
        return replace(own, header=meaning.header, rest=normal(meaning.header))  # below `Batch size = 16`
    if "batch" in role and are_times(cells):  # 1813 ms below `layer batch`
        twin = _has_a_measured_twin(meanings, place, raw)
        return replace(in_brackets(meaning), role="ignore" if twin else "time_s", rest=normal(meaning.header))
    if of_machines := role_of_machines(meanings, place, raw):
        return replace(meaning, role=of_machines)
    if _is_size_beside_nodes(meanings, place, raw):
        return replace(meaning, role="label" if len(set(cells)) < len(cells) else "ignore")
    if role == "ignore" and normal(meaning.header) == "size" and _are_sizes_of_models(cells):
        return replace(meaning, role="label")  # 7 B, 13 B
    if _is_size(meaning, cells, raw):
        fractions = any(re.search(r"\d\.\d", plain(cell)) for cell in cells)  # of STREAM's `Scale`
        return replace(meaning, role="ignore" if fractions else "label")
    if _may_be_ratios(meaning, stated=stated) and most_are("speedup", cells):
        return replace(meaning, role="ignore" if is_of_most(raw, place, meanings) else "printed_speedup")
    relative = role in ("throughput", "steps_per_s") and most_are("speedup", cells) and not stated
    if relative and any(map(_UNIT_RATIO.fullmatch, map(plain, cells))):
        return replace(meaning, role="printed_speedup")  # 1.0x, 3.6x below `Steps/s`
    if role in TIMES and stated and not meaning.unit and most_are("speedup", cells):
        return replace(meaning, role="ignore")  # relative to the time of something else: 0.9x
    if role == "label" and _has_a_measured_twin(meanings, place, raw):
        return replace(meaning, role="ignore")  # by the unit of its cells, below
    speed = role == "throughput" and re.search(r"speed|rate|epoch", normal(meaning.header))
    if speed and not meaning.unit and are_times(cells):  # Speed per epoch: 0.76 h
        kind = "total_time_s" if re.search(r"\bepoch", normal(meaning.header)) else "time_s"
        alone = all(one.role not in MEASURED for one in meanings if one is not meaning)
        return replace(in_brackets(meaning), role=kind if alone else "ignore", per="")
    if _is_no_measurement(meaning, cells) or _is_work_of_models(meanings, place, raw):
        return replace(meaning, role="ignore")
    if role == "throughput" and most_are("efficiency", cells):
        return replace(meaning, role=_of_percents(cells))
    if role in ("throughput", "time_s") and not meaning.unit and (own := of_steps(cells)):
        return replace(own, header=meaning.header, rest=meaning.rest)
    if role in ("time_s", "total_time_s") and not meaning.unit and (rate := rate_of(cells)):
        return replace(rate, header=meaning.header, per=meaning.per, rest=meaning.rest)  # below `wall speed`
    if (with_unit := with_unit_of_cells(meaning, cells)) is not meaning:
        return with_unit
    if (
        role == "time_s"
        and _OF_A_BATCH.fullmatch(normal(meaning.header))
        and any("batch" in one.role for one in meanings)
    ):
        return replace(meaning, role="step_time_s")  # of the batch beside it
    numbers = share(cells, read_cell)
    if role in STATED and numbers == 0 and all(map(_ANSWER.match, map(plain, cells))):
        return replace(meaning, role="ignore")  # Speedup > 1?
    if role in TIMES and numbers == 0 and all(_DATE.search(plain(cell)) for cell in cells):
        return replace(meaning, role="ignore")  # when a run was started
    words = numbers == 0 and all(_NAME.search(plain(cell)) and not quantity_of(cell) for cell in cells)
    named = numbers == 0 and all(re.match(r"[^\W\d_]{2,}", plain(cell)) for cell in cells)
    phases = named and role == "time_s" and not any(map(is_duration_in_words, cells))  # below `Time / phase`
    if (words and (role in STATED or (role == "time_s" and not meaning.unit))) or (phases and not meaning.unit):
        return replace(meaning, role="label")  # such as the kind of execution or of scaling
    if named and role in ("scaling_ratio", "scaling") and len(set(cells)) > 2:
        return replace(meaning, role="label")  # names of problems below `Problem scale`
    if role == "gpus" and share(cells, read_count) == 0 and share(cells, count_in_words) == 1:
        return replace(meaning, per=IN_WORDS)  # 1 PS + 4 workers
    if role == "gpus" and share(cells, read_count) == numbers == 0 and cells[1:] and not all(map(ids_in, cells)):
        return replace(meaning, role="hardware" if _OF_HARDWARE.search(normal(meaning.header)) else "label")
    models = all(one.role != "model" for one in meanings) and all(map(_OF_A_MODEL.match, map(plain, cells)))
    if role == "label" and models and len(set(cells)) > 1:
        return replace(meaning, role="model")
    if role == "nodes" and all(
        _CORES_OR_GPUS.search(cell) and not _NODES.search(cell) for cell in map(plain, cells)
    ):
        return replace(meaning, role="gpus")  # 40 cores, 2 GPUs
    if role == "gpus" and count_from_zero(cells) and not _HOW_MANY.match(plain(meaning.header)):
        return replace(meaning, role="label")  # the numbers of single devices, from 0 on
    if role in ("gpus", "nodes") and are_times(cells) and not any(share([cell], read_count) for cell in cells):
        twin = _has_a_measured_twin(meanings, place, raw)  # `vm` beside `jit`: by the unit of their cells, below
        return replace(in_brackets(meaning), role="ignore" if twin else "time_s")  # 13s below `process (mpi)`
    if role == "hardware" and _OF_HARDWARE.search(normal(meaning.header)) and are_ids(cells):
        return replace(meaning, role="gpus", per=IDS)  # 0,1,2,3 below `GPU`
    if role == "hardware" and cells and all(_NODES.fullmatch(plain(cell)) for cell in cells):
        return replace(meaning, role="nodes")  # 4 machines below `Machine`
    if role == "nodes" and all(map(_BY_EACH.match, map(plain, cells))):
        return replace(meaning, role="gpus")  # 2 x 16 threads below `Machines`
    if role == "nodes" and numbers == 0 and not any(share([cell], read_count) for cell in cells):
        hosts = len(set(cells)) == len(cells) and all(_HOSTS.fullmatch(plain(cell)) for cell in cells)
        return replace(meaning, role="ignore" if hosts else "hardware")
    as_factors = role == "printed_efficiency" and not is_in_percent(cells) and most_are("speedup", cells)
    if as_factors or (role == "scaling" and numbers > 0.5):
        return replace(meaning, role="scaling_ratio")
    if role == "ignore" and numbers == 0 and place < 3 and 1 < len(set(cells)) < len(cells):
        return replace(meaning, role="label")
    return meaning


def _are_sizes_of_models(cells: Sequence[str]) -> bool:
    """Whether cells are several sizes of models."""
    sizes = {plain(cell).replace(" ", "") for cell in cells}
    return len(sizes) > 1 and all(map(SIZE_OF_A_MODEL.fullmatch, sizes))


def _is_size(meaning: Meaning, cells: Sequence[str], raw: RawTable) -> bool:
    """Whether `Scale` or `n` is the size of a problem, such as 100K, or of a run, such as 4 nodes."""
    if meaning.role == "scaling_ratio":
        sizes = normal(meaning.header) == "scale" and not any(map(_ONE.fullmatch, cells))
        return sizes or all(_COUNTED.match(plain(cell)) for cell in cells)
    return meaning.role == "gpus" and normal(meaning.header) == "n" and not _is_of_scaling(raw)


def _is_size_beside_nodes(meanings: Sequence[Meaning], place: int, raw: RawTable) -> bool:
    """Whether `n` beside nodes is larger than the number of their devices, or too large for that of each."""
    nodes = next((at for at, one in enumerate(meanings) if one.role == "nodes"), None)
    if nodes is None or meanings[place].role != "gpus" or normal(meanings[place].header) != "n":
        return False
    rows = [(plain(row[nodes]), plain(row[place])) for _, row in raw.rows if len(row) == len(meanings)]
    if not rows or not all(cell.isdecimal() and cell != "0" for row in rows for cell in row):
        return False
    pairs = [(int(count), int(own)) for count, own in rows]
    same = (
        len({own for _, own in pairs}) == 1 < len({count for count, _ in pairs}) and pairs[0][1] > _MOST_OF_A_NODE
    )
    return same or any(own > _MOST_PER_NODE * count for count, own in pairs)


def with_unit_of_cells(meaning: Meaning, cells: Sequence[str]) -> Meaning:
    """Return a throughput without a unit with that of its cells: 410 img/s, or 52 img/s/GPU in all of them."""
    if meaning.role != "throughput" or meaning.unit:
        return meaning
    named = [meaning_of(quantity_of(cell)) for cell in cells if share([cell], read_cell)]
    if (
        not meaning.per
        and named
        and {(one.role, one.shown) for one in named} == {("throughput_per_gpu", named[0].shown)}
    ):
        return replace(named[0], header=meaning.header, rest=meaning.rest, precisions=meaning.precisions)
    unit, shown = unit_of_cells(cells)
    return replace(meaning, unit=unit, shown=meaning.shown or shown) if unit or shown else meaning


def _is_of_scaling(raw: RawTable) -> bool:
    """Whether the words above a table or its headers name processors or a speedup."""
    return any(_OF_SCALING.search(normal(words)) for words in (*raw.captions, *raw.header))


def _is_no_measurement(meaning: Meaning, cells: Sequence[str]) -> bool:
    """Whether cells are none of what their header seems to say, so that the column is not read."""
    role = meaning.role
    if "batch" in role:  # how it is split, or in letters: B, 2B, 4B
        letters = {plain(cell) for cell in cells if re.fullmatch("[A-Za-z]", plain(cell))}
        split = any(re.fullmatch(r"\d+(?: ?\+ ?\d+)+", plain(cell)) for cell in cells)
        return split or any(plain(cell)[-1:] in letters for cell in cells)
    if role == "strategy":  # its measurements; 0 to 3 are the stages of ZeRO
        return share(cells, read_cell) > 0.5 and not all(re.fullmatch("[0-3]", plain(cell)) for cell in cells)
    if role == "precision":  # one of several columns of measurements, such as `fp32 | amp`, but no column of flags
        if not meaning.precisions:  # of the results: 42.7 %
            return share(cells, read_cell) == 1 and any(re.search(r"%|\d\.\d", plain(cell)) for cell in cells)
        return share(cells, read_cell) > 0.5 and not {*map(plain, cells)} <= {"0", "1"}
    if role in STATED and any(_SLOWER.search(plain(cell)) for cell in cells):
        return True  # relative to the fastest of several programs
    if role == "case":  # it counts the rows
        return len(cells) > 1 and cells == [str(at + (cells[0] == "1")) for at in range(len(cells))]
    if role == "printed_speedup" and re.match(r"rel|normal", normal(meaning.header)) and len(cells) > 2:
        return all(re.fullmatch(r"1(?:\.0\d*)?|0\.99\d*", plain(cell)) for cell in cells)  # to another system
    if role in ("throughput", "scaling_ratio") and not meaning.unit:
        # A property of the data, such as `Number of images`; the name of a part of the work, such as `Ops`.
        return len(set(cells)) == 1 < len(cells) or (role == "throughput" and are_times(cells))
    return role in TIMES and most_are("efficiency", cells)  # a share of another time


def _has_a_measured_twin(meanings: Sequence[Meaning], place: int, raw: RawTable) -> bool:
    """Whether all cells have a unit of a measurement, and those below an unknown header the same one."""
    own = {quantity_of(cell) for cell in raw.cells(place)}
    others = [at for at, one in enumerate(meanings) if at != place and one.role == "ignore"]
    measured = len(own) == 1 and meaning_of(next(iter(own))).role in MEASURED
    return measured and any({*map(quantity_of, raw.cells(at))} == own for at in others)


def _is_work_of_models(meanings: Sequence[Meaning], place: int, raw: RawTable) -> bool:
    """Whether a column of FLOPs is the work of a sample: the same for all rows of a model, beside a rate."""
    meaning = meanings[place]
    rate = re.search(r"/ ?s|\bper s", normal(meaning.header))
    others = [one for one in meanings if one.role in MEASURED and "flop" not in one.unit]
    if meaning.role != "throughput" or "flop" not in meaning.unit or rate or not others:
        return False
    named = [at for at in range(len(meanings)) if at != place and share(raw.cells(at), read_cell) == 0]
    models: dict[tuple[str, ...], list[str]] = {}
    for _, row in raw.rows:
        if len(row) == len(meanings):
            models.setdefault(tuple(plain(row[at]) for at in named), []).append(plain(row[place]))
    numbers = list(models.values())
    alike = len({number for found in numbers for number in found}) == 1 < sum(map(len, numbers))
    return alike or (all(len(set(found)) == 1 for found in numbers) and any(len(found) > 1 for found in numbers))


def _may_be_ratios(meaning: Meaning, *, stated: bool) -> bool:
    """Whether cells such as 1.8x are speedups: below a `Throughput` alone, or `Training time reduction`."""
    reduced = re.search(r"reduc|speed|improve|gain|saved|saving", normal(meaning.header))
    relative = not stated and not re.search(REAL_TIME, normal(meaning.header))
    return (meaning.role in ("throughput", "steps_per_s") and relative) or (
        meaning.role in MEASURED and bool(reduced)
    )


def _of_percents(cells: Sequence[str]) -> str:
    """What percents below a rate are: a rate relative to that of 100 %, or gains (27 % faster), if they say so."""
    if any(map(_ONE.fullmatch, cells)):
        return "scaling_ratio"
    return "printed_speedup" if any(map(says_gain, cells)) else "ignore"
