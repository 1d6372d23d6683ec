"""Units in headers: of times, of rates, and the words that remain."""

from __future__ import annotations

import re

from scalestudy.importers.headers.terms import DEVICE, PERIODS, SECOND, STEP, TIMED, UNIT_OF_TIME, WORK

_OF_DATA = re.compile(r"\b(?:[kmgt]i?)?(?:b|bits?|bytes?)(?:/| ?per )s(?:ec|econd)?\b|\b[kmgt]bps\b")
"""Units of a rate of data: GB/s is no time in seconds."""
_PER_SIMULATED = re.compile(
    r"\b(s|secs?|seconds|min|minutes|h|hours?|days?) ?(?:/|per) ?(?:1 )?(?:[munp]s|(?:nano|pico|micro)seconds?)\b"
)
"""The time by the clock for a time that is simulated: days per nanosecond."""
_OF_STEPS = r"(?P<count>\d[\d,]{0,9}) ?(?P<factor>k?|m?) ?(?:steps|it(?:er(?:ation)?)?s?|batches|updates)\b"
"""A number of steps: 100 iters, 1k steps."""
_STEPS = re.compile(rf"(?:^|\(|, ?|\bfor |\bof |\bper |\bover |\bin |\bacross |/ ?){_OF_STEPS}")
OF_SEVERAL_STEPS = re.compile(
    rf"\b(?:ms|s|secs?|seconds?|min(?:ute)?s?|h|hours?|days|time) ?(?:/|\bper\b) ?{_OF_STEPS}|"
    r"^\d[\d,]{0,9} ?[km]? ?(?:steps|iter(?:ation)?s|batches|updates),? ?[(\[](?:ms|s|secs?|seconds?|min)[)\]]"
)
"""Headers of the time of several steps: s / 100 iters, 1000 steps (s)."""
_OF_ONE = re.compile(
    r"\b(?:step|iter(?:ation)?) ?time|(?:\bper|/) ?(?:step|iter(?:ation)?)\b|\b(?:mean|avg|average|median)\b"
)
"""Words of a time of one step, which several others are the mean of."""


_PER_SECOND = re.compile(
    rf"\b(?P<work>{WORK}|{STEP}) ?[(\[] ?"
    r"(?:1? ?/ ?(?:s|secs?|seconds?)|s ?(?:\^? ?\(?-1\)?|\u207b))(?P<device>/[a-z]+)?[)\]]"
)
"""Work with its unit as that of a number: samples (1/s), images (/sec), tokens (s^-1)."""
_WORK_S = re.compile(
    r"(?<!per )(?<!/)\b(im(?:a)?ge?s?|samples?|tok(?:en)?s?|seqs?|examples?|frames?|sentences?) s(?:ec)?$"
)
"""Names of rates in programs: img_s, tokens_sec."""
_DONE = re.compile(rf"\b(?P<work>{WORK}) [a-z]+ed (?P<per>per s(?:ec|econd)?)\b")
"""Work per second in words: images processed per second."""
_SIMULATED = re.compile(r"\b(?:ns|us|ps|fs)(?:/| per )day\b|\bs[yd]pd\b")
"""Simulated time over time: ns/day, simulated years per day."""
_COUNTED = "tok|im|sam|seq|read|row|rec|event|mess|edge|point|quer|req|frame|doc"
"""How the names of work begin that a factor may be in front of: k tokens/s."""
_FACTORS = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "g": 1e9, "b": 1e9, "billion": 1e9}
_FACTOR_BEHIND = re.compile(
    rf"[(\[] ?(?:in )?(?P<end>{'|'.join(_FACTORS)})s? ?[)\]]$|[(\[]in (?P<any>thousand|million|billion)s?[)\]]"
)
"""A factor behind the unit, tokens/day (B), or one in words anywhere: throughput (in thousands), tokens/s."""

_FACTOR_ALONE = re.compile(r"[(\[] ?(?:in )?(?:(k|thousand|million)s?|x ?1,?000) ?[)\]]$")
"""A factor alone in brackets at the end of a header: ViT (k)."""


_RATE_SHOWN = re.compile(
    r"(?P<unit>\b[a-z][\w.]{0,10} ?(?:/ ?|\bper )(?:s|sec|seconds?|min|minutes?|h|hr|hours?|days?)\b)|"
    r"\b(?P<name>[kmgt]?(?:flops|[lc]?ups|teps|bps)|[fiqrwtnsp]ps)\b",
    re.IGNORECASE,
)
"""The unit of a rate, or a name that has it: jetons/s, words per second, MLUPS."""
_SCALED = re.compile(
    r"(?:^|[\s(\[])(?:in )?(?:k|m|b|thousands?|millions?|billions?|10\^\{?\d|1e\d|1,?000)(?:[\s)\]}]|$)",
    re.IGNORECASE,
)
"""A factor of the numbers of a header, without which its unit would be wrong."""


def rate_shown(header: str) -> str:
    """Return the unit of a rate in the letters of its header: FPS, Mop/s; '' without one."""
    found = None if _SCALED.search(header) else _RATE_SHOWN.search(header)
    return re.sub(r" ?(?:/ ?|per )", "/", found[0]) if found else ""


