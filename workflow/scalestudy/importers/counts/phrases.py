"""Reads phrases that are no more than devices, in any order of their parts: `8 A100 on 2 nodes`, `2x4 = 8 GPUs`.

A phrase has one fact or more: numbers of devices, of nodes, of the devices of each node, kinds of hardware. They
have to agree, and then they give one number. So a phrase whose numbers contradict each other is not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from scalestudy.importers.counts.facts import Fact, facts_from, with_products

BEHIND_A_HOST = re.compile(
    r"(?P<host>(?:(?:1|one|an?|single) process|\d{1,4} ?-?(?:cpus?|cpu[ -](?:cores?|threads?)|cores?)))"
    r"(?: ?[,;/:+&]| (?:with|on|for|and))? (?:on )?(?P<gpus>\d{1,5} ?-?gpus?\b.*)",
    re.IGNORECASE,
)
"""Devices behind the process or the cores that drive them: `one process, 4 GPUs`, `8 CPU cores + 2 GPUs`."""
_JOINT = re.compile(r"(?:^|(?<=[\s(,\[]))(?:on|with|using|across|over|at|for|w/|@)\s*$", re.IGNORECASE)
"""A preposition in front of a phrase."""
_GOES_ON = re.compile(r" ?[x*] ?\d")
"""A further factor behind a phrase, which makes it part of something else."""
_NUMBER_BEFORE = re.compile(r"\d ?[x*]? ?$")
_SIGNS = " ,;:/|+@-_\u2013\u2014"
_WITH_A_NUMBER = (["bare", "nodes"], ["bare", "devices"], ["bare", "hardware"])
"""Kinds of the facts of phrases that begin with a number without a noun: 8 (2 nodes), 8 (A100)."""


@dataclass(frozen=True)
class Phrase:
    """Devices that a part of a text names. start, end: its place in the text."""

    gpus: int
    nodes: int | None
    hardware: str
    either: bool = False
    """Whether the devices may also be those of each node: 2 nodes, 8 GPUs."""
    facts: int = 1
    start: int = 0
    end: int = 0
    rest: str = ""
    """The other words of the text."""

    @property
    def says_more(self) -> bool:
        """Whether it is more than a number with the word of a device."""
        return self.facts > 1 or bool(self.hardware)

    def is_whole(self, text: str) -> bool:
        """Return whether the text has no other words."""
        return self.start == 0 and self.end == len(text)


@lru_cache(maxsize=8192)
def phrase_in(text: str) -> Phrase | None:
    """Return the one phrase of devices in a text of signs as `plain` leaves them.

    None if it has none, none whose numbers agree, or several.
    """
    found = []
    at = 0
    while at < len(text):
        begins = at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "._")
        begins = begins and not (text[at].isalpha() and _NUMBER_BEFORE.search(text[:at]))  # 2 V100 x2
        phrase = _longest(text, at) if begins and (text[at].isalnum() or text[at] == "(") else None
        if phrase:
            found.append(phrase)
        at = phrase.end if phrase else at + 1
    return replace(found[0], rest=_rest(text, found[0])) if len(found) == 1 else None


def is_of_devices(text: str) -> bool:
    """Return whether a text is only a phrase of devices, and more than their number: 8 (2x4), 4090 2x."""
    phrase = phrase_in(text)
    return phrase is not None and phrase.is_whole(text) and phrase.says_more


def _rest(text: str, phrase: Phrase) -> str:
    """The words of a text beside its phrase, without brackets, signs and prepositions that belonged to it."""
    words = f"{_JOINT.sub('', text[: phrase.start])} {text[phrase.end :]}"
    words = " ".join(re.sub(r"[(\[]\s*[)\]]", " ", words).split())
    words = re.sub(r"\(\s*[,;:/|-]\s*", "(", re.sub(r"\s*[,;:/|-]\s*\)", ")", words))
    return words.strip(_SIGNS)


def _longest(text: str, start: int) -> Phrase | None:
    """The longest phrase that begins at a place."""
    facts = list(facts_from(text, start))
    if facts and facts[0].kind in ("bare", "product") and not _may_be_bare(text[:start]):
        return None
    for count in range(len(facts), 0, -1):
        end = facts[count - 1].end
        opened = text[start:end].count("(") - text[start:end].count(")")
        if opened > 0 and (behind := re.match(rf" ?\){{{opened}}}", text[end:])):
            end, opened = end + len(behind[0]), 0
        whole = opened == 0 and not _GOES_ON.match(text, end)
        if whole and (phrase := _of(facts[:count])):
            return replace(phrase, start=start, end=end, facts=count)
    return None


def _may_be_bare(before: str) -> bool:
    """Whether a number without a noun can be of devices behind a text: at its begin, in brackets, behind `on`."""
    return not before.strip() or before.rstrip()[-1] in "([" or bool(_JOINT.search(before))


def _of(facts: Sequence[Fact]) -> Phrase | None:
    """The devices that all facts agree on, without a place; None if they do not, or say too little."""
    joined = with_products(facts)
    numbers = {
        kind: {fact.number for fact in joined if fact.kind == kind} for kind in {one.kind for one in joined}
    }
    hardware = {fact.hardware for fact in joined if fact.hardware}
    if not joined or len(hardware) > 1 or any(len(found) > 1 for found in numbers.values()):
        return None
    only_bare = {fact.kind for fact in facts} == {"bare"} and not hardware and len(joined) == 1
    product = next((fact for fact in joined if fact.kind == "product"), None)
    found = None if only_bare else _of_product(joined, product) if product else _of_parts(joined)
    if found is None:
        return None
    gpus, nodes, either = found
    whole = gpus > 0 and (not nodes or gpus % nodes == 0)
    return Phrase(gpus, nodes, hardware.pop() if hardware else "", either) if whole else None


def _number(facts: Sequence[Fact], kind: str) -> int | None:
    return next((fact.number for fact in facts if fact.kind == kind), None)


def _of_product(facts: Sequence[Fact], product: Fact) -> tuple[int, int | None, bool] | None:
    """(devices, nodes, False) of nodes by devices, if all other facts agree: 8 GPUs (2x4)."""
    each = product.number // (product.nodes or 1)
    agrees = (
        _number(facts, "nodes") in (None, product.nodes)
        and _number(facts, "each") in (None, each)
        and _number(facts, "bare") in (None, product.number)
        and _number(facts, "devices") in (None, product.number, each)
    )
    return (product.number, product.nodes, False) if agrees else None


def _of_parts(facts: Sequence[Fact]) -> tuple[int, int | None, bool] | None:
    """(devices, nodes, whether they may also be of each node) of facts without a product."""
    kinds = [fact.kind for fact in facts]
    nodes, each = _number(facts, "nodes"), _number(facts, "each")
    totals = {number for kind in ("bare", "devices") if (number := _number(facts, kind)) is not None}
    if each is not None:
        totals |= {nodes * each} if nodes else {0}
        return (totals.pop(), nodes, False) if len(totals) == 1 else None
    if len(totals) != 1 or (kinds[0] == "bare" and kinds not in _WITH_A_NUMBER) or "bare" in kinds[1:]:
        return None
    gpus = totals.pop()
    if kinds != ["nodes", "devices"] or not nodes or facts[1].total or facts[1].before == "equal":
        return gpus, nodes, False
    if facts[1].before == "of" or gpus < nodes:  # 2 nodes of 8 GPUs; 2 nodes, 1 GPU
        return nodes * gpus, nodes, False
    return gpus, nodes, facts[1].before != "bracket"
