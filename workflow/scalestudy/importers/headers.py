"""Says what a column of a scaling table is, from its header, as people write headers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from scalestudy.importers.cells import plain

ROLES = (
    *("gpus", "nodes", "gpus_per_node", "batch_per_gpu", "global_batch", "batch", "accumulation"),
    *("throughput", "throughput_per_gpu", "steps_per_s", "step_time_ms", "step_time_s", "total_time_s", "time_s"),
    *("printed_speedup", "printed_efficiency", "scaling_ratio", "precision_ratio"),
    *("throughput_unit", "scaling", "case", "strategy", "model", "hardware", "framework", "precision", "label"),
    "ignore",
)
"""What a column can be. `--column HEADER=ROLE` takes these names."""
TEXTS = ("throughput_unit", "scaling", "case", "strategy", "model", "hardware", "framework", "precision", "label")
"""Roles whose cells are words."""

_DEVICE = (
    r"(?:gpus?|devices?|ranks?|accelerators?|cards?|tpus?|npus?|gcds?|chips?|hpus?|workers?|process(?:es)?|procs?)"
)
_PER_DEVICE = re.compile(rf"(?:/|\bper\b|\beach\b|\bsingle\b)[ -]*{_DEVICE}\b|\bper-?{_DEVICE}\b|\blocal\b|/dev\b")
_PER_NODE = re.compile(r"(?:/|\bper\b)[ -]*(?:node|host|machine|server)s?\b")
_OF_ALL = re.compile(r"\b(?:global|total|effective|overall|aggregate[d]?|cluster|system|all)\b")
_COUNT = r"(?:#|no\.?|num(?:ber)?|n|nb|count|total|of|the|used|world|size|amount|qty|in|use|\W)*"
_SECOND = r"(?:/|\bper\b|p) ?(?:s|secs?|seconds?|min(?:ute)?s?|h|hr|hours?|day|ms)\b"
_WORK = (
    r"(?:im(?:a)?ge?s?|samples?|tok(?:en)?s?|seq(?:uence)?s?|sentences?|frames?|words?|items?|mels?|examples?|"
    r"quer(?:y|ies)|reqs?|requests?|utterances?|videos?|clips?|graphs?|molecules?|atoms?|volumes?|records?|"
    r"rows?|episodes?|ep|pairs?|patches?|points?|edges?|nodes?|t?flop/?s?|users?|messages?|"
    r"ops|docs?|tasks?|jobs?|env(?:ironment)? steps?)"
)
_STEP = (
    r"(?:(?:training |time ?|optimi[sz]er |update |micro-?)?"
    r"(?:steps?|it(?:er(?:ation)?)?s?|batch(?:es)?|updates?))"
)
_PRECISIONS = {
    "fp32": r"(?:fp|float)-?32|single precision",
    "tf32": r"tf-?32",
    "mixed": r"(?:auto(?:matic)? )?mixed[- ]precision|\bmixed\b|\btf-amp\b|\bamp\b",
    "fp16": r"(?:fp|float)-?16|half precision",
    "bf16": r"bf(?:loat)?-?16",
    "fp8": r"fp-?8",
    "fp64": r"(?:fp|float)-?64",
}
_UNIT_OF_TIME = {"ms": r"\b(?:ms|msec|milliseconds?)\b", "us": r"\b(?:us|microseconds?)\b"} | {
    "min": r"\bm(?:in(?:ute)?s?)?\b",
    "h": r"\b(?:h|hrs?|hours?)\b",
    "d": r"\bdays?\b",
    "s": r"\b(?:s|secs?|seconds?)\b",
}
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_PERIODS = {"ms": 1e-3, "mi": 60.0, "h": 3600.0, "d": 86400.0}
"""Beginning of the name of a time that work is counted in -> seconds, where it is not a second."""
_NEVER = re.compile(
    r"memory|\bmem\b|vram|util|power|watt|cost|price|\$|accuracy|\bacc\b|loss|perplexity|bleu|map\b|score|"
    r"temperature|overhead|gpu[- ]?hours|energy|bandwidth|latency|\bmfu\b|\bhfu\b|error|std|deviation|expected|"
    r"target|ideal|param|"
    r"epochs?$|\btop-?[15]\b|\bdice\b|\bmiou\b|learning|\blr\b|notes?\b|remark|comment|link|script|command|status"
)
_EFFICIENCY = r"efficien|\beff\b|(% of|to) (linear|ideal)"
_OTHER_RATIO = re.compile(
    r"energy|memory|power|mfu|flop|\b(?:loss|laws?|(?<!of )(?<!to )ideal|(?<!of )linear$|expected|factor of)\b|"
    r"\btarget\b|\b(?:amdahl|gustafson|theor\w*)\b"
)
"""Ratios that are not measured, or not of the time of a training."""
_OF_A_PRECISION = re.compile(
    r"\b(?:with|from|of|over|vs\.?|versus|due to|by|to) (?:mixed|amp|fp|tf|bf)|^mixed precision"
)
_SCALING = re.compile(r"\bscal(?:ing|e|ability)\b(?! factor)")
_SPEEDUP = re.compile(
    r"speed ?-?ups?\b|acceleration|faster|^(?:vs\.?|over) (?:single|one|1)\b|"
    r"\brelative (?:performance|throughput|speed)\b|\bgain\b"
)
_LABELS = (
    ("case", r"case|series|experiment|exp"),
    (
        "strategy",
        r"strategy|parallelism|parallelization|method|distribution|ddp|zero(?: stage)?|algorithm",
    ),
    ("framework", r"framework|library|implementation|engine|software|backend|version|codebase"),
    (
        "hardware",
        r"hardware|(?:gpu|device|accelerator)(?: ?(?:type|model|name|arch(?:itecture)?))?|machine|system|platform|"
        r"instance(?: type)?|server|cluster",
    ),
    ("model", r"model(?: ?(?:size|name|type))?|network|arch(?:itecture)?|backbone|workload|benchmark|task"),
    ("precision", r"precision|d ?type|data ?type|math|mixed precision|amp"),
    ("scaling", r"scaling(?: ?(?:type|mode|kind))?|kind of scaling"),
    ("throughput_unit", r"throughput ?unit|unit"),
    (
        "label",
        r"source|data ?set|seq(?:uence)? ?(?:len(?:gth)?)?|context(?: ?len(?:gth)?)?|max ?len|dimensions?|"
        r"resolution|(?:image|input|crop) ?size|config(?:uration)?|setup|settings?|optimi[sz]er|compiler?|xla|"
        r"dali|data ?loader|storage|"
        r"interconnect|topology|phase|stage|variant|fabric|dropout|tp|pp|dp|cp|ep|cuda graphs?|run|name|type",
    ),
)


@dataclass(frozen=True)
class Meaning:
    """What a column is. `role` is one of ROLES."""

    header: str
    role: str
    per: str = ""
    """'gpu' or 'all' for a batch or a throughput that says so."""
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


def normal(header: str) -> str:
    """Return a header in lower case, with underscores as spaces and signs as words."""
    text = re.sub(r"[_\s]+", " ", plain(header).lower().replace("#", " # ")).strip()
    text = re.sub(r"(?<=[a-z]) ?- ?(?=(?:fp|tf|bf)\d\d|mixed)", " - ", text)
    return re.sub(r"^(?:reported|published|printed|measured|claimed|avg\.?|average|mean|median)\b ?", "", text)


def meaning_of(header: str) -> Meaning:
    """Return what a header says that its column is; role `ignore` if nothing here knows it."""
    text = normal(header)
    precisions = _precisions(text)
    bare = text
    for pattern in _PRECISIONS.values():
        bare = re.sub(pattern, " ", bare)
    role = _role(text, bare, precisions)
    scaling = next((kind for kind in ("weak", "strong") if re.search(rf"\b{kind}\b", text)), "")
    per = "gpu" if _PER_DEVICE.search(bare) else "all" if _OF_ALL.search(bare) else ""
    unit, factor = "", 1.0
    if role in ("step_time_s", "total_time_s", "time_s"):
        unit = next((name for name, pattern in _UNIT_OF_TIME.items() if re.search(pattern, _units_of(bare))), "")
    elif role in ("throughput", "steps_per_s"):
        unit, factor = _unit_of_work(bare)
    if role == "throughput" and per == "gpu":
        role = "throughput_per_gpu"
    return Meaning(header, role, per, unit, factor, precisions, scaling if role != "scaling" else "", _rest(bare))


def never_a_label(header: str) -> bool:
    """Return whether a header is of a result beside the scaling, such as memory, accuracy or cost."""
    return bool(_NEVER.search(normal(header)))


def in_brackets(meaning: Meaning) -> Meaning:
    """Return a column as a time if its header ends in a unit of time in brackets: NCCL (ms)."""
    unit = re.search(r"[(\[] ?(us|ms|s|secs?|seconds?|min(?:utes)?|h|hrs?|hours?) ?[)\]]$", normal(meaning.header))
    if unit is None:
        return meaning
    name = next(name for name, pattern in _UNIT_OF_TIME.items() if re.search(pattern, unit[1]))
    return replace(meaning, role="time_s", unit=name)


def _precisions(text: str) -> tuple[str, ...]:
    places = [
        (found.start(), name) for name, pattern in _PRECISIONS.items() if (found := re.search(pattern, text))
    ]
    return tuple(name for _, name in sorted(places))


def _role(text: str, bare: str, precisions: tuple[str, ...]) -> str:
    """The role, from the most particular words to the least."""
    exact = text.replace(" ", "_")
    if exact in ROLES and exact not in ("scaling", "batch", "label", "time_s"):
        return exact
    if label := _label(text):
        return label
    if re.search(r"accum|update ?freq|\bgas\b|grad\w* steps", bare):
        return "accumulation"
    if _SPEEDUP.search(bare) or _SCALING.search(bare) or re.search(_EFFICIENCY, bare):
        return _ratio(text, bare, precisions)
    if re.search(rf"^(?:{_STEP}) ?{_SECOND}", bare):
        return "steps_per_s"
    if (time := _time(bare)) and not re.search(r"memory|util|cost|overhead|expected", bare):
        return time
    if re.fullmatch(rf"{_COUNT}{_DEVICE}(?: ?(?:per|/|-| )+ ?(?:node|host|machine|server)s?)", bare):
        return "gpus_per_node"
    if re.fullmatch(rf"{_COUNT}(?:compute )?(?:nodes?|hosts?|machines?|servers?|instances?){_COUNT}", bare):
        return "nodes"
    if _is_rate(bare):
        return "throughput"
    if re.search(r"batch|\bm?bs\b|\bgbs\b", bare) and not _NEVER.search(bare):
        return _batch(bare)
    of_kind = r"(?:[a-z]{1,3}\d{2,4}s? ?|nvidia ?|amd ?|cuda ?|tesla ?|compute ?|data ?-?parallel ?)*"
    device = rf"{_COUNT}{of_kind}{_DEVICE}(?: ?(?:num|count|number|cards?|used|s\b|\W))*"
    if re.fullmatch(device, bare) or bare in ("world size", "n", "# gpu", "ngpu", "ngpus", "nproc", "np"):
        return "gpus"
    if re.fullmatch(rf"{_COUNT}{_DEVICE} ?/ ?.{{0,30}}|nodes? ?[x*] ?{_DEVICE}", bare) and not _NEVER.search(bare):
        return "gpus"
    return "ignore"


def _label(text: str) -> str:
    for role, pattern in _LABELS:
        if re.fullmatch(rf"(?:{pattern})\W*(?:\([^)/]*\))?", text):
            return role
    return ""


def _ratio(text: str, bare: str, precisions: tuple[str, ...]) -> str:
    """A column of ratios: efficiency, speedup over devices, or speedup of a precision over another."""
    if _OTHER_RATIO.search(bare):
        return "ignore"
    if re.search(_EFFICIENCY, bare):
        return "printed_efficiency"
    scaling = _SCALING.search(bare)
    if not scaling and (len(precisions) > 1 or (precisions and _OF_A_PRECISION.search(text))):
        return "precision_ratio"
    return "printed_speedup" if _SPEEDUP.search(bare) else "scaling_ratio"


def _time(bare: str) -> str:
    """step_time_s, total_time_s or time_s if the header is of a time."""
    if re.search(rf"{_SECOND.replace('p)', 'x)')}", bare) and not re.search(r"\btime\b", bare):
        return ""
    timed = re.search(r"\btim(?:e|ing)\b|duration|elapsed|wall-?clock|runtime|\btime-delta\b", bare)
    inverse = re.search(
        rf"\b(?:ms|msecs?|s|secs?|seconds?|min(?:ute)?s?)\W*(?:/|\bper\b) ?(?:training )?{_STEP}", bare
    )
    in_units = re.fullmatch(rf"{_STEP}[, (\[]+(?:us|milliseconds?|ms|msecs?|s|secs?|seconds)[)\]]?", bare)
    if inverse or in_units or (timed and re.search(rf"\b{_STEP}\b", bare) and not re.search(r"time[- ]to", bare)):
        return "step_time_s"
    hours = re.search(r"\b(?:s|secs?|seconds?|min(?:ute)?s?|hours?|hrs?|h)\W*(?:/|\bper\b) ?epoch", bare)
    if hours or (
        timed and re.search(r"\b(epoch|total|train(?:ing)?|convergence|to|full|wall|run|elapsed|job)\b", bare)
    ):
        return "total_time_s"
    return (
        "time_s" if timed and not re.search(r"load|comm|compute|forward|backward|idle|first token", bare) else ""
    )


def _is_rate(bare: str) -> bool:
    if re.search(r"throughput|\b(?:training )?(?:speed|performance|perf)\b(?! ?up)", bare):
        return not re.search(r"memory|cost|expected|ideal|disk|network|latency", bare)
    if re.search(rf"\b[kmg]?{_WORK} ?{_SECOND}|\b[kmg]?{_WORK}/(?:s|sec)", bare) or bare in (
        "ips",
        "fps",
        "qps",
        "wps",
        "tps",
    ):
        return True
    other = re.search(r"\b[a-z][a-z ]*(?:/| per )(?:s|sec|seconds?|min|minute|h|hr|hour)\b", bare)
    if other and not _NEVER.search(bare) and not re.search(r"\b(?:[kmgt]i?)?(?:b|bits?|bytes?)(?:/| per )", bare):
        return True
    return bool(re.match(rf"number of {_WORK}\b", bare) or re.match(r"[tp]?flops\b|[tp]flop/s", bare))


def _batch(bare: str) -> str:
    if _PER_DEVICE.search(bare) or re.search(r"micro|\bmbs\b|local", bare):
        return "batch_per_gpu"
    return "global_batch" if _OF_ALL.search(bare) or re.search(r"\bgbs\b", bare) else "batch"


def _units_of(bare: str) -> str:
    """The part of a header that has a unit: in brackets, after a comma or a slash; else all of it."""
    inside = re.findall(r"[(\[]([^)\]]*)[)\]]", bare)
    return " ".join(inside) or bare


def _unit_of_work(bare: str) -> tuple[str, float]:
    bare = re.sub(rf"/{_DEVICE}(?=/)", "", bare)  # tokens/GPU/s
    times = rf"(?P<period>{_SECOND})"
    found = re.search(rf"\b(?P<factor>[kmg](?= ?(?:tok|im|sam|seq)))? ?(?P<work>{_WORK}|{_STEP}) ?{times}", bare)
    if found is None:
        tokens = "tok/s" if re.search(r"\btps\b", bare) else ""
        return ("flop/s" if re.search(r"flop", bare) else tokens), 1.0
    factor = {"k": 1e3, "m": 1e6, "g": 1e9}.get(found["factor"] or "", 1.0)
    period = re.sub(r"^(?:/|per|p) ?", "", found["period"])
    return f"{found['work']}/s", factor / next((s for name, s in _PERIODS.items() if period.startswith(name)), 1.0)


def _rest(bare: str) -> str:
    """Words that are no part of the role."""
    words = r"throughput|speed ?-?ups?|(?:weak|strong) scaling|scaling|efficiency|multi-gpu|training|train|time|"
    words += rf"{_DEVICE}|per|{_WORK}|{_STEP}|ms|secs?|seconds?|s|min|hours?|hrs?|size|total|global|with|of|used|"
    words += r"average|avg|speed"
    return " ".join(re.sub(rf"\b(?:{words})\b|[^\w.+]+", " ", bare).split())