def in_its_unit(text: str) -> str:
    """Return a header with its unit in the usual form: wall time (s) for wall time / s, tok/s/GPU, samples/s."""
    text = _PER_SECOND.sub(lambda found: f"{found['work']}/s{found['device'] or ''}", text)
    text = _WORK_S.sub(r"\1/s", text)
    text = re.sub(r"^(\d+ ep[a-z]{3,4}s) ?/ ?s$", r"time of \1 (s)", text)
    text = _DONE.sub(r"\g<work> \g<per>", text)
    text = re.sub(rf"/ ?\(s ?[\u00b7*. ] ?({DEVICE})\)", r"/s/\1", text)
    return re.sub(r"(?<=[a-z\d)]) ?/ ?([mnu]?s|min|h)$", r" (\1)", text) if re.search(TIMED, text) else text


def unit_part(bare: str) -> str:
    """Return the part of a header that has a unit: in brackets, after a comma or a slash; else all of it."""
    bare = _PER_SIMULATED.sub(r"\1", _OF_DATA.sub("", bare))
    inside = " ".join(re.findall(r"[(\[]([^)\]]*)[)\]]", bare))
    return inside if any(re.search(pattern, inside) for pattern in UNIT_OF_TIME.values()) else bare


def unit_of_work(bare: str) -> tuple[str, float]:
    """Return the unit of a rate, such as tokens/s, and what a header multiplies its numbers by."""
    bare = re.sub(rf"/{DEVICE}(?=/)", "", bare)  # tokens/GPU/s
    times = rf"(?P<period>{SECOND})"
    factors = rf"[kmg](?= ?(?:{_COUNTED}))|(?:thousand|million|billion)(?=s?(?: of)? )"
    found = re.search(rf"\b(?:(?P<factor>{factors})(?:s|s? of)?)? ?(?P<work>{WORK}|{STEP}) ?{times}", bare)
    if found is None:
        tokens = "tok/s" if re.search(r"\btgs\b", bare) else "TPS" if re.search(r"\btps\b", bare) else ""
        if simulated := _SIMULATED.search(bare):
            return simulated[0].replace(" per ", "/"), 1.0
        flops = re.search(r"(?:\b([kmgtpe])(?:iga|era|eta|ega|xa)?)?-?\w?flop", bare)
        return (f"{flops[1] or ''}flop/s" if flops else tokens), 1.0
    behind = _FACTOR_BEHIND.search(bare)
    factor = _FACTORS.get(found["factor"] or (behind["end"] or behind["any"] if behind else ""), 1.0)
    period = re.sub(r"^(?:/|per|p) ?", "", found["period"])
    return f"{found['work']}/s", factor / next((s for name, s in PERIODS.items() if period.startswith(name)), 1.0)


def factor_alone(bare: str) -> float:
    """Return the factor that a header has in brackets without a unit, as in `ViT (k)`; 1 without one."""
    found = _FACTOR_ALONE.search(bare)
    return _FACTORS[found[1] or "k"] if found else 1.0


def is_of_a_simulation(unit: str, header: str) -> bool:
    """Return whether a rate is that of one simulation as a whole, whatever its size, and not one per replica."""
    return bool(_SIMULATED.fullmatch(unit)) and not re.search(r"\bper[ -](?!day|year)", header.lower())


def is_of_flops(unit: str) -> bool:
    """Return whether a rate is of floating-point operations."""
    return "flop" in unit


def is_of_parts(unit: str) -> bool:
    """Return whether a rate is of tokens or other parts, of which each sample may have another number."""
    return unit.startswith(("tok", "TPS", "word", "frame", "point", "patch"))


def rest_of(bare: str) -> str:
    """Return the words of a header that are no part of its role."""
    words = r"throughput|speed ?-?ups?|(?:weak|strong) scaling|scaling|efficiency|multi-gpu|training|train|time|"
    words += rf"{DEVICE}|per|{WORK}|{STEP}|ms|secs?|seconds?|s|min|hours?|hrs?|size|total|global|with|of|used|"
    words += r"average|avg|speed|eff|parallel"
    return " ".join(re.sub(rf"(?<!\+)\b(?:{words})\b\.?|[^\w.+]+", " ", bare).split())


def share_of_a_step(header: str) -> float:
    """Return the share that one step has of the time of several: 0.05 for `wall (20 steps)`; 1 for that of one."""
    found = None if _OF_ONE.search(header) else _STEPS.search(header)
    if found is None:
        return 1.0
    return 1 / max(int(found["count"].replace(",", "")) * _FACTORS.get(found["factor"], 1), 1)


def clock_of(header: str) -> str:
    """Return the form of a time that a header names, `hh:mm` or `mm:ss`, in lower case; '' without one."""
    found = re.search(r"\bh{1,2}:m{1,2}(?::s{1,2})?\b|\bm{1,2}:s{1,2}\b", header.lower())
    return found[0] if found else ""
