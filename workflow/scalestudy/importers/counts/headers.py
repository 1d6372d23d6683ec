"""Reads how many devices a header names, and its other words: 8 GPUs, 8 GPU training time, A100 x8, TP2 DP4."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from scalestudy.importers.counts.cells import Count, nodes_by_each
from scalestudy.importers.counts.labels import count_of_degrees
from scalestudy.importers.counts.numerals import NUMBERS, WORDS, in_digits
from scalestudy.importers.counts.phrases import Phrase, phrase_in
from scalestudy.importers.headers.languages import in_english
from scalestudy.importers.headers.terms import DEVICE, GEFORCE, KIND, MAKER, RATED
from scalestudy.importers.headers.terms import NODE as _NODE
from scalestudy.importers.numbers.printed import plain

_KINDS = rf"(?:{KIND}|{GEFORCE})"
_OF_PICTURES = r"(?!(?:144|240|360|480|540|576|720|1080|1440|2160|4320)p\b)"
"""No lines of a picture: 1080p."""
_OF_HARDWARE = (
    re.compile(rf"(?P<gpus>\d{{1,5}}|single|{WORDS}) (?P<rest>{MAKER}*{_KINDS})s?"),
    re.compile(rf"(?P<rest>{MAKER}*{_KINDS}) ?[x*] ?(?P<gpus>\d{{1,5}})"),
    re.compile(rf"(?P<gpus>\d{{1,4}}) ?[x*] ?(?P<rest>{MAKER}*{_KINDS})"),
    re.compile(rf"(?P<rest>{MAKER}*{_KINDS}) ?(?:[(\[] ?|-){_OF_PICTURES}(?P<gpus>\d{{1,5}}) ?p(?:cs?)?[)\]]?"),
)
"""Headers that name hardware and how many of it: 4 V100, A100 x8, Ascend 910 (8p)."""
_TIMES_A_KIND = re.compile(
    rf"(?P<gpus>\d{{1,9}}) ?x? ?(?P<hardware>{MAKER}*{KIND}(?:[ -](?:\d+ ?gb|sxm\d?|pcie|nvl|oam))*) ?"
    r"(?P<rest>[(\[][^()\[\]]*[a-z%/][^()\[\]]*[)\]]|[a-z/]+/s(?:ec)?|fps|tok(?:en)?s?/s)"
)
"""Hardware with its number and a unit: 16x A100 (tok/s)."""
_OF_PROCESSES = re.compile(
    r"(?P<before>(?:mpi|openmp|omp|pthreads?|parallel|threads?)[ _-]?)(?P<gpus>\d{1,5}) ?[pt](?P<rest>\W.*|)"
)
"""Headers with a letter behind the number of processes or threads: MPI-4P (ms), omp 8t."""


_A_KIND = re.compile(rf"(?P<hardware>{MAKER}*{KIND}(?:[ -](?:\d+ ?gb|sxm\d?|pcie|nvl|oam))*)s?")
"""Hardware behind devices: 8 GPUs (A100)."""
PARTS = r"(?:thread|process|core|node|worker|gpu)"
_OF_A_WAY = (
    re.compile(rf"single[- ]?{PARTS}(?:ed|ing)?(?P<rest>\W.*|)"),
    re.compile(
        rf"multi(?:ple)?[- ]?{PARTS}(?:s|ed|ing|es)?,? ?[(\[]? ?(?:x ?|n ?= ?)?(?P<gpus>\d{{1,6}}) ?x? ?"
        rf"(?:{DEVICE}|t)?[)\]]?(?P<rest>\W.*|)"
    ),
    re.compile(
        r"(?P<way>t[_ ]?par|parallel(?: time)?|mpi|openmp|omp|pthreads?|tbb|ddp|fsdp|dp) ?[(\[-]? ?"
        rf"(?:x ?|np? ?= ?)?(?P<gpus>\d{{1,5}}) ?x?(?: ?(?:{DEVICE}|[pt]))?[)\]](?P<rest>\W.*|)"
    ),
    re.compile(
        rf"(?P<way>parallel|mpi|openmp|omp|pthreads?|tbb)[ -](?:x ?|n ?= ?)?"
        rf"(?P<gpus>\d{{1,5}})(?: ?(?:{DEVICE}|t))?(?P<rest> ?[(\[].*|)"
    ),
)
"""Headers of a run on one device, or of a way to run on several: Multi-threaded (8), MPI 4 procs (s)."""


_NODES_BY_A_KIND = re.compile(
    rf"{nodes_by_each()} (?P<hardware>{MAKER}*{KIND}(?:[ -]\d{{1,3}} ?gb)?)s?(?: {DEVICE})?(?P<rest>[ ,(:].*|)"
)
"""Nodes by the hardware of each: 2x4 A100."""
_STEP = re.compile(rf"\d ?(?:->|=>|\u2192|\u2794) ?\d{{1,6}} ?-?{DEVICE}\b")
"""A change from fewer to more devices: Step time, 1 -> 2 GPUs."""


_TIMES_A_RATE = re.compile(r"(?P<gpus>\d{1,4}) ?x (?P<rest>[a-z].*)")
"""A number of devices in front of what was measured: 2x tokens/s."""
_ADDITION = r" ?(?:\+|\bw/|\bwith\b|\busing\b)"
"""Before what a run had beside its devices: 4xV100+UCX."""
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_OR_SEVERAL = re.compile(rf"(?<=\d)( ?-?(?:{DEVICE}|{_NODE}))\(s\)", re.IGNORECASE)
"""One or several: 4 GPU(s)."""
_OVER_DEVICES = re.compile(
    r"(?P<ratio>.*?(?:speed-?up|effic\w*|eff\.).*?),? [(\[]?"
    r"(?:vs\.?|versus|over|relative to|compared (?:to|with)|w\.?r\.?t\.?|from) "
    rf"(?:an? |one |the )?\d* ?x? ?-?(?:{DEVICE}|{_NODE}|{MAKER}*{KIND}s?)[)\]]?(?P<rest>.*)"
)
"""A ratio with the devices that it is relative to: Scaling efficiency (vs 1 GPU)."""
_OF_RUNS = re.compile(r" ?\(\d[\d,]*k? (?:steps|iter(?:ation)?s|epochs|runs|trials)\)$")
"""How long each was measured: `10 nodes (100 steps)`."""


_CPU_ALONE = re.compile(r"cpus? ?[(\[] ?(?:single|sequential|serial) ?(?:[ -]?(?:core|thread)(?:ed)?)? ?[)\]]")
"""A header of one core: `CPU (single)` beside `CPU (16 core)`."""


@lru_cache(maxsize=8192)
def count_of_header(header: str) -> tuple[Count, str] | None:
    """Return the devices that a header names, '8 GPUs' or '8 GPU training time', and its other words."""
    header = _OR_SEVERAL.sub(r"\1s", header)
    words = in_digits(plain(header).lower())
    if over := _OVER_DEVICES.fullmatch(words):
        return count_of_header(f"{over['ratio']} {over['rest']}".strip())
    if _CPU_ALONE.fullmatch(words):
        return count_of_header("CPU (1 core)")
    phrase = phrase_in(words)
    if phrase and phrase.says_more:
        return _of_phrase(phrase)
    found = _count_of(header) or (None if header.isascii() else _count_of(in_english(plain(header).lower())))
    if found and (kind := _A_KIND.fullmatch(_inside(found[1]))) and not found[0].hardware:
        return replace(found[0], hardware=kind["hardware"]), ""
    last = phrase is not None and bool(_IN_BRACKETS.fullmatch(words[max(phrase.start - 1, 0) :].strip()))
    return found or (_of_phrase(phrase) if phrase and last else None)


def _of_phrase(phrase: Phrase) -> tuple[Count, str]:
    """The devices of a phrase within a header, and the header's other words."""
    return Count(phrase.gpus, phrase.nodes, phrase.hardware, either=phrase.either), _inside(phrase.rest)


