"""What columns are by their labels and by the caption: strategies, measurements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, pairwise

from scalestudy.importers.counts.cells import SIZE_OF_A_MODEL
from scalestudy.importers.headers.meaning import TEXTS, Meaning, never_a_label, normal, with_role
from scalestudy.importers.headers.terms import STRATEGIES
from scalestudy.importers.numbers.printed import is_blank, is_ditto, plain, share
from scalestudy.importers.numbers.texts import read_number
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.raw import RawTable

MOST_OF = 0.75
"""Share of the cells of a column that show what it is."""
_OF_A_MODEL = re.compile(
    r"^(?:#|n|num(?:ber of)?|model|total)? ?param(?:eter)?s?$|hidden|\blayers?\b|d_?model|model size"
)
"""Headers of the size of a model, which tells series apart."""
_OF_LAYERS = re.compile(r"(?:#|n|num(?:ber)?(?: of)?)? ?(?:hidden |model |decoder |transformer )?layers")
_OF_PARAMETERS = re.compile(
    r"(?:#|n|num(?:ber)?\.?(?: of)?|no\.? of|model|total)? ?param(?:eter)?s?(?: ?count)?"
    r"(?: ?[(\[][^()]{1,12}[)\]])?"
)
_SIZE_OF_WORK = re.compile(
    r"[nlm]|(?:.* )?(?:grid|matrix|mesh|problem|domain|input|data|array|vector|system|lattice)(?: ?size)?s?|size|"
    r"(?:.* )?(?:elements|particles|atoms|points|cells|dofs?|unknowns|vertices|samples|images|examples|records|"
    r"chunks|files|documents|docs|requests|messages|jobs|events|rows|bodies|photons|walkers|pages|urls|items|"
    r"(?:sub)?intervals|rectangles|trapezo(?:id)?s|triangles|pixels|voxels|edges|sequences|reads)"
)
"""Names of labels that say how much is computed."""
_OF_OTHERS = re.compile(
    r"\bet al\b|\b(?:prior|previous|related) works?\b|\b(?:their|reported by)\b", re.IGNORECASE
)
"""Comments on runs of other authors."""
_OF_WORK = re.compile(
    r"(?:[a-z]+ )?(?:data ?sets?(?: size)?|tasks?|benchmarks?|problems?|workloads?|test ?cases?|graphs?|"
    r"quer(?:y|ies)|circuits?|scenarios?|operations?|use ?cases?|routines?)"
)
"""Names of labels that say what is computed."""
_OF_A_REPEAT = re.compile(r"\b(?:runs?|trials?|rep(?:eat|etition|lica)?s?|seeds?|attempts?|id|index|no|#)\b")
"""Headers of ids, and of repeats of one measurement, which are no series of their own."""
_HOW_MANY = re.compile(
    r"\b(?:single|multi|serial|sequential|parallel|distributed|base(?:line)?|workers?|threads?|process(?:es)?|gpus?|"
    r"nodes?|cores?|scale|small|medium|large)\b",
    re.IGNORECASE,
)
"""Words for the devices of a run: Single worker, Small scale."""
_ADVICE = re.compile(
    r"\b(?:avoid|recommended|best|ideal|optimal|good|bad|worse|better|useful|suitable|low-latency|high-throughput|"
    r"production|development|debugging|prototyping)\b",
    re.IGNORECASE,
)
"""Words of advice on a run, which are no work: Recommended for production."""
_MOST_ROWS = 2 / 3  # share of the rows whose size of the work was on several numbers of devices
_FEW_ROWS = 500  # rows up to which equal ones are looked for
_SAME = 2  # sizes that each block of a label has in common with the first
_PRECISION = re.compile(r"\b(?:(?:fp|float|bf|bfloat|tf)-?\d{1,2}|amp|mixed(?: precision)?)\b", re.IGNORECASE)
_WAY = re.compile(
    r"(?:(?:serial|sequential|parallel|single|multi|baseline|distributed|process|threaded|gpu)[ -]?)+"
)


def strategies(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a column of labels as the strategy if most of them name one, such as FSDP or ZeRO."""
    if any(meaning.role == "strategy" for meaning in meanings):
        return meanings
    for place, meaning in enumerate(meanings):
        cells = raw.cells(place)
        named = sum(bool(STRATEGIES.search(plain(cell))) for cell in cells)
        if meaning.role in ("label", "ignore") and normal(meaning.header) not in said and named > len(cells) / 2:
            return with_role(meanings, place, "strategy")
    return meanings


