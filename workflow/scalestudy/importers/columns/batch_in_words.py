"""Which batch is constant in a table without a column of it, by what the text around the table says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning, normal
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.published import BATCHES, OF_STEPS
from scalestudy.importers.raw import RawTable

_SIZE = r"(?:mini-?)?batch(?: ?size)?"
_PER_DEVICE = re.compile(
    rf"\b(?:per|each)[- ]?{DEVICE}[- ]{_SIZE}|"
    rf"\b{_SIZE}(?: (?:is|of|was|fixed at|set to|=|:))* ?\d* ?(?:samples |images |sequences )?"
    rf"(?:per|/|on each|on every) ?{DEVICE}\b"
)
"""Sentences on the batch of a device: per-GPU batch fixed at 8, batch size 32 per GPU."""
_OF_ALL = re.compile(
    rf"\b(?:global|total|overall) {_SIZE} ?(?:is|of|was|=|:)? ?(?:\d|(?:kept |held )?(?:constant|fixed|the same))|"
    rf"\b(?:constant|fixed|same) (?:global|total|overall) {_SIZE}"
)
"""Sentences on a global batch that is the same in all rows."""


def scaling_by_batch(raw: RawTable, columns: Sequence[Meaning]) -> str:
    """Return `weak` or `strong` if a sentence says which batch step times or rates are of; else ''."""
    roles = {one.role for one in columns}
    if not roles & {*OF_STEPS} or roles & {*BATCHES}:
        return ""
    said = [normal(words) for words in raw.sentences]
    per_device, of_all = (any(map(form.search, said)) for form in (_PER_DEVICE, _OF_ALL))
    return "" if per_device == of_all else "weak" if per_device else "strong"
