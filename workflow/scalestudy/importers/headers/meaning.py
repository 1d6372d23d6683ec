"""Says what a column of a scaling table is, from its header, as people write headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from scalestudy.importers.headers.batches import OF_A_BATCH, batch_of, without_batches_of_each
from scalestudy.importers.headers.devices import is_of_devices, nodes_of
from scalestudy.importers.headers.languages import in_english
from scalestudy.importers.headers.ratios import ratio_of
from scalestudy.importers.headers.scalings import scaling_of_header
from scalestudy.importers.headers.spelling import spelled_out
from scalestudy.importers.headers.terms import (
    DEVICE,
    IDEAL,
    IN_CAMEL_CASE,
    LABELS,
    MICRO_BATCHES,
    NEVER,
    NODE,
    OF_A_PART,
    OF_ALL,
    PER_DEVICE,
    PRECISIONS,
    RATED,
    RELATIVE,
    SECOND,
    SPREAD,
    STEP,
    TIME_STEPS,
    TIME_UNIT,
    TIMED,
    UNIT_OF_TIME,
    WORK,
)
from scalestudy.importers.headers.times import time_of
from scalestudy.importers.headers.units import (
    in_its_unit,
    rate_shown,
    rest_of,
    share_of_a_step,
    unit_of_work,
    unit_part,
)
from scalestudy.importers.numbers.printed import PICTURE, plain

ROLES = (
    *("gpus", "nodes", "gpus_per_node", "batch_per_gpu", "global_batch", "batch", "accumulation"),
    *("throughput", "throughput_per_gpu", "steps_per_s", "step_time_ms", "step_time_s", "total_time_s", "time_s"),
    *("serial_time_s", "printed_speedup", "printed_efficiency", "scaling_ratio", "precision_ratio"),
    *("throughput_unit", "scaling", "case", "strategy", "model", "hardware", "framework", "precision", "label"),
    "ignore",
)
"""What a column can be. `--column HEADER=ROLE` takes these names."""
TEXTS = ("throughput_unit", "scaling", "case", "strategy", "model", "hardware", "framework", "precision", "label")
"""Roles whose cells are words."""
IN_WORDS, IDS, INSTANCES = "in words", "ids", "instances"
"""How cells say the number of devices: in words, as a list of ids, or as instances of a cloud."""
PART = "part"
"""What a time is of, beside that of the whole."""


@dataclass(frozen=True)
class Meaning:
    """What a column is. `role` is one of ROLES."""

    header: str
    role: str
    per: str = ""
    """'gpu' or 'all' for a batch or a throughput that says so; IN_WORDS, IDS or INSTANCES for devices;
    PART for a time."""
    unit: str = ""
    """Unit of work, or of time (one of SECONDS), as far as the header states it."""
    factor: float = 1.0
    """What the header multiplies its numbers by: 1000 for k tokens/s."""
    precisions: tuple[str, ...] = ()
    """Precisions that the header names, in its order."""
    scaling: str = ""
    """'weak' or 'strong' if the header says so."""
    rest: str = field(default="", compare=False)
    """Words of the header that tell it from another column of the same role."""
    shown: str = field(default="", compare=False)
    """The unit of a rate in the letters of the header, for what is printed."""


_OF_A_PROGRAM = r"^p (?:whole|train|core)$"
_RATE = re.compile(
    rf"throughput|{_OF_A_PROGRAM}|^rates?$|(?<!-)\b(?:training )?(?:speed|performance|perf)\b(?! ?up| at step)|"
    r"(?:generation|processing|inference|training|sampling|decod\w+|prefill|event|token|frame) rate\b|"
    r"^(?:\w+ )?rate \(.+/"
)
_SETTINGS = re.compile(
    r"\([^()]*\d [a-z]+, ?\d+ [a-z]+[^()]*\)|(?<=\w) ?\((?:batch(?: ?size)?|bsz?) ?[=:]? ?\d+\)"
)
"""Several settings in brackets, or a batch: (129 frames, 50 steps)."""
_SWITCH = re.compile(
    r"(?:use|using|is|has|enabled?|enables)[ _](?!number)|(?:change|gain|delta|\u03b4) (?:from|over|vs\.?) "
    r"(?!(?:1|one|an?|(?:an? |the )?(?:single|base(?:line)?|serial))\b)"
)
"""Beginning of the header of a setting that is on or off, use_gpu, or of a change: Change from batch 1,024."""
_IN_STEP = re.compile(
    rf"\ba?sync(?:hronous)? (?:(?:sgd|training|updates?) )?[(\[]?(?=(?:{WORK}|{STEP}) ?{SECOND})"
)
"""The kind of training in the header of a rate, which is no part of a step: Sync steps/s."""
_RATIO_OF = re.compile(r"(.+?) ?(?: x|\(x\)|\[x\])")
"""Headers of the ratio of a measurement: `nps ×`, `Throughput (x)`."""
_MEASURED = ("throughput", "throughput_per_gpu", "steps_per_s", "step_time_s", "total_time_s", "time_s")
NAMELESS = "(no header)"
"""The name of a column without a header, in what is printed and in what the user says."""


@lru_cache(maxsize=8192)
def normal(header: str) -> str:
    """Return a header in lower case, with underscores as spaces and signs as words."""
    if header.strip() == NAMELESS:
        return ""
    words = IN_CAMEL_CASE.sub(" ", re.sub(rf"^{PICTURE}|{PICTURE}$", "", plain(header)))
    text = re.sub(r"[_\s]+", " ", spelled_out(in_english(words.lower())).replace("#", " # ")).strip(" :")
    text = re.sub(r"(?<=[a-z])-per-(?=[a-z])", " per ", text)
    text = re.sub(r"\bsecond (?=(?:epoch|run|pass|trial|phase|stage|half)\b)", "2nd ", text)
    text = re.sub(r" ?/ ?1$|(?<=[a-z)]) ?\[[\da-c]\d?\]$", "", text)  # without a unit: N / 1; a footnote
    text = re.sub(r"(?<=[a-z\d)]) ?= ?[(a-z][^=/]{0,11}/[^=/]{1,12}$", "", text)  # a formula: S_p = T_1 / T_p
    text = re.sub(r"(?<=[a-z]) ?- ?(?=(?:fp|tf|bf)\d\d|mixed)", " - ", text)
    text = re.sub(rf"\b({DEVICE}|{NODE})\(s\)", r"\1s", text)
    text = in_its_unit(text)
    text = re.sub(r"[ \u00b7.]s ?(?:\^?\{?\(?-1\)?\}?|\u207b)(?!\w)", "/s", text)
    return re.sub(r"^(?:reported|published|printed|measured|claimed|avg\.?|average|mean|median)\b ?", "", text)


@lru_cache(maxsize=8192)
def meaning_of(header: str) -> Meaning:
    """Return what a header says that its column is; role `ignore` if nothing here knows it."""
    text = normal(header)
    precisions = _precisions(text)
    bare = _SETTINGS.sub(" ", text)
    for pattern in PRECISIONS.values():
        bare = re.sub(pattern, " ", bare)
    own = without_batches_of_each(bare)
    if own == bare or (role := _role(text, own, precisions)) in ("ignore", "label"):
        own, role = bare, _role(text, bare, precisions)
    if role == "label" and re.match(r"E_?\{?[pn]\}?(?:$|,? ?[(\[]?%|\s*[=(])", plain(header)):
        role = "printed_efficiency"  # not EP
    per = "gpu" if PER_DEVICE.search(own) else "all" if OF_ALL.search(own) else ""
    unit, factor = "", 1.0
    if role in ("step_time_s", "total_time_s", "time_s"):
        unit = next((name for name, pattern in UNIT_OF_TIME.items() if re.search(pattern, unit_part(bare))), "")
        factor = share_of_a_step(bare) if role == "step_time_s" else 1.0
    elif role in ("throughput", "steps_per_s"):
        unit, factor = unit_of_work(bare)
    if role == "throughput":
        of_steps = re.fullmatch(rf"{STEP}/s", unit)  # DDP it/s
        role = "throughput_per_gpu" if per == "gpu" else "steps_per_s" if of_steps else role
    scaling = scaling_of_header(text) if role != "scaling" else ""
    shown = rate_shown(plain(header))
    return Meaning(header, role, per, unit, factor, precisions, scaling, rest_of(bare), shown)


def never_a_label(header: str) -> bool:
    """Return whether a header is of a result beside the scaling, such as memory, accuracy or cost."""
    return bool(NEVER.search(normal(header)))


def is_utilization(header: str) -> bool:
    """Return whether a header is of the used share of the peak FLOP/s; a rate per device is proportional to it."""
    return bool(re.search(r"\b[mh]fu\b|model flops? util|% ?of (?:theor\w* )?peak", normal(header)))


def is_relative(header: str) -> bool:
    """Return whether a header is of numbers relative to something: Factor, Relative, Improvement."""
    text, letter = normal(header), re.fullmatch(r"[SE](?:,? ?[(\[]?%[)\]]?)?", plain(header))
    return bool(letter or (RELATIVE.search(text) and not NEVER.search(text)))


def place_of_devices(meanings: Sequence[Meaning]) -> int | None:
    """Return the place of the first column of devices or nodes; None if there is none."""
    return next((place for place, one in enumerate(meanings) if one.role in ("gpus", "nodes")), None)


def with_role(meanings: Sequence[Meaning], place: int, role: str, **changes: Any) -> list[Meaning]:
    """Return the meanings of all columns, of which one has another role."""
    return [*meanings[:place], replace(meanings[place], role=role, **changes), *meanings[place + 1 :]]


def _precisions(text: str) -> tuple[str, ...]:
    places = [(found.start(), name) for name, pattern in PRECISIONS.items() if (found := re.search(pattern, text))]
    return tuple(name for _, name in sorted(places))


def _role(text: str, bare: str, precisions: tuple[str, ...]) -> str:
    """The role, from the most particular words to the least."""
    exact = text.replace(" ", "_")
    if exact in ROLES and exact not in ("scaling", "batch", "label", "time_s"):
        return exact
    if re.fullmatch(
        rf"(?:(?:t ?[pn\d]?|par\.?|perf(?:ormance)?|speed) ?[(\[/]|seq\.? ?[(\[]|t,) ?(?:{TIME_UNIT}|h) ?[)\]]?",
        text,
    ):
        return "time_s"
    if label := _label(text):
        return label
    if _SWITCH.match(text):
        return "ignore"
    if SPREAD.search(bare) or TIME_STEPS.fullmatch(bare):
        return "ignore"
    if MICRO_BATCHES.fullmatch(bare):
        return "accumulation"
    if re.search(r"accum|update ?freq|\bgas\b|grad\w* steps|grad\w*[ .-]?acc", bare) or bare == "ga":
        return "accumulation"
    if re.match(rf"{IDEAL}\b", bare) and re.search(
        rf"\btime\b|seconds?|[(\[](?:{TIME_UNIT}|h|hours?|days?)[)\]]|{WORK} ?{SECOND}", bare
    ):
        return "ignore"
    if ratio := ratio_of(text, bare, precisions):
        return ratio
    if (of_what := _RATIO_OF.fullmatch(text)) and _role(of_what[1], of_what[1], precisions) in _MEASURED:
        return "printed_speedup"
    if re.search(rf"^(?:(?:train|eval|test) )?(?:{STEP}) ?{SECOND}", bare):
        return "steps_per_s"
    if re.search(r"throughput", bare) and not re.search(r"\btime\b", bare) and _is_rate(bare):
        return "throughput"
    if re.search(RATED, bare.partition(" (")[0]) and _is_rate(bare):  # tokens/s (training time of 1T tokens)
        return "throughput"
    if (time := time_of(bare)) and not re.search(
        r"memory|util|cost(?! ?time)(?<!time cost)(?! ?\()|overhead|wait|ideal|increase|saved|"
        r"expected|projected|extrapolated|predicted|estimated",
        bare,
    ):
        return time
    if nodes := nodes_of(bare):
        return nodes
    if _is_rate(bare) or re.fullmatch(rf"per[- ]{DEVICE}", bare):
        return "throughput"
    timed = re.search(rf"[(\[]{TIME_UNIT}[)\]]$", bare)
    if re.search(OF_A_BATCH, bare) and not NEVER.search(bare) and not timed:
        return batch_of(bare)
    return "gpus" if is_of_devices(text, bare) and not timed else "ignore"  # GPU total (s)


def _label(text: str) -> str:
    for role, pattern in LABELS:
        if re.fullmatch(rf"(?:{pattern})\W*(?:\([^)/]*\))?", text):
            return role
    return ""


def _is_rate(bare: str) -> bool:
    if re.search(r"\b(?:ideal|expected|linear|theor\w*|target)\b", bare):
        return False
    if _RATE.search(bare):
        return not re.search(r"memory|cost|expected|ideal|disk|network|latency", bare)
    if re.search(RATED, bare):
        return True
    if re.search(TIMED, bare) or OF_A_PART.search(_IN_STEP.sub("", bare)):
        return False
    bare = re.sub(r"\bmax ?/ ?min\b", "", bare)
    other = re.search(
        r"\b[a-z][a-z ]*(?: ?/ ?| per )(?:(?:cpu|wall) )?(?:s|sec|seconds?|min|minute|h|hr|hour|day)\b", bare
    )
    if other and not NEVER.search(bare) and not re.search(r"\b(?:[kmgt]i?)?(?:b|bits?|bytes?)(?:/| per )", bare):
        return True
    return bool(
        re.match(r"number of (?:mels|samples|tokens|frames|words|images|sequences|sentences)\b", bare)
        or re.match(
            r"(?:total |aggregated? |overall )?(?:mega|giga|tera|peta|exa|[mgtpe])?flops?\b"
            rf"(?! ?(?:util|%)|(?: ?/| per) ?{WORK})",
            bare,
        )
    )