def telling_labels(
    meanings: list[Meaning], raw: RawTable, said: set[str], *, of_words: bool = False
) -> list[Meaning]:
    """Reads a column as a label if nothing else tells rows with equal devices apart.

    The column has words, or it is left of the measurements. of_words: it has words.
    """
    measured, rows = _measured_rows(meanings, raw)
    if not rows:
        return meanings
    known = [place for place, meaning in enumerate(meanings) if _tells_apart(meaning.role)]
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[place] for place in known), []).append(row)
    alike = [group for group in groups.values() if len(group) > 1]
    found: list[int] = []
    for place, meaning in enumerate(meanings):
        values = [[row[place] for row in group] for group in alike]
        words = [word for group in values for word in group]
        apart = bool(alike) and all(len(set(group)) == len(group) for group in values)
        named = share(words, read_number) == 0 or (
            not of_words
            and place < measured
            and (not never_a_label(meaning.header) or bool(_OF_A_MODEL.search(normal(meaning.header))))
        )
        signs = not any(re.search(r"\w", word) for word in words)  # a rating in stars
        if apart and named and not signs and meaning.role == "ignore" and normal(meaning.header) not in said:
            found.append(place)
    if not found:
        return _two_labels(meanings, rows, alike, measured, said)
    place = next((one for one in found if len({row[one] for row in rows}) < len(rows)), found[0])
    return with_role(meanings, place, "label")


def _two_labels(
    meanings: list[Meaning],
    rows: Sequence[tuple[str, ...]],
    alike: Sequence[Sequence[tuple[str, ...]]],
    measured: int,
    said: set[str],
) -> list[Meaning]:
    """Reads two columns left of the measurements as labels, if only both tell rows apart: `Size` and `Models`.

    alike: rows that nothing else tells apart.
    """
    free = [
        place
        for place, one in enumerate(meanings[:measured])
        if one.role == "ignore"
        and normal(one.header) not in said
        and not never_a_label(one.header)
        and not _OF_A_REPEAT.search(normal(one.header))
        and 1 < len({row[place] for row in rows}) <= len(rows) / _SAME
    ]
    for first, second in combinations(free, 2):
        if alike and all(len({(row[first], row[second]) for row in group}) == len(group) for group in alike):
            return with_role(with_role(meanings, first, "label"), second, "label")
    return meanings


