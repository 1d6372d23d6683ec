"""Headers of batches: of a device, of all devices, or of a micro-batch."""

from __future__ import annotations

import re

from scalestudy.importers.headers.terms import DEVICE, OF_ALL, PER_DEVICE, STEP, WORK

_BATCH = r"(?:micro|mini)?-?(?:batch|m?bsz?\b)(?:[ _-]?sizes?)?(?!\w)(?! ?(?:/|per) ?s)"
_RUNNING = (
    r"(?:[a-z]+ )?(?:envs?|environments?|instances?|models?|layers?|streams?|copies|loaders?|microbatch(?:es)?)"
)
_EACH = rf"(?:per|/|on each|for each) ?{DEVICE}\b(?! ?(?:per|/|a) ?s)"
_OF_EACH = re.compile(
    rf"(?<!per )(?<![/\w])(?:local[ _-])?{_BATCH}[^.,;:()]{{0,30}}?(?:\bper|/|\beach|\ba)[ -]?{DEVICE}\b"
    r"(?: ?[:=]? ?\d+)?|"
    rf"\b(?:per[- ]{DEVICE}|local)[ -]{_BATCH}(?: ?[:=]? ?\d+)?|"
    rf"(?<![\w.-])\d[\d.,]*k? (?!t?flop|ops|gpus?\b)(?:{WORK}|(?:[a-z]+ )?{DEVICE}|{_RUNNING}) ?{_EACH}|"
    rf"[@(=] ?\d[\d.,]*k? ?{_EACH}",
    re.IGNORECASE,
)
"""The batch of a device, or what runs on it, in the words of a rate."""

_FACTORS = {"": 1.0, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}
_IN_TOKENS = re.compile(r"(?<![a-z])(?:(k|m|thousand|million)[ _-]?)?tok(?:en)?s?(?![a-z])")

OF_A_BATCH = (
    r"batch(?!es)|\bm?bsz?\b|\bgbs\b|"
    rf"^(?:images|imgs|samples|examples|sequences|sentences)(?: ?(?:/|per) ?{DEVICE})? ?(?:/|per) ?(?:{STEP})$"
)
"""A batch in a header. The work of a step is one too: Samples/GPU/step."""


def batch_of(bare: str) -> str:
    """Return the role of a header of a batch without its precisions."""
    if PER_DEVICE.search(bare) or is_of_micro_batches(bare) or "local" in bare or bare.startswith("device batch"):
        return "batch_per_gpu"
    return "global_batch" if OF_ALL.search(bare) or re.search(r"\bgbs\b|\beff\b", bare) else "batch"


def is_of_micro_batches(header: str) -> bool:
    """Return whether a batch is that of a micro-batch, several of which may be accumulated: MBS."""
    return re.search(r"micro|\bmbs\b", header.lower()) is not None


def tokens_of_one(header: str) -> float | None:
    """Return the tokens that one unit of a batch is: 1000 for `Batch (k tokens)`; None if the header does not say
    that it counts tokens."""
    found = _IN_TOKENS.search(header.lower())
    return _FACTORS[found[1] or ""] if found else None


def without_batches_of_each(words: str) -> str:
    """Return words without the batch of a device, or what runs on it, as in img/s (batch 64 per GPU)."""
    return re.sub(r"[(\[] *[)\]]|[,;@] *$", " ", _OF_EACH.sub(" ", words)).strip()
