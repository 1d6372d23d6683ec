"""Reads how many devices a label names among other words: `DDP (8 GPUs)`, `FSDP 2x8`, `single GPU`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from math import prod

from scalestudy.importers.counts.cells import (
    CHANGE,
    DEGREES,
    MOST_GPUS,
    PARTS_BY_EACH,
    Count,
    nodes_by_each,
    read_count,
)
from scalestudy.importers.counts.numerals import NUMBERS, WORDS, in_digits, spelled
from scalestudy.importers.counts.phrases import BEHIND_A_HOST, phrase_in
from scalestudy.importers.headers.terms import DEVICE, HARDWARE, KIND, MAKER, NODE, OF_WHAT, PERCENTILE, SERIAL_RUN
from scalestudy.importers.numbers.printed import plain

_IN_WORDS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{nodes_by_each(f' ?-?{NODE}')}(?: ?-?(?:{DEVICE}|{MAKER}*(?P<hardware>{KIND})s?))?\b\)?",
        PARTS_BY_EACH,
        rf"(?P<nodes>\d{{1,4}}) ?-?{NODE} ?[,(/]* ?(?:of |with )?(?P<each>\d{{1,4}}) ?-?(?:{DEVICE}|tasks?)\b ?"
        r"(?:each|/ ?node|per node)\)?",
        rf"(?P<nodes>\d{{1,4}}) ?-?{NODE} of (?P<each>\d{{1,4}}) ?x?-? ?"
        rf"(?:(?:{DEVICE}|(?P<hardware>{HARDWARE}))\b|$)",
        rf"(?P<nodes>\d{{1,4}}) ?-?{NODE} ?[,(/]* ?(?:with )?(?P<either>\d{{1,6}}) ?-?{OF_WHAT}?{DEVICE}\b\)?",
        rf"(?<!\w){MAKER}*(?P<hardware>(?!x\d){KIND}) ?[x*] ?(?P<gpus>\d{{1,4}})\b(?![\d.x])",
        rf"(?<!zero[ -])(?<!stage[ -])\b(?=\d{{1,3}}\D){nodes_by_each()}(?<!\d\d\d)\b(?![\d.x])"  # no 1920x1080
        rf"(?: (?:{OF_WHAT}?{DEVICE}|{MAKER}*(?P<hardware>{KIND})s?(?: {DEVICE})?)\b)?",
        r"(?<![^\W_])(?P<nodes>\d{1,4})n(?P<each>\d{1,4})g(?![^\W_])",
        rf"(?P<gpus>\d{{1,6}}) ?[x*] ?(?P<hardware>{MAKER}+\d{{3,4}}\w*)\b",
        rf"(?:(?<![a-wyz\d.])|(?<=sdp)|(?<=ddp))(?P<gpus>\d{{1,6}})[ _]?x?[ _]?-?{OF_WHAT}?{DEVICE}(?![^\W_])",
        rf"(?P<gpus>\d{{1,6}}) ?x ?{MAKER}*(?P<hardware>{KIND}|[a-z]{{1,4}}-?\d{{2,4}}\w*)",
        rf"\bsingle[- ]{MAKER}*(?P<hardware>{KIND})\b",
        rf"\b(?:single|one)[- ]?(?:{DEVICE}|{NODE})\b",
        r"-n ?\d{1,6} -n ?(?P<gpus>\d{1,6})\b",
        rf"(?<![\d./])(?P<gpus>\d{{1,6}}) ?-?{NODE}\b",
        r"(?P<gpus>\d{1,6}) ?-?cpus?\b",
        r"(?<![\d.])(?P<gpus>\d{1,4}) ?x(?!\w)|(?<!\w)x ?(?P<times>\d{1,4})(?![\d.])",
        r"\blocal\[(?P<gpus>\d{1,6})\]",
        r"(?<=parallel )(?P<gpus>\d{1,4})w\b",
        r"\b(?:(?P<way>openmp|omp|mpi|pthreads?|tbb)|omp_num_threads) ?[=:_-]? ?(?P<gpus>\d{1,6})\b",
        r"(?<![^\W_])(?<!multi[ -])(?:np|p|n(?:um)?[ _-]?gpus?|gpus?|ranks?|world(?:[ _-]?size)?|ws|"
        r"nproc(?:_per_node)?|n?procs?|n?workers?|n?threads?|n?tasks|nodes?|n?_?jobs?|parallel) ?[=:_-]? ?"
        r"(?P<gpus>\d{1,6})(?=\b|_)(?![.,]\d)",
        r"(?<![^\W_])n ?[=:_-]? ?(?P<gpus>\d{1,6})(?=\b|_)",
        rf"\b(?P<word>{WORDS})[ -](?:{DEVICE}|{NODE}|{MAKER}*(?P<hardware>{KIND})s?)\b",
        r"\b(?:(?P<way>f?sdp2?|ddp|hsdp|horovod|zero-?[123]?)|mp|dist(?:ributed)?|t) ?[=:_ @/\[-] ?"
        r"(?P<gpus>\d{1,6})\]?$",
        r"\b(?P<way>f?sdp2?|ddp|hsdp|horovod) ?\((?P<gpus>\d{1,6})\)",
        rf"\bmulti[ -]?(?:{DEVICE}|{NODE}) ?\(x? ?(?P<gpus>\d{{1,6}})\)",
        r"(?<=[a-z] )(?P<gpus>\d{1,4})(?-i:t)(?!\w)",
        rf"\b(?:single|{SERIAL_RUN})\b",
    )
)
_JOINT = re.compile(r"(?:^|(?<=[\s(,]))(?:on|with|using|across|over|and)(?: an?| the)?\s*$", re.IGNORECASE)
"""A preposition in front of the devices: `On 16 GPUs`, `DDP with 4 GPUs`."""
_OF_HARDWARE = re.compile(rf"(?<!\w)(?:{DEVICE}|\d{{1,4}} ?gi?b|{MAKER})(?!\w)", re.IGNORECASE)
"""Words behind hardware that say nothing of how it is used: `V100 (16GB) GPUs`."""
_ACCELERATORS = re.compile(rf"\d ?x ?{MAKER}|\d ?x? ?-?(?:gpus?|npus?|tpus?)\b", re.IGNORECASE)
_OF_SEQUENCES = {"ULYSSES", "RING", "PIPEFUSION", "USP"}
"""Degrees that are strategies of their own, also if several are combined."""
_HOST_OF_DEVICES = re.compile(
    r"[,;+&]?\s*\b(?:v?cpus?|host)\s?[:\uff1a]\s?\d+ ?(?:cores?|v?cpus?|threads?)\b", re.IGNORECASE
)
"""The processors of the hosts of accelerators: `8 x A100, CPU: 192 cores`."""
_A_KIND = re.compile(rf"{MAKER}*P(?:40|100|[2-6]000)(?:-PCIe|-SXM2)?")
"""Devices that are called as processes may be: P100."""
_SETTING = re.compile(r"[A-Za-z_]{1,12} ?= ?\d[\d.,]*[kKMB]?|\d{1,4} ?x? ?(?:v?cpus?|cpu cores)", re.IGNORECASE)
"""A setting beside the devices: `p=2, d=5440`, `16 CPU, 1 GPU`."""
_SERVERS = re.compile(
    r"\b(?P<servers>\d{1,4} ?-?(?:ps|param(?:eter)?[ -]servers?)"
    r"(?:[ ,;/&+-]+(?:and |with )?\d{1,6} ?-?workers?(?=.*\d ?x? ?-?gpus?\b))?)\b[ ,;/&+-]*(?:(?:and|with) )?",
    re.IGNORECASE,
)
"""Parameter servers, which hold the parameters of the workers beside them and are no devices."""

_HOW_MANY = re.compile(
    rf"(?:single|one|multi(?:ple)?|several|many|\d{{1,6}})[ -]?(?:{DEVICE}|{NODE})", re.IGNORECASE
)
_OF_SIZE = re.compile(
    rf"{DEVICE}|{NODE}|{SERIAL_RUN}|{WORDS}|(?:x|micro|small|medium|large|metal)+|one|single|multi(?:ple)?|parallel|"
    r"sequential|distributed|local|cluster|baseline|base|total|all|both|half|full|with|on|of|the|and|run|test|exp|config|"
    r"mpi|open ?mp|omp|pthreads?",
    re.IGNORECASE,
)
"""Words of how many devices a run has, or of its place in a list."""


def says_how_many(label: str) -> bool:
    """Return whether a label says nothing but one or several devices or nodes: `Multi-node`."""
    return bool(_HOW_MANY.fullmatch(plain(label)))


def name_without_devices(label: str) -> str:
    """Return the words of a label without numbers and without those of devices: mpi of `MPI-4`, '' of `4 GPUs`."""
    return " ".join(
        word for word in re.findall(r"[^\W\d_]{2,}", plain(label).lower()) if not _OF_SIZE.fullmatch(word)
    )


def count_in_words(text: str) -> Count:
    """Return the devices that a label names among other words: `DDP (8 GPUs)`, `FSDP 2x8`, `single GPU`.

    Raises ValueError if it names none.
    """
    if BEHIND_A_HOST.fullmatch(plain(text)):
        return read_count(text)
    if re.fullmatch(rf"{PERCENTILE}(?:\.\d+)?", plain(text), re.IGNORECASE):
        raise ValueError(f"{text} is a percentile")
    words = in_digits(spelled(plain(text)))
    if _A_KIND.fullmatch(words) or CHANGE.search(words):
        raise ValueError(f"{text} names no number of devices")
    servers = _SERVERS.search(words)
    if servers:
        words = f"{words[: servers.start()]} {words[servers.end() :]}".strip()
    words = _HOST_OF_DEVICES.sub("", words) if _ACCELERATORS.search(words) else words
    if (of_degrees := count_of_degrees(words)) and not re.search(rf"\d ?x? ?-?{DEVICE}\b", words, re.IGNORECASE):
        count, degrees = of_degrees
        count = replace(count, words=" ".join(re.sub(rf"\b\d{{1,4}} ?-?{NODE}\b,?", " ", count.words).split()))
        ways = [kind.upper() for kind, size in degrees.items() if size > 1]
        one = ways[0] if len(ways) == 1 and ways[0] not in count.words.upper().split() else ""
        one = " x ".join(ways) if len(ways) > 1 and {*ways} <= _OF_SEQUENCES else one
        return replace(count, words=" ".join(filter(None, (one, count.words))))
    phrase = phrase_in(words)
    if phrase and phrase.says_more:
        return Count(phrase.gpus, phrase.nodes, phrase.hardware, _bare(phrase.rest), either=phrase.either)
    for form in _IN_WORDS:
        if found := form.search(words):
            parts = found.groupdict()
            named = NUMBERS[word.lower()] if (word := parts.get("word")) else 1
            gpus = int(parts.get("gpus") or parts.get("times") or parts.get("each") or named) * int(
                parts.get("nodes") or parts.get("parts") or 1
            )
            gpus = int(parts["either"]) if parts.get("either") else gpus
            if not 1 <= gpus <= MOST_GPUS:
                break
            before = _JOINT.sub("", words[: found.start()])
            rest = f"{before} {parts.get('way') or ''} {words[found.end() :]}"
            rest = _bare(rest)
            rest = " ".join(_OF_HARDWARE.sub(" ", rest).split()) if parts.get("hardware") else rest
            nodes = int(parts["nodes"]) if parts.get("nodes") else None
            comment = servers["servers"] if servers else ""
            if _SETTING.fullmatch(rest):
                comment, rest = " ".join(filter(None, (comment, rest))), ""
            hardware, either = re.sub(r"(?<=\d)s$", "", parts.get("hardware") or ""), bool(parts.get("either"))
            if not hardware and re.fullmatch(rf"{MAKER}*{KIND}|(?:intel |amd )?cpus?", rest, re.IGNORECASE):
                hardware, rest = rest, ""
            return Count(gpus, nodes, hardware, rest, either=either, comment=comment)
    raise ValueError(f"{text} names no number of devices")


def _bare(rest: str) -> str:
    """The words of a text without brackets and signs between them."""
    return " ".join(re.sub(r"[()\[\],;:/+]|(?<!\w)[-_]|[-_](?!\w)", " ", rest).split())


def count_of_degrees(words: str) -> tuple[Count, dict[str, int]] | None:
    """Return the product of the degrees of parallelism in a text, beside its other words, and each of them.

    None if it has no degree: TP=2/DP=8 tokens/s.
    """
    words = _apart(words)
    degrees = {found["kind"].lower(): int(found["size"]) for found in DEGREES.finditer(words)}
    gpus = prod(degrees.values())
    rest = " ".join(DEGREES.sub(" ", words).split()).strip(" ,;/+x*")
    return (Count(gpus, words=rest), degrees) if degrees and gpus else None


def count_among_words(text: str) -> Count | None:
    """Return the devices that a text names among other words; None if it names none."""
    with suppress(ValueError):
        return count_in_words(text)
    return None


@lru_cache(maxsize=8192)
def count_or_none(text: str, *, alone: bool = False) -> Count | None:
    """Return the devices of a text, also among other words unless alone; None if it names none."""
    for read in (read_count,) if alone else (read_count, count_in_words):
        with suppress(ValueError):
            return read(text)
    return None


def note_on_servers(cells: Iterable[str]) -> list[str]:
    """Return what to say of cells that have parameter servers beside the workers; nothing if none has."""
    found = [cell for cell in cells if _SERVERS.search(plain(cell))]
    named = [cell for cell in found if re.search(DEVICE, _SERVERS.sub("", plain(cell)), re.IGNORECASE)]
    return ["parameter servers are not counted as devices"] if named else []


def names_one(labels: Iterable[str]) -> bool:
    """Return whether one of the labels names one device."""
    for label in labels:
        with suppress(ValueError):
            if count_in_words(label).gpus == 1:
                return True
    return False


def pairs_in(cells: Iterable[str]) -> frozenset[tuple[int, int]]:
    """Return (nodes, devices) of the cells that name both."""
    counts = map(count_or_none, cells)
    return frozenset((count.nodes, count.gpus) for count in counts if count and count.nodes)


def each_node(count: Count, pairs: Collection[tuple[int, int]]) -> Count:
    """Return the devices of `2 nodes, 8 GPUs`: of each node if other cells have as many on other nodes.

    pairs: of the column (pairs_in).
    """
    if not count.either or not count.nodes:
        return count
    alike = len(pairs) > 1 and len({gpus for _, gpus in pairs}) == 1
    alike |= count.nodes > 1 and (1, count.gpus) in pairs  # 2 nodes, 8 GPUs beside 1 node, 8 GPUs
    alike |= any(
        nodes not in (1, count.nodes) and gpus == nodes * count.gpus for nodes, gpus in pairs
    )  # 2N4G, 8N4G
    return replace(count, gpus=count.gpus * count.nodes) if alike else count


def _apart(words: str) -> str:
    """Degrees of parallelism that are written together with a space between them: tp2pp4, DP2xTP2."""
    return re.sub(r"(?<=\d)x?(?=[tpdc]p\d)", " ", words, flags=re.IGNORECASE)
