"""Batches that no header calls by that name, and which batch the text around a table says is constant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning, normal, with_role
from scalestudy.importers.headers.scalings import scalings_in
from scalestudy.importers.headers.terms import COUNT, DEVICE, WORK
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import BATCHES, MEASURED, OF_STEPS, RATES, TIMES
from scalestudy.importers.raw import RawTable

_SIZE = r"(?:(?:mini-?)?batch(?: ?size)?|bsz?)"
_SAMPLES = (
    r"(?:im(?:a)?ge?s?|samples?|examples?|sequences?|sentences?|utterances?|videos?|clips?|graphs?|volumes?|pairs?|"
    r"patches?)"
)
_EACH = rf"(?:per|on each|on every|on one|for each) {DEVICE}\b(?! ?(?:per|/|a) ?s)"
_SMALLER = r"(?:shrinks?|falls|drops|decreases|is (?:halved|reduced|smaller)|(?:gets|becomes) smaller|goes down)"
_NOT_SAID = rf"(?! ?(?:size )?(?:{_SMALLER}|must|should|has to|needs? to|can|may|var(?:ies|y)|depends|changes))"
"""Behind a batch that is not the same in all rows, or that the reader has to set."""
_PER_DEVICE = re.compile(
    rf"\b(?:per|each)[- ]?{DEVICE}[- ]{_SIZE}{_NOT_SAID}|"
    rf"\b{_SIZE}(?: ?(?:is|of|was|fixed at|set to|=|:))* ?\d* ?(?:samples |images |sequences )?"
    rf"(?:per|/|on each|on every) ?{DEVICE}\b|"
    rf"(?<![\w.])[1-9]\d{{0,4}} (?:training )?{_SAMPLES} {_EACH}|"
    rf"(?<!by )\blocal {_SIZE}{_NOT_SAID}|\b{_SIZE} ?[(\[]per {DEVICE}[)\]]|"
    rf"(?:\b(?:single|one)|\u5355) ?-?{DEVICE} {_SIZE}"
)
"""Sentences on the batch of a device: per-GPU batch fixed at 8, batch size 32 per GPU, 2 images per GPU."""
_OF_ALL = re.compile(
    rf"\b(?:per|each)[- ]?{DEVICE}[- ]{_SIZE} {_SMALLER}|"
    rf"\b(?:global|total|overall|effective|eff\.?) {_SIZE} ?(?:is|of|was|=|:)? ?"
    r"(?:\d|(?:kept |held )?(?:constant|fixed|the same))|"
    rf"\b(?:constant|fixed|same) (?:global|total|overall) {_SIZE}"
)
"""Sentences on a global batch that is the same in all rows."""

_SIZE_SAID = re.compile(r"(?<![\w.])\d[\d,]*")
_WORK_OF_A_DEVICE = re.compile(
    rf"{COUNT}(?:training )?{WORK}{COUNT}(?: ?/ ?| per | each ){DEVICE}|{COUNT}envs?{COUNT}(?: ?/ ?| per ){DEVICE}"
)
"""Headers such as imgs/GPU, which name no time."""


def batches_of_devices(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads `imgs/GPU` beside measurements as the batch of a device: whole numbers that divide the largest one."""
    if any(one.role in BATCHES for one in meanings) or not any(one.role in MEASURED for one in meanings):
        return meanings
    for place, one in enumerate(meanings):
        cells = [plain(cell).replace(",", "") for cell in raw.cells(place)]
        named = one.role == "ignore" and _WORK_OF_A_DEVICE.fullmatch(normal(one.header))
        if (
            not named
            or normal(one.header) in said
            or not all(re.fullmatch(r"[1-9]\d{0,6}", cell) for cell in cells)
        ):
            continue
        sizes = list(map(int, cells))
        if sizes and all(max(sizes) % size == 0 for size in sizes):
            return with_role(meanings, place, "batch_per_gpu", per="gpu")
    return meanings


def scaling_by_batch(raw: RawTable, columns: Sequence[Meaning]) -> str:
    """Return `weak` or `strong` if a sentence says it, or which batch step times or rates are of; else ''."""
    roles = {one.role for one in columns}
    if not roles & {*OF_STEPS, *RATES} or roles & {*BATCHES}:
        return ""
    headers = [one.header for one in columns if one.role in OF_STEPS]  # steps/s at a global batch of 64
    near = _batch_of([*raw.sentences, *headers]) if roles & {*OF_STEPS} else ""
    return near or ("" if roles & {*TIMES} - {*OF_STEPS} else _batch_of(raw.text) or called(raw.text))


def called(texts: Sequence[str]) -> str:
    """Return the kind of scaling that texts name, if it is only one: near perfect weak scaling. Else ''."""
    kinds = {kind for words in texts for kind in scalings_in(words)}
    return kinds.pop() if len(kinds) == 1 else ""


def _batch_of(texts: Sequence[str]) -> str:
    """`weak` if texts speak of a batch of a device, `strong` of a global one; '' for both or none."""
    found = [
        [one for words in map(normal, texts) for one in form.finditer(words)] for form in (_PER_DEVICE, _OF_ALL)
    ]
    if any(
        len({size[0] for one in ones if (size := _SIZE_SAID.search(one.string, one.start()))}) > 1
        for ones in found
    ):
        return ""  # batches of several runs
    per_device, of_all = map(bool, found)
    return "" if per_device == of_all else "weak" if per_device else "strong"