def by_blocks(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a column that nothing else reads as a label if the same sizes repeat in each block of its values.

    The column may be right of the measurements, and its header may be one of results. A column with another number
    in each row is an id and no label.
    """
    roles = [one.role for one in meanings]
    _, rows = _measured_rows(meanings, raw)
    if not rows:
        return meanings
    columns = [[plain(row[place]) for row in rows] for place in range(len(meanings))]
    ids = [
        place
        for place, cells in enumerate(columns)
        if roles[place] == "label" and len(set(cells)) == len(cells) and all(map(str.isdecimal, cells))
    ]
    known = [place for place, role in enumerate(roles) if _tells_apart(role) and place not in ids]
    sizes = [tuple(columns[place][at] for place in known) for at in range(len(rows))]
    free = [place for place, role in enumerate(roles) if role == "ignore"]
    found = [place for place in free if _is_of_blocks(columns[place], sizes)]
    names = {place: normal(meanings[place].header) for place in (*found, *ids)}
    found = [place for place in found if names[place] not in said and not _OF_A_REPEAT.search(names[place])]
    if not found or any(names[place] in said for place in ids):
        return meanings
    for place in ids:
        meanings = with_role(meanings, place, "ignore")
    return with_role(meanings, min(found, key=lambda place: never_a_label(meanings[place].header)), "label")


def by_parameters(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads the number of parameters as the model if no other column names one, and if it differs between rows.

    So is the number of layers, if there are no parameters.
    """
    if any(one.role == "model" for one in meanings):
        return meanings
    free = [
        place
        for place, one in enumerate(meanings)
        if one.role in ("ignore", "label")
        and normal(one.header) not in said
        and len(set(map(plain, raw.cells(place)))) > 1
    ]
    for form in (_OF_PARAMETERS, _OF_LAYERS):
        for place in free:
            name = normal(meanings[place].header)
            sized = name == "size" and all(map(SIZE_OF_A_MODEL.fullmatch, map(plain, raw.cells(place))))
            if sized or form.fullmatch(name):
                return with_role(meanings, place, "model")
    return meanings


def by_sizes(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads the size of the work as a label if most rows are of sizes on several numbers of devices each."""
    measured, rows = _measured_rows(meanings, raw)
    devices = next((place for place, one in enumerate(meanings) if one.role in ("gpus", "nodes")), 0)
    for place, one in enumerate(meanings) if rows else ():
        if one.role != "ignore" or normal(one.header) in said or not is_size_of_work(normal(one.header)):
            continue
        sizes: dict[str, set[str]] = {}
        for row in rows:
            sizes.setdefault(plain(row[place]), set()).add(plain(row[devices]))
        several = [row for row in rows if len(sizes[plain(row[place])]) > 1]
        most = len(several) > _MOST_ROWS * len(rows) if place < measured else len(several) == len(rows)
        if len(sizes) > 1 and most:
            return with_role(meanings, place, "label")
    return meanings


def _measured_rows(meanings: list[Meaning], raw: RawTable) -> tuple[int, list[tuple[str, ...]]]:
    """Return the first column with a measurement, and the rows; none without devices, or if they are too many."""
    roles = [one.role for one in meanings]
    measured = next((place for place, role in enumerate(roles) if role in (*MEASURED, *STATED)), None)
    rows = [row for _, row in raw.rows if len(row) == len(meanings)]
    if measured is None or not {"gpus", "nodes"} & {*roles} or len(rows) > _FEW_ROWS:
        return 0, []
    return measured, _filled_down(rows, measured)


def _is_of_blocks(cells: Sequence[str], sizes: Sequence[tuple[str, ...]]) -> bool:
    """Whether no size repeats beside one value of a column, and the sizes of its first value repeat beside all."""
    blocks: dict[str, list[tuple[str, ...]]] = {}
    for cell, size in zip(cells, sizes, strict=True):
        blocks.setdefault(cell, []).append(size)
    if len(blocks) < 2 or any(map(is_blank, cells)):
        return False
    first, *others = map(set, blocks.values())
    changes = 1 + sum(cell != after for cell, after in pairwise(cells))
    return (
        all(len(set(block)) == len(block) for block in blocks.values())
        and all(len(first & other) >= _SAME for other in others)
        and (changes == len(blocks) or all(first == other for other in others))
    )


def _filled_down(rows: Sequence[tuple[str, ...]], left: int) -> list[tuple[str, ...]]:
    """The rows with empty cells in their first columns filled from above, as where a name stands once."""
    found: list[tuple[str, ...]] = []
    for row in rows:
        above = found[-1] if found else row
        found.append(
            tuple(
                up if place < left and (not cell or is_ditto(cell)) else cell
                for place, (cell, up) in enumerate(zip(row, above, strict=True))
            )
        )
    return found


def _tells_apart(role: str) -> bool:
    return role in ("gpus", "nodes", *BATCHES, *TEXTS)


def framework_of(label: str) -> str:
    """Return the framework that a label names; '' for a way to run, such as Serial or Parallel (run.py)."""
    words = re.sub(r"\(.*?\)", "", plain(label)).strip().lower()
    return "" if _WAY.fullmatch(words) else label


def is_length(name: str) -> bool:
    """Return whether a label is the length of a sample in tokens, which sets the work of each of them."""
    return (
        bool(re.match(r"(?:max ?)?(?:seq\w*|context|prompt) ?-?(?:len\w*)?(?: |$|\()", name)) and "par" not in name
    )


def is_other_work(name: str) -> bool:
    """Return whether a label says what is computed: on a data set, for a task, of a problem."""
    return bool(_OF_WORK.fullmatch(name))


def are_names(values: Sequence[str]) -> bool:
    """Return whether all values of a label are names, and neither sizes nor words for the devices of a run."""
    named = all(value[:1].isalpha() and not _HOW_MANY.search(value) for value in values)
    return named and not are_advice(values)


def are_advice(values: Sequence[str]) -> bool:
    """Return whether a value of a label says what a run is good for, so that none names the work of it."""
    return any(map(_ADVICE.search, values))


def is_size_of_work(name: str) -> bool:
    """Return whether a label says how much is computed, so that its values are no variants of the same work."""
    return bool(_SIZE_OF_WORK.fullmatch(name))


def is_of_others(comment: str) -> bool:
    """Return whether a comment says that a run is one of other authors."""
    return bool(_OF_OTHERS.search(comment))