def _count_of(header: str) -> tuple[Count, str] | None:
    words = _OF_RUNS.sub("", _inside(in_digits(plain(header).lower())))
    if found := re.fullmatch(r"n(?P<nodes>\d{1,4})c(?P<gpus>\d{1,6})(?P<rest>[ ,(:].*|)", words):
        return Count(int(found["gpus"]), int(found["nodes"])), _inside(found["rest"].strip(" :,"))
    if _STEP.search(words):
        return None
    if (
        found := re.fullmatch(
            rf"(?P<nodes>\d{{1,4}}) (?!{DEVICE}\b|{_NODE}\b)(?:[a-z][\w.-]* ){{1,3}}{_NODE}"
            r"(?: ?tp ?(?P<tp>\d{1,4}))?(?P<rest> [(\[].*|)",
            words,
        )
    ) and found["tp"] in (None, found["nodes"]):
        return Count(int(found["nodes"]), int(found["nodes"])), _inside(found["rest"])
    if found := re.fullmatch(
        rf"(?P<nodes>\d{{1,6}}|single|one) ?-?{_NODE}"
        rf"(?: ?\((?P<gpus>\d{{1,6}}) ?x? ?(?:{DEVICE}|(?P<hardware>{_KINDS})s?)\))?"
        rf"(?P<rest> (?:speed-?up|efficiency)| ?\((?!.*\d+ ?(?:x|{DEVICE}|{_KINDS}))[a-z][^()]*\)|)",
        words,
    ):
        nodes = int(found["nodes"]) if found["nodes"].isdecimal() else 1
        return Count(int(found["gpus"] or nodes), nodes, found["hardware"] or ""), _inside(found["rest"])
    if found := re.fullmatch(rf"{nodes_by_each(f' ?-?(?:{_NODE})?')} ?x? ?-?{DEVICE}(?P<rest>\W.*|)", words):
        rest = _inside(found["rest"].strip(" :,-"))
        return Count(int(found["nodes"]) * int(found["each"]), int(found["nodes"])), rest
    if found := _NODES_BY_A_KIND.fullmatch(words):
        count = Count(int(found["nodes"]) * int(found["each"]), int(found["nodes"]), found["hardware"])
        return count, _inside(found["rest"].strip(" :,-"))
    if found := re.fullmatch(
        rf"(?P<nodes>\d{{1,4}}|single|{WORDS}) (?:(?:node|machine),? )?"
        rf"(?P<each>\d{{1,4}})-? ?{DEVICE}(?P<rest> .*|)",
        words,
    ):
        nodes = int(found["nodes"]) if found["nodes"].isdecimal() else NUMBERS.get(found["nodes"], 1)
        return Count(nodes * int(found["each"]), nodes), _inside(found["rest"].strip())
    several = rf"multi(?:ple)?[- ]?{DEVICE} ?[(\[] ?(?:x ?|n ?= ?)?(?P<gpus>\d{{1,6}}) ?x?[)\]]"
    if found := re.fullmatch(rf"{DEVICE} ?x ?(?P<gpus>\d{{1,6}})", words) or re.fullmatch(several, words):
        return Count(int(found["gpus"])), ""
    if found := re.fullmatch(
        r"(?:n|p|np|gpus?|ranks?|world(?:[ _]size)?|ws|devices|workers) ?= ?(?P<gpus>\d{1,6})", words
    ):
        return Count(int(found["gpus"])), ""
    if re.fullmatch(rf"(?:{_NODE}|\d+ ?{_NODE}).*", words) and not re.search(r"time|\bs\b|/", words):
        words = re.sub(rf"^\d+ ?{_NODE} ?[x*,(]* ?(?=\d+ ?{DEVICE})", "", words).strip("()")
    words = re.sub(rf"[ ,(]+(?:\d{{1,4}}|one|single) ?-?{_NODE}\)?(?=$| speedup$| efficiency$)", "", words)
    if found := re.fullmatch(rf"(?P<rest>.+?) ?\((?P<gpus>\d{{1,5}}) ?x ?(?P<hardware>{_KINDS})\)", words):
        return Count(int(found["gpus"]), hardware=found["hardware"]), found["rest"]
    if found := re.match(rf"(?P<word>{WORDS}) ?-?{DEVICE}\b[ :,-]*(?P<rest>.*)", words):
        return Count(NUMBERS[found["word"]]), _inside(found["rest"])
    if found := re.fullmatch(rf"(?P<word>{WORDS}) ?-?{_NODE} (?P<rest>.*[a-z].*)", words):
        number = NUMBERS[found["word"]]
        return Count(number, number), _inside(found["rest"])
    for form in _OF_A_WAY:
        if found := form.fullmatch(words):
            way, rest = (found.groupdict().get(name) or "" for name in ("way", "rest"))
            return Count(int(found.groupdict().get("gpus") or 1)), " ".join(filter(None, (way, _timed(rest))))
    found = re.match(rf"(?:single|(?P<gpus>\d{{1,9}}) ?[x*]?) ?-?{DEVICE}\b[ :,-]*(?P<rest>.*)", words)
    if found:
        return Count(int(found["gpus"] or 1)), _inside(found["rest"])
    if found := _OF_PROCESSES.fullmatch(words):
        before = found["before"].strip(" -_")
        return Count(int(found["gpus"])), " ".join(filter(None, (before, _timed(found["rest"]))))
    if found := re.fullmatch(
        rf"(?P<rest>.+?)[ (\[@,:-]+(?:on |with )?(?P<gpus>\d{{1,9}}) ?"
        rf"(?:[x*]? ?{DEVICE}|[x*] ?{MAKER}*{KIND}s?)[)\]]?"
        r"(?P<unit> ?(?:[(\[][^()\[\]]{1,12}[)\]])?)",
        words,
    ):
        rest = re.sub(r"(?:^|(?<= ))(?:on|with|using|at|for)$", "", found["rest"]).strip()
        unit = _timed(found["unit"]) if "time" not in rest else found["unit"].strip()
        return Count(int(found["gpus"])), f"{rest} {unit}".strip()
    if (found := _TIMES_A_RATE.fullmatch(words)) and re.search(rf"{RATED}|\btime\b", found["rest"]):
        return Count(int(found["gpus"])), found["rest"]
    if found := _TIMES_A_KIND.fullmatch(words):
        return Count(int(found["gpus"]), hardware=found["hardware"]), _inside(found["rest"])
    if found := re.fullmatch(r"(?P<gpus>\d{1,9}) ?x ?(?P<rest>(?:nvidia )?[a-z]{1,4}-?\d.*)", words):
        kind = re.split(_ADDITION, found["rest"], maxsplit=1)[0]
        return Count(int(found["gpus"]), hardware=kind), found["rest"][len(kind) :].strip()
    if found := re.fullmatch(
        rf"(?P<gpus>\d{{1,4}}) ?x ?(?P<hardware>{GEFORCE}) ?[(\[](?P<rest>[^()]+)[)\]]", words
    ):
        return Count(int(found["gpus"]), hardware=found["hardware"]), found["rest"]
    for form in _OF_HARDWARE:
        if found := form.fullmatch(words):
            gpus = int(found["gpus"]) if found["gpus"].isdecimal() else NUMBERS.get(found["gpus"], 1)
            return Count(gpus, hardware=found["rest"]), ""
    count, degrees = count_of_degrees(words) or (Count(0), {})
    return (Count(count.gpus), _inside(count.words)) if len(degrees) > 1 else None


def _timed(rest: str) -> str:
    """The words behind devices, with `time` in front of a unit of time alone."""
    rest = rest.strip(" :,-")
    return f"time {rest}" if re.fullmatch(r"[(\[,]? ?(?:[num]?s|secs?|seconds|min|h)[)\]]?", rest) else rest


def _inside(words: str) -> str:
    """Words without brackets around all of them."""
    words = words.strip()
    return _inside(words[1:-1]) if words[:1] in ("(", "[") and words[-1:] in (")", "]") else words
