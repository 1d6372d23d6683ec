"""Reads how many devices a cell or a header names: 8, 8x V100, 2 nodes x 4 GPUs, 1 (baseline)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod

from scalestudy.importers.counts.facts import KNOWN
from scalestudy.importers.counts.instances import devices_of_instance, family_of_instance
from scalestudy.importers.counts.numerals import NUMBERS, WORDS, figure_of, in_digits, spelled
from scalestudy.importers.counts.phrases import BEHIND_A_HOST, phrase_in
from scalestudy.importers.headers.languages import in_english
from scalestudy.importers.headers.terms import (
    ALONE,
    DEVICE,
    GEFORCE,
    HARDWARE,
    KIND,
    LINK,
    MAKER,
    OF_WHAT,
    PERCENTILE,
    PRECISIONS,
    SERIAL_RUN,
    STRATEGIES,
)
from scalestudy.importers.headers.terms import NODE as _NODE
from scalestudy.importers.numbers.printed import plain

MOST_GPUS = 10**8
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,9}|\d{1,30})"
"""A whole number. `4,5` is none: it names two devices."""


def nodes_by_each(of_nodes: str = "") -> str:
    """Return the pattern of nodes times the devices of each, `2 x 8`, as the groups `nodes` and `each`.

    of_nodes: pattern of a word behind the number of nodes.
    """
    return rf"(?P<nodes>\d{{1,9}}){of_nodes} ?[x*\u00d7] ?\(?(?P<each>\d{{1,9}})"


PARTS_BY_EACH = (
    r"(?P<split>(?P<parts>\d{1,6}) ?"
    r"(?:mpi|(?:mpi )?(?:ranks?|proc(?:ess(?:es)?|s)?|tasks?)|sockets?|cpus?|workers?|executors?)) ?"
    r"(?:[x*]|(?:with|of|[,(]) ?(?=.*(?:each|/|per))) ?(?P<each>\d{1,6}) ?"
    rf"(?:omp|{OF_WHAT}?{DEVICE})(?: each| ?(?:/|per) ?[a-z]+)?\)?"
)
"""Devices of each of several parts that are no nodes: `4 MPI ranks x 8 OpenMP threads`, `2 sockets x 32 cores`."""
CHANGE = re.compile(r"(?<![\w.])\d{1,6} ?(?:->|=>|\u2192|\u2794) ?\d{1,6}(?![\d.])")
"""From how many devices to how many: 64 -> 2048 GPUs."""
_OF_NODES = rf" ?[x*] ?(?P<nodes>\d{{1,6}}) ?-?{_NODE}"
"""A factor behind the devices of each node."""
_FORMS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"(?P<gpus>\d{{1,4}}) ?[x*] ?(?P<rest>{GEFORCE}(?:\W.*)?)",
        rf"(?P<rest>{MAKER}*{KIND})[_-]x(?P<gpus>\d{{1,4}})",
        rf"{nodes_by_each(rf' ?(?:{_NODE}|n)?')} ?-? ?(?:{DEVICE}|g)?(?P<rest>\W.*|)",
        r"(?P<nodes>\d{1,4}) ?n ?(?P<either>\d{1,6}) ?[gc]",
        rf"(?:(?P<rest>{MAKER}*{KIND}) ?[-*x_ ] ?)?n(?P<nodes>\d{{1,4}})c(?P<gpus>\d{{1,6}})",
        r"n(?P<nodes>\d{1,4})[-_]?g(?P<each>\d{1,4})",
        r"(?P<nodes>\d{1,4}) ?[mn] ?/ ?(?P<either>\d{1,6}) ?g",
        rf"(?P<nodes>\d{{1,9}}) ?{_NODE} ?\(? ?(?P<gpus>\d{{1,9}}) ?[x*]? ?{OF_WHAT}?{DEVICE} ?\)?(?P<rest>.*)",
        PARTS_BY_EACH,
        rf"(?P<nodes>\d{{1,4}}) (?!{DEVICE}\b)(?P<rest>[A-Za-z][\w.-]{{0,30}}) {_NODE} ?[(,] ?"
        rf"(?P<gpus>\d{{1,6}}) ?{DEVICE}\)?",
        rf"(?!\d{{1,6}} ?{DEVICE}\b)"
        r"(?:\d{1,4} ?x? ?)?(?P<front>[a-z][a-z0-9 .-]*)"
        rf"\((?P<gpus>\d{{1,6}}) ?x? ?(?:{DEVICE}|(?P<rest>{HARDWARE}|[tlpk]\d\d?)s?)\)",
        rf"(?P<gpus>\d{{1,9}}) ?[x*]? ?-?{DEVICE},? (?:spread |split )?(?:across|on|over|in) "
        rf"(?:(?P<nodes>\d{{1,6}})|(?:an? )?(?:one|single)|an?) ?-?{_NODE}(?P<rest>\W.*|)",
        rf"(?P<each>\d{{1,6}}) (?P<rest>[A-Za-z][\w-]{{0,30}}?)(?: ?[x*] ?(?P=each))?{_OF_NODES}",
        rf"(?P<gpus>\d{{1,6}}) (?!{DEVICE}\b)"
        rf"(?P<rest>[A-Za-z][\w. -]{{0,30}}?)(?<! x \d)(?<! x \d\d) {_NODE}(?: ?\([^()]*\)|(?!\w))",
        r"(?P<nodes>\d{1,4}) ?x ?(?:cloud )?(?:tpu[ -]?)?v(?!4|5p)\d\w*-(?P<each>\d{1,5})",
        r"(?:(?P<slices>\d{1,4}) ?x ?)?(?:cloud )?(?:tpu[ -]?)?v(?:4|5p)-(?P<cores>\d{1,5})",
        r"(?:cloud )?(?:tpu[ -]?)?(?P<rest>v\d\w*)-(?P<gpus>\d{1,5})",
        r"2 ?\^ ?(?P<power>\d{1,2})",
        rf"(?:(?:x|n|cpu|{DEVICE}) ?[=:_x*-]?|np? ?=|p ?=|m ?=) ?(?P<gpus>\d{{1,9}})",
        r"-j ?(?P<gpus>\d{1,4})",
        rf"(?P<gpus>\d{{1,6}}) ?(?!x)(?P<rest>{HARDWARE})",
        rf"(?P<word>{WORDS})[ -]?(?:{DEVICE}|{_NODE}|(?P<rest>{MAKER}*{KIND})s?)?",
        rf"(?P<gpus>{_NUMBER}) ?[x*]? ?-?{OF_WHAT}?{DEVICE}\b(?P<rest>.*)",
        rf"(?P<gpus>{_NUMBER}) ?[x*] ?(?P<rest>[a-z].*)",
        r"(?P<gpus>\d{1,9}) ?x ?(?P<rest>\(.*\)|)",
        r"(?P<rest>[a-z][\w -]*?(?<! \d)(?<! \d\d)(?:(?<=[\d\s])|(?<=\dg)|(?<=\dgb))) ?[x*] ?(?P<gpus>\d{1,9})",
        rf"(?P<gpus>{_NUMBER}) (?!.*{_OF_NODES})(?P<rest>(?:nvidia |amd |tesla )?"
        r"(?:v|a|h|p|t|k|l|b|mi|rtx|gtx|gb|gh)-?\d.*)",
        rf"(?P<gpus>{_NUMBER}) (?P<rest>(?:nvidia|amd|intel|rtx|gtx|quadro|tesla|gaudi|instinct|xpu|ipu)\b.*)",
        rf"(?P<gpus>{_NUMBER}(?:\.0+)?) ?(?P<rest>\(.*\)|)",
        r"\((?P<grid>\d{1,6}(?: ?, ?\d{1,6}){1,3})\)",
        rf"(?P<single>single|one|{SERIAL_RUN})[ -]?(?:{DEVICE}|{_NODE}|threaded)?(?P<rest>\W.*|)",
    )
)
_TIMES = r" ?[x*\u00d7] ?"
_TOPOLOGY = re.compile(
    rf"(?P<factors>\d{{1,5}}(?:{_TIMES}\d{{1,5}}){{1,3}}{_TIMES}(?!{GEFORCE})\d{{1,5}})"
    r"(?: ?= ?\d+)?(?: ?\([^()]*\))?",
    re.IGNORECASE,
)
"""Three factors or more of the devices, such as the processes in each direction of a grid: 2 x 2 x 2."""
_SUM = re.compile(r"\s+\+\s+")
_PLACED = re.compile(r"(?<!\w)(\d{1,6})[a-z]? ?[x*/] ?(\d{1,6})[a-z]?$", re.IGNORECASE)
"""Where devices are, behind their number: `16 GPUs -- 2M/8G`."""
_NO_HARDWARE = re.compile(
    rf"[\W\d]*(?:(?:{DEVICE}|{_NODE}|base(?:line)?|single|multi|ref(?:erence)?|total|x|per|s)\b[\W\d]*)*",
    re.IGNORECASE,
)


_SETTING = re.compile(
    r"[\d,.]+[kM]? (?:\w+ )?(?:steps?|epochs?|iter(?:ation)?s?|envs?|environments?|samples?|batch(?:es)?|images?|"
    r"tokens?|files?|rows?|runs?|trials?|jobs?|users?|clients?|layers?|params?|atoms?|particles?|cells?)",
    re.IGNORECASE,
)
"""A number of something else behind the devices, which is no hardware: `900 steps`."""
_PERCENTILE = re.compile(PERCENTILE, re.IGNORECASE)
_LINK = re.compile(rf"(?:via |with |over |on )?(?:{LINK}|pci|ib|efa)\b[\w .-]{{0,12}}", re.IGNORECASE)
"""How devices are connected: `4 GPUs, NVLink`."""
_WAY = re.compile(rf"(?:(?:{STRATEGIES.pattern}|{'|'.join(PRECISIONS.values())})(?:\W+|$))+", re.IGNORECASE)
"""Ways to train: `DDP - fp16 AMP`."""
_BACKEND = re.compile(r"(?:with |over )?(?:nccl|rccl|hccl|gloo|mpi|ucc)(?: backend)?", re.IGNORECASE)
"""The library of the communication: `2 GPUs, gloo`."""
_SHORTEST_NAME = 1
"""Letters in front of devices that may be those of a legend: `A (1 GPU)`."""
_DATA_PARALLEL = "DP"
_WAY_BEHIND = re.compile(rf"(?P<kind>\w.*?)[ ,+-]+(?P<way>{STRATEGIES.pattern})", re.IGNORECASE)
"""The strategy behind the hardware: `A100 DDP`."""
SIZE_OF_A_MODEL = re.compile(r"~?\d{1,4}(?:\.\d+)?[BbM]")
"""The size of a model by its parameters: 7B, 1.3B, 480M."""
_OF_ONE_NODE = re.compile(rf"\b(\d{{1,6}}) ?-?(?:{DEVICE}|{_NODE})\b", re.IGNORECASE)
"""The devices behind `single node`."""
_SEVERAL = rf"(?:\d{{1,6}}|{WORDS}|single)"
_ON_WHOLE_NODES = re.compile(rf"(?:on )?({_SEVERAL})[ -]?{_NODE}", re.IGNORECASE)
"""The nodes of the devices in front of it: `16 V100s (4 nodes)`."""
_NO_KIND = re.compile(
    rf"^\d{{1,5}}[ -]?{_NODE},? |\b(?:nccl|gloo|mpi|wsl\d?|windows|linux|docker)\b|"
    r"^(?:part|step|run|exp(?:eriment)?|section|fig|figure|table|phase|stage|config(?:uration)?|case) ?\d+$",
    re.IGNORECASE,
)
"""What in brackets is no kind of hardware: `16 (2-node, sockets)`, `2x A100 (WSL2 NCCL)`, `4 GPUs (Part 2)`."""


@dataclass(frozen=True)
class Count:
    """Number of devices, with the nodes and the hardware in the same cell."""

    gpus: int
    nodes: int | None = None
    hardware: str = ""
    words: str = ""
    """Other words of the cell, such as the strategy of `DDP, 8 GPUs`."""
    either: bool = False
    """Whether the devices may also be those of each node: 2N8G."""
    comment: str = ""
    """Words in brackets, which tell rows apart if nothing else does: `2 GPUs (NVLink)`."""
    model: str = ""
    """Size of the model in the same cell: `2 GPUs 7B`."""


def read_count(text: str) -> Count:
    """Return the devices of a cell. Raises ValueError if it has no whole number from 1 to MOST_GPUS."""
    if driven := BEHIND_A_HOST.fullmatch(plain(text)):
        count, host = read_count(driven["gpus"]), driven["host"]
        return replace(count, words=host) if "process" in host.lower() else replace(count, comment=host)
    words = re.sub(r"(?<=\w) ?\[([^\[\]]*)\]$", r" (\1)", in_digits(spelled(plain(text))))
    if CHANGE.search(words):
        raise ValueError(f"{text} names two numbers of devices")
    if (phrase := phrase_in(words)) and phrase.is_whole(words) and phrase.says_more:
        return Count(phrase.gpus, phrase.nodes, phrase.hardware, either=phrase.either)
    words = _in_figures(words)
    if topology := _TOPOLOGY.fullmatch(words):
        return _in_range(Count(prod(int(factor) for factor in re.findall(r"\d+", topology["factors"]))))
    if several := _sum_of_kinds(words):
        return several
    found = _form_of(words) or _form_of(in_english(words.lower()))
    if not found:
        raise ValueError(f"{text} is not a number of devices")
    count = _numbers_of(found.groupdict())
    if phrase and phrase.says_more and not (phrase.either or count.either) and phrase.gpus != count.gpus:
        raise ValueError(f"{text} names devices among other words")
    named = found.groupdict()
    return _with_words(_in_range(count), named.get("rest") or "", (named.get("front") or "").strip())


def _in_range(count: Count) -> Count:
    if not 1 <= count.gpus <= MOST_GPUS:
        raise ValueError(f"{count.gpus} is not a whole number from 1 to {MOST_GPUS}")
    return count


def _in_figures(words: str) -> str:
    """Numbers such as 1e3, 2k and 1 024 in figures, and a serial run without brackets."""
    if re.fullmatch(r"[1-9](?:\.\d+)?e\+?\d{1,2}", words) and float(words).is_integer():
        words = str(int(float(words)))
    if thousands := re.fullmatch(r"([1-9]\d{0,3}(?:\.\d)?) ?([kKM])", words):
        words = str(round(float(thousands[1]) * (1e6 if thousands[2] == "M" else 1e3)))
    words = words.replace(" ", "") if re.fullmatch(r"[1-9]\d{0,2}(?: \d{3})+", words) else words
    return words[1:-1] if re.fullmatch(rf"\({SERIAL_RUN}\)", words, re.IGNORECASE) else words


def _sum_of_kinds(words: str) -> Count | None:
    """The devices of two kinds, 2x V100 + 2x A100 or 8 + 4; None for others."""
    parts = _SUM.split(words)
    if len(parts) > 1 and all(re.match(r"\d{1,9} ?x", part) for part in parts):
        return Count(sum(read_count(part).gpus for part in parts), hardware=words)
    if len(parts) > 1 and all(re.fullmatch(KNOWN, part, re.IGNORECASE) for part in parts):
        return Count(len(parts), hardware=words)  # RTX 3090 + RTX 5070 Ti
    cores = re.fullmatch(r"(\d{1,6}) ?\+ ?(\d{1,6})", words)
    return Count(int(cores[1]) + int(cores[2])) if cores else None


def _numbers_of(named: dict[str, str | None]) -> Count:
    """The devices and nodes of a form, without its words."""
    own = named.get("gpus") or named.get("either")
    if grid := named.get("grid"):
        own = str(prod(int(side) for side in re.findall(r"\d+", grid)))
    if named.get("single"):
        inner = _OF_ONE_NODE.search(named.get("rest") or "")
        own = inner[1] if inner else "1"
    if word := named.get("word"):
        own = str(NUMBERS[word.lower()])
    if power := named.get("power"):
        own = str(2 ** int(power))
    if cores := named.get("cores"):  # the names of these TPUs count cores; a program sees chips, of two cores each
        own = str(int(cores) // 2 * int(named.get("slices") or 1))
    nodes = int(named["nodes"] or 0) if named.get("nodes") else None
    times = nodes or int(named.get("parts") or 1)
    gpus = int(named.get("each") or 0) * times if own is None else int(float(own.replace(",", "")))
    if nodes and own is not None and gpus < nodes:  # of each: 2 nodes, 1 GPU
        return Count(gpus * nodes, nodes)
    return Count(gpus, nodes, either=bool(named.get("either")), comment=named.get("split") or "")


def _with_words(count: Count, whole: str, front: str) -> Count:
    """The devices with what the words behind them and in front of them are: hardware, a strategy, a remark."""
    gpus, nodes = count.gpus, count.nodes
    bracketed = whole.strip().startswith("(")
    rest, _, inside = whole.partition("(")
    inside, _, after = inside.partition(")")
    if (pair := re.fullmatch(nodes_by_each(), inside)) and int(pair["nodes"]) * int(pair["each"]) == gpus:
        nodes, inside = int(pair[1]), ""
    if (placed := _ON_WHOLE_NODES.fullmatch(inside)) and (several := figure_of(placed[1])):
        nodes, inside = (several, "") if gpus % several == 0 else (nodes, inside)
    if str(gpus) in inside:
        again = re.fullmatch(rf"{gpus} ?x? ?-?{DEVICE}(?: (?:on|across|over|in)\b.*)?", inside, re.IGNORECASE)
        inside = "" if again else inside
    if (pair := _PLACED.search(rest)) and int(pair[1]) * int(pair[2]) == gpus:
        nodes, rest = int(pair[1]), rest[: pair.start()]
    is_kind = bool(re.match(rf"{MAKER}*{KIND}\b", inside, re.IGNORECASE)) and not rest.strip()
    rest, inside = (inside, "") if is_kind else (rest, inside)
    numbered = bool(re.search(r"\d", inside)) and not _NO_KIND.search(inside)
    whole = inside if whole.strip() == f"({inside})" else whole
    rest = f"{rest.strip()} {after.strip()}" if not numbered else whole
    rest = DEGREES.sub("", rest).strip(" ,;:/-\u2013\u2014")
    kind, _, last = rest.partition(", ")
    rest, said_last = (kind, last) if STRATEGIES.match(last) or last.lower() in ALONE else (rest, "")
    settings = ""
    if _SETTING.fullmatch(rest) or _LINK.fullmatch(rest):
        settings, rest = rest, ""
    of_no_device = any(form.fullmatch(rest) for form in (_PERCENTILE, _NO_HARDWARE))
    bare = of_no_device and not re.fullmatch(GEFORCE, rest, re.IGNORECASE)
    rest = "" if bare else re.sub(r"(?<=\d)s$", "", rest.strip(" ,;"))
    said = "" if _NO_HARDWARE.fullmatch(inside) or numbered else inside.strip()
    inside_way = said if STRATEGIES.search(said) or said == _DATA_PARALLEL else ""
    if re.fullmatch(rf"{MAKER}*{KIND}|cpus?", front, re.IGNORECASE):
        rest, front = rest or front, ""
    other = _is_no_hardware(rest)
    front = front if len(front) > _SHORTEST_NAME else ""
    way = " ".join(filter(None, (front, said_last, inside_way, rest if other else "")))
    comment = " ".join(filter(None, (count.comment, settings, "" if way.startswith(said) else said)))
    if behind := _WAY_BEHIND.fullmatch(rest):
        rest, way = behind["kind"], " ".join(filter(None, (behind["way"], way)))
    model, hardware = (rest, "") if SIZE_OF_A_MODEL.fullmatch(rest) else ("", "" if other else rest)
    if bracketed and devices_of_instance(hardware) == gpus:  # 4 (g4dn.12xlarge) beside 1 (g4dn.xlarge)
        hardware = family_of_instance(hardware)
    return replace(count, nodes=nodes, hardware=hardware, words=way, comment=comment, model=model)


def _is_no_hardware(rest: str) -> bool:
    """Whether the words behind devices are a way to train, the library of the communication or an addition."""
    ways = STRATEGIES.match(rest) or (rest and _WAY.fullmatch(rest)) or rest == _DATA_PARALLEL
    return rest.startswith("+") or bool(ways) or bool(_BACKEND.fullmatch(rest))


def _form_of(words: str) -> re.Match[str] | None:
    return next((found for form in _FORMS if (found := form.fullmatch(words))), None)


_SHARDS = r"f?sdp(?=[ =:-]?\d{1,5}\W{1,3}(?:tp|pp|cp)[ =:-]?\d)"
"""Fully sharded data parallelism in front of another degree: FSDP 4, CP 2."""
DEGREES = re.compile(
    rf"(?<![a-z])(?P<kind>tp|pp|dp|cp|ulysses|ring|pipefusion|usp|{_SHARDS})"
    r"(?:[ _=:-]?|\((?=\d+\)))(?P<size>\d{1,5})(?![\d.])\)?",
    re.IGNORECASE,
)
